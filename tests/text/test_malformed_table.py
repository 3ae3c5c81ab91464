"""Two hundred more malformed inputs, in tables: each is one line that names the place, and exit code 2."""

from __future__ import annotations

import gzip
from importlib import import_module
from pathlib import Path

import pytest

from conftest import Cli
from corate import HMM
from shared import assert_one_line

ROW = b"%d\t%b\t_\t%b\t_\t_\t0\troot\t_\t_\n"  # of CoNLL-U
GOOD = ROW % (1, b"a", b"X")

# The content of a labelled file, and what is said of it behind its name.
CONLL: list[tuple[bytes, str]] = [
    (b"a\tX\nb\tY\tZ\n", ":2: 3 columns where the first row has 2"),
    (b"a\tX\n\nb\n", ":3: 1 column where the first row has 2"),
    (b"a\tX\n\n\n\nb\tY\tZ\n", ":5: 3 columns"),
    (b"a X\nb\tY\n", ":2: a tab in a file whose columns are separated by blanks"),
    (b"a\tX\nb Y\n", ":2: 1 column"),
    (b"a X Y\nb X\n", ":2: 2 columns where the first row has 3"),
    (b"a\tX\n \tY\n", ":2: empty word"),
    (b"a\tX\nb\t \n", ":2: empty label"),
    (b"a\tX\r\nb\r\n", ":2: 1 column"),
    (b"a\tX\rb\tY\n", ":1: a carriage return inside a line"),
    (b"a\tX\n# c\n", ":2: 1 column"),
    (b"\n\n\na\n", ":4: no label"),
    (b"# c\n-DOCSTART-\n\na\n", ":4: no label"),
    (b"\xef\xbb\xbfa\n", ":1: no label"),
    (b"a\tX\n\xffb\tY\n", ":2: byte 0xff is not utf-8"),
    (b"a\tX\nb\xc3\tY\n", ":2: byte 0xc3 is not utf-8"),
    (b"a\tX\n\xed\xa0\x80\tY\n", ":2: byte 0xed is not utf-8"),
    (b"a\tX\n\xc0\x80\tY\n", ":2: byte 0xc0 is not utf-8"),
    (b"a\tX\n\0\tY\n", ":2: NUL"),
    (b"a\tX\n\nb\tY\0\n", ":3: NUL"),
    (b"PK\x03\x04rest", ": a corate model, or another zip archive"),
    (b"-DOCSTART-\tO\n", ": no sentence"),
    (b"#\n#\n\n#\n", ": no sentence"),
    (b"\r\n\r\n", ": no sentence"),
    (b" \n\t\n", ": no sentence"),
    (b"a\t_\n", " "),
]
CONLLU: list[tuple[bytes, str]] = [
    (b"1\ta\n\n", ":1: 2 tab-separated fields instead of 10"),
    (GOOD + b"2\tb\t_\tX\n", ":2: 4 tab-separated fields"),
    (GOOD[:-1] + b"\tmore\n", ":1: 11 tab-separated fields"),
    (GOOD.replace(b"\t", b" "), ":1: 1 tab-separated fields"),
    (ROW % (0, b"a", b"X"), ":1: ID '0' where 1 should follow"),
    (GOOD + GOOD, ":2: ID '1' where 2 should follow"),
    (GOOD + ROW % (3, b"b", b"X"), ":2: ID '3' where 2 should follow"),
    (GOOD.replace(b"1", b"one", 1), ":1: bad ID 'one'"),
    (GOOD.replace(b"1", b"", 1), ":1: bad ID ''"),
    (GOOD.replace(b"1", b"-1", 1), ":1: bad ID '-1'"),
    (GOOD.replace(b"1", b"1.", 1), ":1: bad ID '1.'"),
    (GOOD.replace(b"1", b"2-", 1), ":1: bad ID '2-'"),
    (GOOD.replace(b"1", b" 1", 1), ":1: bad ID ' 1'"),
    (GOOD.replace(b"1", b"01", 1), ":1: ID '01' where 1 should follow"),
    (ROW % (1, b"", b"X"), ":1: empty FORM"),
    (ROW % (1, b"a", b""), ":1: no label: UPOS of 'a' is ''"),
    (GOOD + ROW % (2, b"b", b"_"), ":2: no label: UPOS of 'b' is '_'"),
    (b"# text = a\n" + ROW % (1, b"a", b"_"), ":2: no label"),
    (GOOD + b"\n" + ROW % (2, b"b", b"X"), ":3: ID '2' where 1 should follow"),
    (b"1-2\tab\t_\t_\t_\t_\t_\t_\t_\t_\n\n", ": no sentence"),
    (b"# only\n\n# comments\n", ": no sentence"),
    (GOOD.replace(b"a", b"a\r", 1), ":1: a carriage return inside a line"),
    (GOOD.replace(b"a", b"\0", 1), ":1: NUL"),
    (GOOD.replace(b"a", b"\xe4", 1), ":1: byte 0xe4"),
    (b"a\n", ":1: 1 tab-separated fields"),
]
JSONL: list[tuple[bytes, str]] = [
    (b"{\n", ":1: invalid JSON"),
    (b"}\n", ":1: invalid JSON"),
    (b"null\n", ":1: not a JSON object: null"),
    (b"7\n", ":1: not a JSON object: 7"),
    (b'"a"\n', ":1: not a JSON object"),
    (b"[]\n", ":1: not a JSON object: []"),
    (b"{}\n", ':1: no key "tokens" in the object (its keys: none)'),
    (b'{"Tokens": ["a"]}\n', ':1: no key "tokens" in the object (its keys: "Tokens")'),
    (b'{"tokens": "a", "labels": ["X"]}\n', ':1: the value of "tokens" is "a"'),
    (b'{"tokens": null, "labels": ["X"]}\n', ':1: the value of "tokens" is null'),
    (b'{"tokens": {"a": 1}, "labels": ["X"]}\n', ':1: the value of "tokens" is {"a": 1}'),
    (b'{"tokens": ["a"], "labels": "X"}\n', ':1: the value of "labels" is "X"'),
    (b'{"tokens": ["a"], "labels": null}\n', ':1: the value of "labels" is null'),
    (b'{"tokens": ["a"], "labels": {}}\n', ':1: the value of "labels" is {}'),
    (b'{"tokens": ["a"], "labels": []}\n', ":1: 1 tokens and 0 labels"),
    (b'{"tokens": [], "labels": ["X"]}\n', ":1: 0 tokens and 1 labels"),
    (b'{"tokens": ["a"], "labels": [""]}\n', ':1: label 1 is ""'),
    (b'{"tokens": ["a"], "labels": [true]}\n', ":1: label 1 is true"),
    (b'{"tokens": ["a"], "labels": [["X"]]}\n', ':1: label 1 is ["X"]'),
    (b'{"tokens": ["a"], "labels": [0]}\n', ":1: label 1 is 0"),
    (b'{"tokens": [""], "labels": ["X"]}\n', ":1: the word of token 1 is empty"),
    (b'{"tokens": ["a", null], "labels": ["X", "Y"]}\n', ":1: token 2 is null"),
    (b'{"tokens": ["a", 1.5], "labels": ["X", "Y"]}\n', ":1: token 2 is 1.5"),
    (b'{"tokens": [[]], "labels": ["X"]}\n', ":1: token 1 is []"),
    (b'{"tokens": [["a", 1]], "labels": ["X"]}\n', ':1: token 1 is ["a", 1]'),
    (b'{"tokens": [["", "N"]], "labels": ["X"]}\n', ":1: the word of token 1 is empty"),
    (b'{"tokens": [["a", "N"], ["b"]], "labels": ["X", "Y"]}\n', ":1: token 2 has 1 columns"),
    (b'{"tokens": ["a", ["b", "N"]], "labels": ["X", "Y"]}\n', ":1: token 2 has 2 columns"),
    (b'{"tokens": [{"w": "a"}], "labels": ["X"]}\n', ":1: token 1 is"),
    (
        b'{"tokens": ["a"], "labels": ["X"]}\n\n{"tokens": [["a", "N"]], "labels": ["X"]}\n',
        ":3: tokens with 2",
    ),
    (b'{"tokens": ["a"], "labels": ["X"]}\nnonsense\n', ":2: invalid JSON"),
    (b'{"tokens": ["a"], "labels": ["X"]} x\n', ":1: invalid JSON: Extra data"),
    (
        b'{"tokens": ["a"], "labels": ["X"]}{"tokens": ["a"], "labels": ["X"]}\n',
        ":1: invalid JSON: Extra data",
    ),
    (b'{"tokens": ["a",], "labels": ["X"]}\n', ":1: invalid JSON"),
    (b"{'tokens': ['a'], 'labels': ['X']}\n", ":1: invalid JSON"),
    (b'{"tokens": ["a"], "labels": ["X"], "p": Infinity}\n', ":1: invalid JSON: Infinity is no JSON"),
    (b'{"tokens": ["a"], "labels": ["X"], "p": -Infinity}\n', ":1: invalid JSON: -Infinity is no JSON"),
    (b'{"tokens": ["a"], "labels": ["X"], "p": 1e999}\n', ":1: invalid JSON: the number 1e999 is too large"),
    (b'{"tokens": ["\\ud800"], "labels": ["X"]}\n', ":1: invalid JSON: half of a surrogate pair"),
    (b'{"tokens": ["a\\u0000"], "labels": ["X"]}\n', ":1: a token or a label has the NUL character"),
    (b'{"tokens": ["a"], "labels": ["\\u0000"]}\n', ":1: a token or a label has the NUL character"),
    (b'{"tokens": ["a\tb"], "labels": ["X"]}\n', ":1: invalid JSON: Invalid control character"),
    (b'{"tokens": ["\\x"], "labels": ["X"]}\n', ":1: invalid JSON: Invalid \\escape"),
    (b'{"tokens": ["a"], "labels": ["X"]\n', ":1: invalid JSON"),
    (b'{"a":' * 30_000 + b"\n", ":1: invalid JSON: nested too deeply"),
    (b'{"tokens": [], "labels": []}\n', ": no sentence"),
]
WORDTAG: list[tuple[bytes, str]] = [
    (b"a/X b\n", ":1: the token 'b' has no slash"),
    (b"a/X /Y\n", ":1: the token '/Y' has an empty word"),
    (b"a/X b/\n", ":1: the token 'b/' has an empty tag"),
    (b"a/X\n\n\tb\n", ":3: the token 'b' has no slash"),
    (b"a/X /\n", ":1: the token '/' has an empty"),
    (b"\n \n\t\n", ": no sentence"),
    (b"a/X\rb/Y\n", ":1: a carriage return inside a line"),
    (b"a/X \0/Y\n", ":1: NUL"),
    (b"a/X \xfc/Y\n", ":1: byte 0xfc"),
]
CRFSUITE: list[tuple[bytes, str]] = [
    (b"X\tw=a:2\n", ":1: 'w=a:2' has a weight other than 1"),
    (b"X\tw=a\nX\tw=b:0\n", ":2: 'w=b:0' has a weight other than 1"),
    (b"X\tw=a:x\n", ":1: 'w=a:x': no number behind the colon"),
    (b"X\tw=a:\n", ":1: 'w=a:': no number behind the colon"),
    (b"X\tw=a:1:1\n", ":1: 'w=a:1:1': no number behind the colon"),
    (b"X\tw=a:nan\n", ":1: 'w=a:nan': no number behind the colon"),
    (b"X\tw=a:1e9\n", ":1: 'w=a:1e9' has a weight other than 1"),
    (b"\tw=a\n", ":1: empty label"),
    (b"X\tw=a\n\n \tw=b\n", ":3: empty label"),
    (b"\n\n", ": no sentence"),
    (b"X\n", "no token has a feature"),
    (b"X\t=a\n", "a feature has an empty key"),
    (b"X\tw=\0\n", ":1: NUL"),
    (b"X\tw=\xe9\n", ":1: byte 0xe9"),
]
BY_FORMAT = {"conll": CONLL, "conllu": CONLLU, "jsonl": JSONL, "wordtag": WORDTAG, "crfsuite": CRFSUITE}
TEXTS = [(name, *each) for name, texts in BY_FORMAT.items() for each in texts]
# Other commands that read labelled text, in turn.
COMMANDS = (
    ("update", "{model}", "{text}"),
    ("eval", "-m", "{model}", "{text}"),
    ("forget", "{model}", "{text}"),
    ("correct", "{model}", "{text}", "{good}"),
    ("refit", "{model}", "{text}"),
    ("audit", "{text}"),
    ("convert", "{text}", "{out}", "--to", "jsonl"),
    ("eval", "--folds", "2", "{text}"),
)


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("small") / "m"
    HMM().fit([["a"], ["b"]], [["X"], ["Y"]]).save(path)
    return path


