"""Formats, through their public face: what is read comes out again, and what is wrong is named."""

from __future__ import annotations

import gzip
import json
import os
import random
import re
import subprocess
import sys
from collections.abc import Callable, Iterable
from itertools import chain, pairwise
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corate.errors import InputError
from corate.text.corpus import Corpus
from corate.text.formats import Sentence, detect, open_format, open_lines, read, read_chunks, read_corpus
from corate.text.formats.quick_rows import PlainRows
from shared import by

Pairs = list[tuple[list[str], list[str]]]  # words and labels of each sentence
UD = "{}\t{}\t_\t{}\t_\t{}\t_\t_\t_\t_"
RANGE, EMPTY_NODE = UD.format("1-2", "ac", "_", "_"), UD.format("1.1", "e", "_", "_")

# U+00A0, U+0085, U+2028, vertical tab: white space for Python, text for us.
texts = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters=" \t\r\n\0"), min_size=1, max_size=5
)
words = (texts | st.sampled_from(["a\u2028b", "\x85", "\xa0", "\x0bx", "1/2"])).filter(
    lambda word: not word.startswith(("#", "{", "-DOCSTART-", "\ufeff"))
)
labels = st.sampled_from(["DET", "NOUN", "B-PER", "\xa0"])
tokens = st.lists(st.tuples(words, labels), min_size=1, max_size=4)
corpora = st.lists(
    tokens.map(lambda pairs: ([w for w, _ in pairs], [y for _, y in pairs])), max_size=4, min_size=1
)
gaps = st.sampled_from(["", "\n", " \t\n\n"])


def _conll(pairs: Pairs, gap: str) -> str:
    separator = "\t" if len(gap) % 2 else " "
    rows = [[f"{w}{separator}x{separator}{y}\n" for w, y in zip(ws, ys, strict=True)] for ws, ys in pairs]
    return gap + gap.join(f"-DOCSTART- O\n{gap}# a comment, of many cells\n{''.join(r)}\n" for r in rows)


def _conllu(pairs: Pairs, gap: str) -> str:
    text = gap
    for ws, ys in pairs:
        rows = [UD.format(i, w, y, "A=b") + "\n" for i, (w, y) in enumerate(zip(ws, ys, strict=True), 1)]
        text += f"# id\n{RANGE}\n{''.join(rows)}{EMPTY_NODE}\n\n"
    return text + gap


def _wordtag(pairs: Pairs, gap: str) -> str:
    lines = ["\t" + "  ".join(f"{w}/{y}" for w, y in zip(ws, ys, strict=True)) + " \n" for ws, ys in pairs]
    return gap + gap.join(lines) + gap


def _jsonl(pairs: Pairs, gap: str) -> str:
    return gap + gap.join(json.dumps({"id": 1, "labels": ys, "tokens": ws}) + "\n" for ws, ys in pairs)


COMPOSERS = {"conll": _conll, "conllu": _conllu, "wordtag": _wordtag, "jsonl": _jsonl}


def parse(name: str, text: str, label: str | None = None, labelled: bool = True) -> list[Sentence]:
    lines = text.removesuffix("\n").split("\n")
    return list(open_format(name, label, labelled=labelled).read(lines, "file"))


def pairs_of(read_sentences: list[Sentence]) -> Pairs:
    return [(s.words, s.labels or []) for s in read_sentences if len(s)]


@pytest.mark.parametrize("name", COMPOSERS)
@given(pairs=corpora, gap=gaps, crlf=st.booleans())
def test_files_are_understood_and_come_out_as_they_went_in(
    name: str, pairs: Pairs, gap: str, crlf: bool
) -> None:
    text = COMPOSERS[name](pairs, gap).replace("\n", "\r\n" if crlf else "\n")
    format_ = open_format(name)
    found = parse(name, text)
    assert pairs_of(found) == pairs
    assert "".join(map(format_.write, found)) == text
    unlabelled = parse(name, text, labelled=False)
    assert "".join(map(format_.write, unlabelled)) == text
    assert [s.words for s in unlabelled if len(s)] == [ws for ws, _ in pairs]


