"""What must hold of any bytes that a reader is given; `make fuzz` tries millions, a test some of them.

An attack raises nothing for bytes that are read, and for bytes that are refused in one clear sentence.
"""

from __future__ import annotations

import gzip
import random
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from corate import InputError
from corate.contexts.files import parse_contexts
from corate.contexts.template import parse_all
from corate.text.corpus import Corpus
from corate.text.formats import Format, Sentence, open_format
from corate.text.formats.detect import detect
from corate.text.formats.lines import blocks_of
from corate.text.formats.reader import Reader, corpora

SEEDS = Path(__file__).parent / "fuzz"  # a folder a target: bytes to begin with, and what was found
LABELS = ("X", "B-Y", "é")
Attack = Callable[[bytes], None]


def blocks(data: bytes) -> Iterator[list[str]]:
    """In three pieces, as they may arrive."""
    third = len(data) // 3 + 1
    pieces = (data[k : k + third] for k in range(0, len(data), third))
    return blocks_of(pieces, "utf-8", "fuzz")


def clear(error: InputError) -> None:
    text = str(error)
    assert "\n" not in text, text
    assert len(text) < 600, text


def reading(name: str) -> Attack:
    """Of a format: what is read unlabelled comes out as it was; labels that are added are found again; plain
    rows that are read in one go are those that are read line by line."""

    def attack(data: bytes) -> None:
        try:
            text = "".join(line + "\n" for block in blocks(data) for line in block)
            form = open_format(name, labelled=False)
            sentences = [*Reader(form, blocks(data), "fuzz")]
        except InputError as error:
            clear(error)
        else:
            check_round_trip(form, sentences, text)
        if name != "text":
            check_labelled(name, data)

    return attack


def check_round_trip(form: Format, sentences: list[Sentence], text: str) -> None:
    written = "".join(map(form.write, sentences))
    assert written == text, "it does not come out as it went in"
    try:
        tagged = "".join(form.write(s, [LABELS[k % 3] for k in range(len(s))]) for s in sentences)
    except InputError as error:
        clear(error)
        return
    again = open_format("conll" if form.name == "text" else form.name, labelled=False)
    if tagged.startswith(("PK", "\x1f", "\ufeff")):
        return  # what a file may not begin with, or what is not read
    found = [*Reader(again, blocks(tagged.encode()), "fuzz")]
    before = [s.words for s in sentences if len(s)]
    if all(word.startswith("#") for words in before for word in words) and form.name in ("conll", "text"):
        return  # rows that begin with this sign are tokens where there are others to tell it by
    assert [s.words for s in found if len(s)] == before, "tagged and read again, it has other words"


def check_labelled(name: str, data: bytes) -> None:
    outcomes: list[object] = []
    for one_go in (False, True):
        try:
            reader = Reader(open_format(name), blocks(data), "fuzz")
            corpus = Corpus.join([*corpora(reader.runs() if one_go else iter(reader))])
        except InputError as error:
            clear(error)
            outcomes.append(str(error))
            continue
        assert corpus.labels is not None
        told = [column.strings() for column in (*corpus.columns, corpus.labels)]
        assert all(cell.strip(" ") or name in ("conllu", "jsonl") for cell in told[0]), "an empty word"
        assert all(told[0])
        assert all(told[-1]), "an empty label"
        assert not any("\0" in cell for column in told for cell in column)
        outcomes.append((told, np.asarray(corpus.offsets).tolist()))
    assert outcomes[0] == outcomes[1], "in one go it is read otherwise than line by line"


def contexts(data: bytes) -> None:
    try:
        names = parse_contexts([line for block in blocks(data) for line in block], "fuzz")
        made = parse_all(names)
    except InputError as error:
        clear(error)
        return
    assert [*map(str, parse_all([*map(str, made)]))] == [*map(str, made)]


def detecting(data: bytes) -> None:
    try:
        head = "".join(line + "\n" for block in blocks(data) for line in block)
        for labelled in (False, True):
            open_format(detect("-", head, labelled), labelled=labelled)
    except InputError as error:
        clear(error)


def unpacking(data: bytes) -> None:
    """Gzip: the bytes packed and cut, or packed with others behind."""
    plain = gzip.compress(data, 1, mtime=0)
    for packed in (plain, plain[: len(plain) - len(data) % 20], plain + data):
        try:
            lines = [line for block in blocks(packed) for line in block]
        except InputError as error:
            clear(error)
        else:
            if packed == plain and not data.startswith((b"PK\x03\x04", b"\x1f\x8b")):
                assert lines == [line for block in blocks(data) for line in block]


ATTACKS: dict[str, Attack] = {
    **{name: reading(name) for name in ("conll", "conllu", "wordtag", "jsonl", "text")},
    "contexts": contexts,
    "detect": detecting,
    "gzip": unpacking,
}

PIECES = [
    b'\n', b'\n\n', b'\r\n', b'\r', b'\t', b' ', b'  ', b'#', b'# ', b'-DOCSTART-', b'_', b'/', b'\\',
    b'"', b'\x00', b'\xef\xbb\xbf', b'\xff', b'\xc3', b'\xc2\xa0', b'\xe2\x80\xa8', b'\xed\xa0\x80',
    b'a', b'O', b'B-X', b'1', b'1-2', b'1.1', b'2', b'=', b'|', b':', b'[', b']', b'{', b'}', b',',
    b'null', b'\\u0000', b'\\ud800', b'1e999', b'NaN', b'"tokens"', b'"labels"', b'%x[0,0]', b'%',
    b'U1:', b'B', b'word-1', b'col2', b'pair:', b'\x1f\x8b\x08', b'PK\x03\x04',
]  # fmt: skip


def seeds_of(target: str) -> list[bytes]:
    return [path.read_bytes() for path in sorted((SEEDS / target).iterdir())]


def mutated(rng: random.Random, seeds: list[bytes]) -> bytes:
    """Bytes like the seeds: pieces put in, taken out, repeated, exchanged between two of them."""
    data = bytearray(rng.choice(seeds))
    for _ in range(rng.choice((1, 1, 2, 3, 6))):
        a, kind = rng.randrange(len(data) + 1), rng.randrange(6)
        b = min(len(data), a + rng.choice((0, 1, 2, 8, 40)))
        if kind < 3:
            data[a : b if kind else a] = rng.choice(PIECES)
        elif kind == 3:
            data[a:b] = b""
        elif kind == 4:
            data[a:a] = data[a:b] * rng.choice((1, 2, 5))
        else:
            other = rng.choice(seeds)
            c = rng.randrange(len(other) + 1)
            data[a:b] = other[c : c + rng.choice((1, 5, 30))]
    return bytes(data[:400])