@pytest.mark.parametrize("number", range(len(TEXTS)))
def test_a_malformed_text_for_two_commands(cli: Cli, tmp_path: Path, small: Path, number: int) -> None:
    name, content, message = TEXTS[number]
    text, good, out = tmp_path / "text", tmp_path / "good.conll", tmp_path / "out"
    text.write_bytes(content)
    good.write_text("a\tX\n")
    before = small.read_bytes()
    expected = f"{text}{message}" if message.startswith(":") else message
    for command in (("train", "{text}", "-m", "{out}"), COMMANDS[number % len(COMMANDS)]):
        filled = [part.format(model=small, text=text, good=good, out=out) for part in command]
        assert_one_line(cli(*filled, "--format", name), expected)
    assert small.read_bytes() == before
    assert not out.exists()


def test_there_are_enough(cli: Cli) -> None:
    """Together with tests/text/test_malformed.py: three hundred."""
    test_malformed = import_module("test_malformed")
    others = len(test_malformed.TEXTS) + len(test_malformed.OPTIONS) + len(test_malformed.MODELS)
    assert others + len(TEXTS) + len(PACKED) + len(TEMPLATES) + len(OPTIONS) + len(TABLES) >= 300


PACKED: list[tuple[bytes, str]] = [
    (gzip.compress(b"a\tX\n" * 99, mtime=0)[:-1], ": truncated gzip file"),
    (gzip.compress(b"a\tX\n" * 99, mtime=0)[:15], ": truncated gzip file"),
    (gzip.compress(b"a\tX\n", mtime=0)[:-5] + b"\0\0\0\0\0", ": corrupt gzip file"),
    (gzip.compress(b"a\tX\n", mtime=0) + b"x", ": truncated gzip file"),
    (gzip.compress(b"a\n", mtime=0), ":1: no label"),
    (gzip.compress(b"", mtime=0), ": empty file"),
    (gzip.compress(b"a\t\xff\n", mtime=0), ":1: byte 0xff"),
    (b"\x1f\x8b", ": truncated gzip file"),
    (b"a\tX\n", ": not a gzip file"),
    (b"BZh9nonsense", ": not a gzip file"),
]