@given(data=st.lists(st.lists(words, max_size=4).map(" ".join), max_size=4))
def test_plain_text_keeps_its_lines(data: list[str]) -> None:
    text = "".join(f" {line}\r\n" for line in data)
    found = parse("text", text, labelled=False) if text else []
    assert [s.words for s in found] == [[w for w in line.split(" ") if w] for line in data]
    assert "".join(map(open_format("text", labelled=False).write, found)) == text


@pytest.mark.parametrize("target", COMPOSERS)
@pytest.mark.parametrize("name", COMPOSERS)
@settings(max_examples=30)
@given(pairs=corpora, gap=gaps)
def test_labels_read_back_from_every_format(name: str, target: str, pairs: Pairs, gap: str) -> None:
    """Sentences of each format, written with new labels in each format: in place, or converted."""
    found = [s for s in parse(name, COMPOSERS[name](pairs, gap), labelled=False) if len(s)]
    new = [[f"L{i}" for i in range(len(s))] for s in found]
    out = "".join(open_format(target).write(s, ys) for s, ys in zip(found, new, strict=True))
    label = "predicted" if target == "jsonl" else None
    assert pairs_of(parse(target, out, label)) == [(s.words, ys) for s, ys in zip(found, new, strict=True)]


WRITTEN = [  # format, input, label option, output with the labels X, Y, probabilities and a comment
    ("conll", "#\r\na\tb\r\nc\td\r\n", None, "#\r\n# why\r\na\tb\tX\t0.5000\r\nc\td\tY\t0.2500\r\n"),
    ("conll", "a  b\nc d", "1", "# why\na  b X 0.5000\nc d Y 0.2500\n"),
    (
        "conllu",
        f"# c\n{RANGE}\n{UD.format(1, 'a', 'D', 'A=b')}\n{UD.format(2, 'c', 'N', '_')}x\n\n",
        "feats:Number",
        f"# c\n# why\n{RANGE}\n1\ta\t_\tD\t_\tA=b|Number=X\t_\t_\t_\tProb=0.5000\n"
        "2\tc\t_\tN\t_\tNumber=Y\t_\t_\t_\t_x|Prob=0.2500\n\n",
    ),
    (
        "jsonl",
        '{"id": "é", "tokens": ["a", "c"], "tags": ["D", "N"]}',
        "tags",
        '{"id": "é", "tokens": ["a", "c"], "tags": ["D", "N"], "predicted": ["X", "Y"], '
        '"probabilities": [0.5, 0.25], "comment": "why"}\n',
    ),
    ("text", "a c\n", None, "# why\na\tX\t0.5000\nc\tY\t0.2500\n\n"),
]


@pytest.mark.parametrize(("name", "text", "label", "expected"), WRITTEN)
def test_labels_probabilities_and_comment_are_written(
    name: str, text: str, label: str | None, expected: str
) -> None:
    found = parse(name, text, label, labelled=name != "text")
    writer = open_format(name, label, labelled=name != "text")
    assert "".join(writer.write(s, ["X", "Y"], [0.5, 0.25], "why") for s in found) == expected


def test_features_are_set_in_order_and_removed() -> None:
    row = UD.format(1, "a", "_", "Case=Nom|Number=Sing|abbr=Yes")
    (sentence,) = parse("conllu", row, "feats:Number")
    assert sentence.labels == ["Sing"]
    writer = open_format("conllu", "feats:Number")
    assert "abbr=Yes|Case=Nom|Number=Dual\t" in writer.write(sentence, ["Dual"])
    assert "\tabbr=Yes|Case=Nom\t" in writer.write(sentence, ["-"])
    assert parse("conllu", writer.write(sentence, ["-"]), "feats:Number")[0].labels == ["-"]


