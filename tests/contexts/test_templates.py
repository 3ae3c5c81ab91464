"""Files of contexts: corate's own, CRF++'s as they are, and what is wrong with them by line."""

from __future__ import annotations

import contextlib
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corate.contexts.files import parse_contexts, read_contexts
from corate.contexts.quotes import quoted_parts, split_outside_quotes
from corate.contexts.template import Context
from corate.errors import InputError
from shared import CHUNKING

CHUNKING_CONTEXTS = (
    *("word-2", "word-1", "word", "word+1", "word+2", "word-1,word", "word,word+1"),
    *("col2-2", "col2", "col2-2,col2-1", "col2,col2+1,col2+2", "pair:word-1,word"),
)

OWN = """\
# what a word looks like
word
tail3+2     # a neighbour
  word-1, word

word
\t# no context
"""


@pytest.mark.parametrize("ends", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_files(tmp_path: Path, mark: str, ends: str) -> None:
    path = tmp_path / "template"
    path.write_bytes((mark + CHUNKING).replace("\n", ends).encode())
    assert read_contexts(path) == CHUNKING_CONTEXTS
    path.write_bytes((mark + OWN).replace("\n", ends).encode())
    assert read_contexts(str(path)) == ("word", "tail3+2", "word-1,word")


@pytest.mark.parametrize(
    ("line", "context"),
    [
        ("U:%x[0,0]", "word"),
        ("U00%x[0,0]", "word"),
        ("U07:a/%x[0,0]/b=%x[-1,12] # c", "word,col13-1"),
        ("U08:%x[0,0]/%x[+1,0]/%x[-0,0]", "word,word+1"),
        ("U09:%x[-99,98]", "col99-99"),
        ("U10:%x[-0099,00998]", "col999-99"),
        ("B05 %x[0,1]", "pair:col2"),
        ("B", None),
        ("B00:", None),
        ("U99:bias", None),
    ],
)
def test_lines_of_crfpp(line: str, context: str | None) -> None:
    found = parse_contexts(["U00:%x[9,9]", line, line], "template")
    assert found == ("col10+9", *([context] if context else []))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("word-1", "'word-1' begins with neither U nor B nor *: "),
        ('U1:%x[-1,0,"^[A-Z]"]', """'%x[-1,0,"^[A-Z]' is not read: write %x[row,column] """),
        ('U1:%x[0,0]/%m[0,0,"a"]', """'%m[0,0,"a"]' is not read: """),
        ('U1:%t[0,0,"\\u"]', "is not read: "),
        ("U1:%x[@1,0]", "'%x[@1,0]' is not read: "),
        ("U1:%x[0,0", "'%x[0,0' is not read: "),
        ("U1:%x[]", "'%x[]' is not read: "),
        ("U1:%x[0]", "'%x[0]' is not read: "),
        ("U1:%x[0.5,0]", "'%x[0.5,0]' is not read: "),
        ("U1:%x[0,-1]", "'%x[0,-1]' is not read: "),
        ("U1:%x(0,0)", "'%x(0,0)' is not read: "),
        ("U1:%%x[0,0]", "'%' is not read: "),
        ("U1:%x[100,0]", "%x[100,0] is out of reach: rows are -99 to 99, columns 0 to 998"),
        ("U1:%x[0,999]", "%x[0,999] is out of reach: "),
        ("U1:%x[-" + "9" * 5000 + ",0]", "is out of reach: "),
    ],
)
def test_a_bad_line_of_crfpp_is_one_sentence_with_its_place(line: str, message: str) -> None:
    with pytest.raises(InputError) as raised:
        parse_contexts(["# a comment", "U00:%x[0,0]", "", line], "template")
    text = str(raised.value)
    assert text.startswith("template:4: ")
    assert message in text
    assert len(text) < 250


def test_lines_of_corate_are_checked() -> None:
    seen: list[str] = []
    names = ("col2-1", "pair:word-1,word", "col3:suffix2+1", '"a, #\\" 50%","b#2"', '"c"#')
    assert parse_contexts([f'{name}  # 50% of "all' for name in names], "mine", seen.append) == names
    assert tuple(seen) == names
    with pytest.raises(InputError, match=r"^mine:2: no view is called 'wrod'") as raised:
        parse_contexts(["word", "wrod-1"], "mine")
    assert (raised.value.source, raised.value.line) == ("mine", 2)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", ": no context: write one a line"),
        (b"\n# nothing\n", ": no context: write one a line"),
        (b"word\n# K\xe4se\n", ":2: byte 0xe4 is not utf-8"),
        (b"word\n\0\n", ":2: NUL character"),
    ],
)
def test_a_file_that_is_none(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "mine"
    path.write_bytes(content)
    with pytest.raises(InputError) as raised:
        read_contexts(path)
    assert str(raised.value).startswith(f"{path}{message}")
    with pytest.raises(InputError, match="no such file"):
        read_contexts(tmp_path / "other")


def patterns(text: str) -> list[str]:
    """How contexts were taken apart before: a pattern that is right, and quadratic."""
    return re.findall(r'(?:"(?:[^"\\]|\\.)*"|[^,"])+', text)


@settings(max_examples=300, deadline=None)
@given(text=st.text(alphabet='ab,. "\\', max_size=24))
def test_names_are_split_outside_of_quotes(text: str) -> None:
    parts = split_outside_quotes(text, ",")
    assert ",".join(parts) == text
    assert "".join(quoted_parts(text)) == text
    if ",".join(patterns(text)) == text and text:
        assert parts == patterns(text)
    elif "" not in parts:
        assert any(part.count('"') for part in quoted_parts(text)[::2]), "an open quote"


@pytest.mark.parametrize(
    "piece", ['"', '\\"', '"\\"', '"",', " ", "\\", '"a"', "word,", "%x[", "%x[0,0]", " ,"]
)
def test_long_names_take_no_longer_than_their_letters(piece: str) -> None:
    """Thirty thousand times anything: refused for their length, in one pass over them."""
    for text in (piece * 30_000, '"' + piece * 30_000, "U1:" + piece * 30_000):
        with pytest.raises(InputError) as caught:
            Context.parse(text)
        assert "characters: a context has 20,000 at most" in str(caught.value)
        with pytest.raises(InputError) as caught:
            parse_contexts([text], "file")
        assert len(str(caught.value)) < 300
    for text in (piece * (19_000 // len(piece)), '"' + piece * (19_000 // len(piece))):
        with contextlib.suppress(InputError):
            Context.parse(text)