@pytest.mark.parametrize(("content", "message"), PACKED)
def test_malformed_gzip(cli: Cli, tmp_path: Path, small: Path, content: bytes, message: str) -> None:
    text = tmp_path / "a.conll.gz"
    text.write_bytes(content)
    assert_one_line(cli("train", text, "-m", tmp_path / "out"), f"{text}{message}")
    if b"\xff" not in content and "label" not in message and "empty" not in message:
        assert_one_line(cli("tag", "-m", small, text), f"{text}{message}")


TEMPLATES: list[tuple[str, str]] = [
    ("", ": no context"),
    ("# only\n", ": no context"),
    ("B\n", ": a template of labels alone"),
    ("word\nwrod\n", ":2: no view is called 'wrod'"),
    ("word,,suffix3\n", ":1: 'word,,suffix3' is no context"),
    ("word-\n", ":1: "),
    ("word-100\n", ":1: "),
    ("word+0\n", ":1: "),
    ("suffix0\n", ":1: "),
    ("suffix100\n", ":1: "),
    ("col0\n", ":1: "),
    ("col1000\n", ":1: "),
    ("col2:magic\n", ":1: no view is called 'magic'"),
    ("Word\n", ":1: "),
    ('"key\n', ":1: "),
    ('"a"+1\n', ":1: "),
    (",".join(["word"] * 17) + "\n", ":1: a context of 17 parts"),
    ("U00:%x[0,0]\nX01:%x[0,0]\n", ":2: 'X01:%x[0,0]' begins with neither U nor B nor *"),
    ("U00:%x[0]\n", ":1: '%x[0]' is not read"),
    ("U00:%x[0,a]\n", ":1: '%x[0,a]' is not read"),
    ("U00:%x[0,0\n", ":1: '%x[0,0' is not read"),
    ("U00:%y[0,0]\n", ":1: '%y[0,0]' is not read"),
    ("U00:%x[100,0]\n", ":1: %x[100,0] is out of reach"),
    ("U00:%x[0,999]\n", ":1: %x[0,999] is out of reach"),
    ("U00:%x[-1000,0]\n", ":1: %x[-1000,0] is out of reach"),
    ("U00:" + "x" * 20_001 + "%x[0,0]\n", ":1: a template of"),
    ("word^\n", " "),
    ("pair:\n", ":1: "),
]