def test_hash_rows_are_tokens_where_they_have_the_columns_of_the_file() -> None:
    (first, second) = parse("conll", "# note\n#\tSYM\n1\tNUM\n# 2\tX\n\n#tag\tY\n")
    assert (first.words, first.labels) == (["#", "1", "# 2"], ["SYM", "NUM", "X"])
    assert (second.words, second.line) == (["#tag"], 6)
    # A comment that would have as many cells as a token row loses its blank.
    (third,) = parse("conll", "a b", labelled=False)
    assert open_format("conll").write(third, ["X"], None, "is 1") == "#is 1\na b X\n"


PLAIN = ["a\tX", "b c\tY", "", ""]
UNUSUAL = ["# c", "#\tX", "-DOCSTART-\tO", "a b", "a", " ", "a\t", "\tX", "d\tX\r", "a\tX\tZ"]


@given(
    blocks=st.lists(
        st.lists(st.sampled_from(PLAIN) | st.sampled_from([*PLAIN, *UNUSUAL]), max_size=8), max_size=4
    )
)
def test_runs_of_sentences_hold_what_sentences_hold(blocks: list[list[str]]) -> None:
    reader = open_format("conll")

    def told(read_parts: Callable[[], Iterable[Sentence | Corpus]]) -> object:
        try:
            parts = [
                p if isinstance(p, Corpus) else Corpus.from_sentences([p]) for p in read_parts() if len(p)
            ]
        except InputError as error:
            return str(error)
        return _told(Corpus.join(parts))

    lines = list(chain.from_iterable(blocks))
    assert told(lambda: reader.read_runs(blocks, "f")) == told(lambda: reader.read(lines, "f"))


@given(lines=st.lists(st.sampled_from(PLAIN) | st.sampled_from([*PLAIN, *UNUSUAL]) | texts, max_size=8))
def test_plain_rows_are_read_by_the_kernel_as_without_it(lines: list[str]) -> None:
    both = PlainRows(2, "\t", 1), by("numpy", PlainRows, 2, "\t", 1)
    for part in (["a\tX", ""], [*lines, ""], ["", "b\tX", ""]):
        native, plain = (rows.read(part) for rows in both)
        assert native == plain or not any(part)
    assert _told(both[0].take()) == _told(both[1].take())


def _told(corpus: Corpus) -> tuple[list[list[str]], list[str], list[int]]:
    assert corpus.labels is not None
    return [column.strings() for column in corpus.columns], corpus.labels.strings(), corpus.offsets.tolist()


def test_docstart_rows_end_a_sentence() -> None:
    text = "-DOCSTART- -X- O\n\na O\n-DOCSTART-\nb O\n"
    assert pairs_of(parse("conll", text)) == [(["a"], ["O"]), (["b"], ["O"])]


UNWRITABLE = [
    ("conll", Sentence([["a\nb"]], None), ["X"], "the value 'a\\nb' cannot be written in the format conll"),
    ("conll", parse("conll", "a b")[0], ["X Y"], "the label 'X Y' cannot be written in the format conll"),
    ("conllu", Sentence([["a"]], None), [""], "the label '' cannot be written in the format conllu"),
    ("wordtag", Sentence([["a"]], None), ["N/N"], "the label 'N/N' cannot be written in the format wordtag"),
    ("wordtag", Sentence([["a"]], None), None, "word/tag text needs labels"),
    ("jsonl", Sentence([["a"]], None), ["X", "Y"], "2 labels for 1 tokens"),
]


@pytest.mark.parametrize(("name", "sentence", "new", "message"), UNWRITABLE)
def test_what_would_read_back_differently_is_not_written(
    name: str, sentence: Sentence, new: list[str] | None, message: str
) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        open_format(name).write(sentence, new)


def test_wordtag_without_labels_cuts_off_what_is_a_tag() -> None:
    assert parse("wordtag", "1/2/cd http:// /x b", labelled=False)[0].words == ["1/2", "http://", "/x", "b"]


def test_wordtag_has_no_place_for_probabilities() -> None:
    with pytest.raises(ValueError, match="use --to conll or jsonl"):
        open_format("wordtag").write(parse("wordtag", "a/X")[0], ["Y"], [0.5])


# format, label option, content of the file, message after the file's name
MALFORMED: list[tuple[str, str | None, str | bytes, str]] = [
    ("conll", None, "a\tX\n\nb\n", ":3: 1 column where the first row has 2: 'b'"),
    ("conll", None, "a\tX\n# c\n", ":2: 1 column where the first row has 2: '# c'"),
    ("conll", None, "a X\nb\tX Y\n", ":2: a tab in a file whose columns are separated by blanks: 'b\\tX Y'"),
    ("conll", None, "# c\n\na\nb\n", ":3: no label: the row 'a' has one column only"),
    ("conll", None, "a\tX\nb\t\n", ":2: empty label in the row 'b\\t'"),
    ("conll", None, "a\tX\n\n \tX\n", ":3: empty word in the row ' \\tX'"),
    ("conll", "-3", "a X\n", ":1: label column -3 is out of range: the row 'a X' has 2 columns"),
    ("conll", None, "", ": empty file"),
    ("conll", None, "\n# c\n", ": no sentence: nothing to learn from"),
    ("conllu", None, "# c\n1\ta\n", ":2: 2 tab-separated fields instead of 10: '1\\ta'"),
    ("conllu", None, UD.format("x", "a", "X", "_"), ":1: bad ID 'x': expected 1, a range or an empty node"),
    ("conllu", None, "\n" + UD.format("2", "a", "X", "_"), ":2: ID '2' where 1 should follow"),
    ("conllu", None, UD.format("1", "", "X", "_"), ":1: empty FORM in the token with ID 1"),
    ("conllu", None, UD.format("1", "a", "_", "_"), ":1: no label: UPOS of 'a' is '_'"),
    ("conllu", "feats:A", UD.format("1", "a", "X", "B"), ":1: bad feature 'B': expected Name=Value"),
    ("wordtag", None, "a/X\n\nb c/X\n", ":3: the token 'b' has no slash: expected word/tag"),
    ("wordtag", None, "a/ b/X\n", ":1: the token 'a/' has an empty tag: expected word/tag"),
    ("wordtag", None, "/X\n", ":1: the token '/X' has an empty word: expected word/tag"),
    ("jsonl", None, '\n{"tokens": [1 2]}', ":2: invalid JSON: Expecting ',' delimiter (column 15)"),
    ("jsonl", None, "[" * 10**6, ":1: invalid JSON: nested too deeply"),
    ("jsonl", None, '{"tokens": ["\\ud800"], "labels": ["X"]}', ":1: invalid JSON: half of a surrogate pair"),
    ("jsonl", None, "[1]", ':1: not a JSON object: [1], expected {"tokens": […], …}'),
    ("jsonl", None, '{"tokens": ["a"]}', ':1: no key "labels" in the object (its keys: "tokens")'),
    ("jsonl", None, '{"tokens": "a"}', ':1: the value of "tokens" is "a": expected a list'),
    ("jsonl", None, '{"tokens": [{}]}', ":1: token 1 is {}: a token is a string or a list of strings"),
    ("jsonl", None, '{"tokens": [["a"], ["b", "c"]]}', ":1: token 2 has 2 columns where the first has 1"),
    ("jsonl", None, '{"tokens": ["a"], "labels": []}', ":1: 1 tokens and 0 labels: give one for each"),
    ("jsonl", None, '{"tokens": ["a"], "labels": [3]}', ":1: label 1 is 3: a label is a string, not empty"),
    ("conll", None, b"a X\n" * 16383 + b"a \xe2\x82\xac\n\xe9 X", ":16385: byte 0xe9 is not utf-8: try"),
    ("conll", None, "a X\nb\0 X\n", ":2: NUL character: no text file, or not in utf-8 (try"),
    ("conll", None, "a X".encode("utf-16"), ":1: byte 0xff is not utf-8: try --encoding utf-16"),
    ("conll", None, gzip.compress(b"a X\n", mtime=0)[:-3], ": truncated gzip file: its end is missing"),
    ("conll", None, gzip.compress(b"a X\n", mtime=0)[:-8] + bytes(8), ": corrupt gzip file: Error -3"),
]