@pytest.mark.parametrize(("lines", "message"), TEMPLATES)
def test_malformed_templates(cli: Cli, tmp_path: Path, lines: str, message: str) -> None:
    template, text = tmp_path / "template", tmp_path / "a.conll"
    template.write_text(lines)
    text.write_text("a\tX\n")
    expected = f"{template}{message}" if message.startswith(":") else message
    assert_one_line(cli("train", "--contexts", template, text, "-m", tmp_path / "m"), expected)


OPTIONS: list[tuple[str, str]] = [
    ("tag -m {model} --to nothing {good}", "'nothing' is not one of"),
    ("tag -m {model} --nbest x {good}", "'x' is not a valid integer range"),
    ("tag -m {model} --nbest 1000001 {good}", "is not in the range"),
    ("tag -m {model} --nbest -1 {good}", "is not in the range"),
    ("tag -m {model} --threads x {good}", "'x' is not a valid integer range"),
    ("tag -m {model} --encoding nothing {good}", "unknown encoding 'nothing'"),
    ("tag -m {model} --encoding hex {good}", "unknown encoding 'hex'"),
    ("tag -m {model} --label 0 {good}", "label column '0'"),
    ("tag -m {model} --label 3 {good}", "label column 3 is out of range"),
    ("tag -m {model} --label upos {good}", "label column 'upos'"),
    ("tag -m {model} --valid IOB3 {good}", "'IOB3' is not one of"),
    ("tag -m {model} --format text --label 2 {good}", "plain text has no labels"),
    ("tag -m {model} --format wordtag --label 2 {good}", "leave --label out"),
    ("tag -m {model} --to wordtag --marginals {good}", "no place for probabilities"),
    ("tag -m {model} --to wordtag --nbest 2 {good}", "no place for probabilities"),
    ("tag -m {model} --to crfsuite --all-marginals {good}", "no place for the probabilities of all labels"),
    ("tag -m {model} --skip-bad --tokenise --format jsonl {good}", "--tokenise is for plain text"),
    ("tag -m {model} --skip-bad --format text {good}", "--skip-bad is for JSON lines"),
    ("tag -m {model} --log {tmp} {good}", "the log cannot be written"),
    ("tag -m {model} {good} {good}", "unexpected extra argument"),
    ("tag {good}", "Missing option '-m'"),
    ("tag -m {good} {good}", "not a corate model file"),
    ("tag -m {tmp} {good}", "cannot be read"),
    ("eval {good}", "-m MODEL is missing, or --folds K"),
    ("eval --folds 1 {good}", "is not in the range"),
    ("eval --folds 2 --weights loose {good}", "'loose' is not one of"),
    ("eval -m {model} --weights fixed {good}", "--weights is for --folds"),
    ("eval -m {model} --folds 2 --against {model} {good}", "do not go together"),
    ("eval -m {model} --scheme IOB9 {good}", "'IOB9' is not one of"),
    ("eval -m {model} --errors -1 {good}", "is not in the range"),
    ("eval -m {model} --scheme IOB2 {good}", "label"),
    ("train {good}", "Missing option '-m'"),
    ("train {good} -m -", "a model is not written to standard output"),
    ("train {good} -m {tmp}", "is a directory"),
    ("train {good} -m {good}", "exists and is not a model"),
    ("train {good} -m {tmp}/" + "x" * 300, "File name too long"),
    ("train {good} -m {out} --c2 x --model crf", "'x' is not a valid float"),
    ("train {good} -m {out} --c2 nan --model crf", "c2=nan"),
    ("train {good} -m {out} --max-iterations 0 --model crf", "is not in the range"),
    ("train {good} -m {out} --tree --model hmm", "--tree and --model hmm do not go together"),
    ("train {good} -m {out} --context word --words-only", "do not go together"),
    ("train {good} -m {out} --context word^", " "),
    ("train {good} -m {out} --contexts {tmp}/none", "no such file"),
    ("train {good} {tmp}/none -m {out}", "no such file"),
    ("train {good} -m {out} --format text", "plain text has no labels"),
    ("update {model}", "Missing argument 'FILE...'"),
    ("update {good} {good}", "exists and is not a model"),
    ("update {model} {good} -o {tmp}", "is a directory"),
    ("forget {model} {other}", "were never learned"),
    ("forget {model} {good} --label 9", "label column 9 is out of range"),
    ("correct {model} {good}", "Missing argument 'NEW'"),
    ("correct {model} {other} {other}", "were never learned"),
    ("merge {model}", "Missing option '-o'"),
    ("merge {model} {good} -o {out}", "not a corate model file"),
    ("merge {model} {model} -o {out}", "are in the models before it"),
    ("prune {model} --below 1", "is not in the range"),
    ("refit {model} {good}", "no tagger"),
    ("diff {model}", "Missing argument"),
    ("inspect", "Missing argument 'MODEL'"),
    ("inspect {model} --top 0", "is not in the range"),
    ("explain -m {model}", "Missing argument 'SENTENCE'"),
    ("completion tcsh", "'tcsh' is not one of"),
    ("curve {good} --test {tmp}/none", "no such file"),
    ("audit {good} -m {good}", "not a corate model file"),
    ("convert {good} {out} --to pdf", "'pdf' is not one of"),
    ("network train {good}", "Missing option '-m'"),
    ("serve {good} --port 70000", " "),
    ("-v", "No such option"),
    ("tags", "No such command 'tags'"),
]