@pytest.mark.parametrize(("name", "label", "content", "message"), MALFORMED)
def test_malformed_input_is_named_by_file_and_line(
    tmp_path: Path, name: str, label: str | None, content: str | bytes, message: str
) -> None:
    path = tmp_path / "file"
    path.write_bytes(content.encode("latin-1") if isinstance(content, str) else content)
    with pytest.raises(InputError) as error:
        list(read(path, name, label=label))
    assert str(error.value).startswith(f"{path}{message}")


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "fake.gz").write_text("a X\n")
    for path, encoding, message in [
        (str(tmp_path), "utf-8", "is a directory"),
        (f"{tmp_path}/none", "utf-8", "no such file"),
        ("a\0b", "utf-8", "cannot be read: embedded null byte"),
        (f"{tmp_path}/fake.gz", "utf-8", "not a gzip file, although"),
        (__file__, "klingon", "unknown encoding 'klingon'"),
        (__file__, "hex", "unknown encoding 'hex'"),
    ]:
        with pytest.raises(InputError, match=re.escape(f"{path}: {message}")):
            read(path, encoding=encoding)


@pytest.mark.parametrize(
    ("name", "label", "labelled"),
    [("conll", "0", True), ("conll", "x", True), ("conllu", "lemma", True), ("conllu", "feats:", True),
     ("conllu", "upos:x", True), ("wordtag", "1", False), ("text", None, True), ("csv", None, True)],
)  # fmt: skip
def test_options_that_make_no_sense(name: str, label: str | None, labelled: bool) -> None:
    with pytest.raises(InputError):
        open_format(name, label, labelled=labelled)


@given(text=st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")), seed=st.integers())
def test_lines_end_at_newlines_alone_however_the_bytes_arrive(text: str, seed: int) -> None:
    """Against str.split, for bytes that arrive in random pieces through a pipe, packed or not."""
    text = text.lstrip("\ufeff").replace("\r", "\r\n")  # a return inside a line is refused
    source = random.Random(seed)
    encoding = source.choice(["utf-8", "utf-16", "gb18030"])
    data = text.encode("utf-8-sig" if encoding == "utf-8" else encoding)
    data = gzip.compress(data[:5], mtime=0) + gzip.compress(data[5:]) if source.random() < 0.5 else data
    cuts = [0, *sorted(source.choices(range(len(data) + 1), k=5)), len(data)]
    pieces = iter([data[a:b] for a, b in pairwise(cuts) if a < b])
    seen: list[int] = []
    with pytest.MonkeyPatch.context() as patch:
        stdin = SimpleNamespace(read1=lambda size: next(pieces, b""))
        patch.setattr("sys.stdin", SimpleNamespace(buffer=stdin))
        found = list(open_lines("-", encoding, seen.append))
    assert found == text.removesuffix("\n").split("\n") if text else found == []
    assert sum(seen) == len(data)


@pytest.mark.parametrize(("sent", "received"), [(b"a b c\n", "text 3\n"), (b"a\nb\n\n", "conll 2\n")])
def test_a_pipe_delivers_a_sentence_before_its_end(sent: bytes, received: str) -> None:
    code = (
        "from corate.text.formats import read\nreader = read('-', labelled=False)\n"
        "for s in reader: print(reader.format.name, len(s), flush=True)"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command, pipe = [sys.executable, "-c", code], subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, env=environment) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(sent)
        process.stdin.flush()
        assert process.stdout.readline().decode() == received  # standard input is still open
        process.stdin.close()


DETECTED = [  # file name, first lines, format if labelled (None: not recognised), format if not
    ("x.conll", "", "conll", "conll"),
    ("X.IOB.GZ", "{", "conll", "conll"),
    ("x.conllu", "a b", "conllu", "conllu"),
    ("x.ndjson.gz", "a b", "jsonl", "jsonl"),
    ("x.txt", "a\tX\n\nb\tY\n", "conll", "conll"),
    ("x.txt", "EU NNP O\nx VB O\n\nIt PRP O\n", "conll", "conll"),
    ("x.txt", "The dog barks .\nIt rains\n\nAnd then\n", "conll", "text"),
    ("x.txt", "The/at dog/nn barks/vb\n", "wordtag", "wordtag"),
    ("x.conll", '{"tokens": ["a"], "labels": ["X"]}\n', "jsonl", "jsonl"),
    ("x.conll", "1\tdog\t_\tN\t_\t_\t_\t_\t_\t_\n", "conllu", "conllu"),
    ("x", "", "conll", "text"),
    ("x", '\n{"tokens": []}', "jsonl", "jsonl"),
    ("x", "{\tPUNCT\n", "conll", "conll"),
    ("x", f"# c\n{RANGE}\n", "conllu", "conllu"),
    ("x", "# c\n-DOCSTART- -X- O\n\nEU NNP O\nx VB O\n\n", "conll", "conll"),
    ("ca01", "\n\n\tThe/at 1/2/cd ./.\n\n\n\tIt/pps ./.\n", "wordtag", "wordtag"),
    ("x", "a/X b/Y c d/X e/Y\n", "wordtag", "text"),
    ("x", "http://a.org/b\n", "wordtag", "text"),
    ("x", "The dog barks\nIt rains\n", None, "text"),
    ("x", "The dog\n\nIt rains\n", "conll", "text"),
    ("x", "The\ndog\n\nIt\nrains\n", "conll", "conll"),
    ("x", "\n" * 300 + "\tThe dog barks\n\tIt rains\n", None, "text"),
]


@pytest.mark.parametrize(("path", "head", "labelled", "unlabelled"), DETECTED)
def test_detection(path: str, head: str, labelled: str | None, unlabelled: str) -> None:
    assert detect(path, head, labelled=False) == unlabelled
    if labelled is None:
        with pytest.raises(InputError, match="x: format not recognised: give it with --format"):
            detect(path, head, labelled=True)
    else:
        assert detect(path, head, labelled=True) == labelled


def test_chunks_are_the_whole_cut_between_sentences(tmp_path: Path) -> None:
    paths = [tmp_path / "a.conll", tmp_path / "b.jsonl", tmp_path / "c.conll.gz"]
    paths[0].write_text("a\tX\nb\tY\n\n\nc\tX\n")
    paths[1].write_text('{"tokens": ["d", "e"], "labels": ["Z", "X"]}\n\n{"tokens": ["f"], "labels": ["X"]}')
    paths[2].write_bytes(gzip.compress(b"\xef\xbb\xbfg\tX\n", mtime=0) + bytes(9))
    assert [read_corpus(path).n_tokens for path in paths] == [3, 3, 1]
    for size, lengths in [(1, [2, 1, 2, 1, 1]), (3, [3, 3, 1]), (100, [7])]:
        chunks = list(read_chunks(paths, chunk_tokens=size))
        assert [chunk.n_tokens for chunk in chunks] == lengths
        assert [w for c in chunks for w in c.words.strings()] == list("abcdefg")
        assert [y for c in chunks if c.labels for y in c.labels.strings()] == list("XYXZXXX")
    paths[2].write_bytes(b"g\tA\tX\n")
    with pytest.raises(InputError, match=re.escape(f"{paths[2]}: not a gzip file")):
        list(read_chunks(paths))
    with pytest.raises(InputError, match=re.escape("d.conll:1: 2 observed columns where")):
        list(read_chunks([paths[0], paths[2].rename(tmp_path / "d.conll")]))