@pytest.mark.parametrize(("line", "message"), OPTIONS)
def test_malformed_commands(cli: Cli, tmp_path: Path, small: Path, line: str, message: str) -> None:
    good, other, out = tmp_path / "good.conll", tmp_path / "other.conll", tmp_path / "out"
    good.write_text("a\tX\n")
    other.write_text("c\tX\n")
    before = small.read_bytes()
    filled = [
        part.format(model=small, good=good, other=other, out=out, tmp=tmp_path) for part in line.split(" ")
    ]
    assert_one_line(cli(*filled), message)
    assert small.read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["good.conll", "other.conll"]


TABLES: list[tuple[bytes, str]] = [
    (b"", ": the table is empty"),
    (b"a,b\n", ": the table has no row"),
    (b"a,b\nx\n", ":2: 1 cells where the first line names 2 columns"),
    (b"a,b\nx,y,z\n", ":2: 3 cells where the first line names 2 columns"),
    (b"a,a\nx,y\n", ":1: two columns are called 'a'"),
    (b"a,b\nx,\xff\n", "0xff"),
    (b"a,b\nx,\0\n", "NUL"),
    (b'a,b\nx,"y\n', " "),
]


@pytest.mark.parametrize(("content", "message"), TABLES)
def test_malformed_tables(cli: Cli, tmp_path: Path, content: bytes, message: str) -> None:
    pytest.importorskip("networkx")
    table = tmp_path / "t.csv"
    table.write_bytes(content)
    result = cli("network", "train", table, "-m", tmp_path / "m")
    assert_one_line(result, f"{table}{message}" if message.startswith(":") else message)
    assert not (tmp_path / "m").exists()
