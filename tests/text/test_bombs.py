"""Input that is small on disk and huge in memory, that has no end, or that was read as something else."""

from __future__ import annotations

import gzip
import io
from pathlib import Path

import pytest

from conftest import Cli
from corate import InputError
from corate.text.formats import lines, read, read_corpus, reader
from corate.text.formats.lines import open_blocks
from shared import KERNELS, assert_one_line, by


def gz(path: Path, data: bytes) -> Path:
    path.write_bytes(gzip.compress(data))
    return path


def test_a_block_of_gzip_is_unpacked_piece_by_piece(tmp_path: Path) -> None:
    """Whatever it holds: 64 kB of it may be 64 MB of text, and a gigabyte of objects."""
    text = "word\tX\n" * 2_000_000
    path = gz(tmp_path / "a.conll.gz", text.encode())
    assert path.stat().st_size < lines.BLOCK_BYTES
    blocks = [sum(map(len, block)) + len(block) for block in open_blocks(path)]
    assert max(blocks) <= lines.MOST_UNPACKED + len("word\tX\n")
    assert sum(blocks) == len(text)


@pytest.mark.parametrize("cut", [lines.MOST_UNPACKED - 1, lines.MOST_UNPACKED, lines.MOST_UNPACKED + 1])
def test_gzip_of_any_size_comes_out_whole(tmp_path: Path, cut: int) -> None:
    """Members end where a piece ends, before it and after it; a truncated one is told."""
    data = (b"0123456789\n" * (cut // 11 + 1))[:cut]
    path = tmp_path / "a.gz"
    whole = gzip.compress(data) + gzip.compress(b"\nend\n") + b"\0" * 10
    path.write_bytes(whole)
    found = "\n".join(line for block in open_blocks(path) for line in block)
    assert found == (data + b"\nend").decode()
    path.write_bytes(gzip.compress(data)[:-9])
    with pytest.raises(InputError, match="truncated gzip file"):
        list(open_blocks(path))


def test_a_line_has_a_maximal_length(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "MOST_LETTERS", 200_000)
    path = tmp_path / "a.txt"
    path.write_text("a b\n" + "a " * 90_000 + "\nc d\n")
    assert sum(map(len, read(path, labelled=False))) == 90_004
    path.write_text("a b\n" + "a " * 180_000)
    with pytest.raises(InputError, match=r"a\.txt:2: a line of more than 200,000 characters: break it"):
        list(read(path, labelled=False))


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("a.conll", "\n"),
        ("a.conll", "# a comment\n"),
        ("a.conll", "\t \n"),
        ("a.conll", "the\tX\n"),  # a sentence that never ends
        ("a.conllu", "# a comment\n"),
        ("a.jsonl", "\n"),
        ("a.txt", "\n"),
        ("a", "\n"),
        ("a", "# a comment\n"),
    ],
)
@pytest.mark.parametrize("first", ["", "De\tO\n\n", '{"tokens": ["De"], "labels": ["O"]}\n'])
def test_nothing_is_kept_of_lines_without_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kernel: str, name: str, line: str, first: str
) -> None:
    """Comments, blank lines, rows: as many as fit between two sentences, then a message with its line."""
    monkeypatch.setattr(reader, "MOST_LINES", 3_000)
    monkeypatch.setattr(lines, "BLOCK_BYTES", 1 << 12)
    if first.startswith("{") != (name == "a.jsonl") and first:
        return
    first = "1\tDe\t_\tX\t_\t_\t_\t_\t_\t_\n\n" if name == "a.conllu" and first else first
    path = tmp_path / name
    path.write_text(first + line * 20_000)
    message = r"lines with [0-9,]+ characters since the last sentence that was complete: no text"
    with pytest.raises(InputError, match=message):
        by(kernel, lambda: list(read(path, labelled=False)))
    if name != "a.txt":
        with pytest.raises(InputError, match=message):
            by(kernel, read_corpus, path)


@pytest.mark.parametrize("kernel", KERNELS)
def test_long_files_are_no_bombs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kernel: str) -> None:
    """What counts is what lies between sentences, not the file."""
    monkeypatch.setattr(reader, "MOST_LINES", 3_000)
    monkeypatch.setattr("corate.text.formats.conll.RUN_LINES", 1_500)
    monkeypatch.setattr(lines, "BLOCK_BYTES", 1 << 12)
    path = tmp_path / "a.conll"
    for sentence in ("De\tO\n\n", "# a comment\nDe\tO\n\n\n\n"):
        path.write_text(sentence * 9_000)
        assert by(kernel, read_corpus, path).n_tokens == 9_000
        assert by(kernel, lambda: sum(map(len, read(path, labelled=False)))) == 9_000


def test_a_command_says_it_in_one_line(tmp_path: Path, cli: Cli, pos_model: Path) -> None:
    path = gz(tmp_path / "newlines.gz", b"\n" * (reader.MOST_LINES + 3 * lines.MOST_UNPACKED))
    for command in (("tag", "-m", pos_model, path), ("train", path, "-m", tmp_path / "m.model")):
        assert_one_line(cli(*command), "newlines.gz:")


# Files that were read wrongly ------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("end", ["# end\n", "  \n", "\t\n", "\n\n# one\n\n# two\n"])
def test_what_follows_the_last_sentence_has_no_columns(
    tmp_path: Path, cli: Cli, kernel: str, end: str
) -> None:
    path = tmp_path / "a.conll"
    path.write_text("De\tArt\tO\nhond\tN\tB-X\n\n" + end)
    corpus = by(kernel, read_corpus, path)
    assert [column.strings() for column in corpus.columns] == [["De", "hond"], ["Art", "N"]]
    command = ("train", path, "-m", tmp_path / "m", "--model", "ep1", "--mu-oov", "auto", "--held-out", path)
    assert cli(*command) == (0, "", "")


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("row", ["hond B-X", "hond  B-X", "hond   B-X", " hond B-X", "hond B-X "])
def test_a_cell_that_is_missing_between_blanks(tmp_path: Path, kernel: str, row: str) -> None:
    """Runs of blanks separate: two columns, however many there are of them."""
    path = tmp_path / "a.conll"
    path.write_text(f"De Art O\n{row}\n")
    for reading in (read_corpus, lambda path: list(read(path))):
        with pytest.raises(InputError, match=r"a\.conll:2: 2 columns where the first row has 3"):
            by(kernel, reading, path)
    path.write_text("De  Art   O\nhond N B-X\n")
    assert by(kernel, read_corpus, path).columns[1].strings() == ["Art", "N"]


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize(
    ("label", "columns"), [("2", 1), ("3", 2), ("-1", 3), ("4", 3), ("-3", 1), ("1", 1), (None, 3)]
)
def test_columns_behind_the_label_are_not_observed(
    tmp_path: Path, kernel: str, label: str | None, columns: int
) -> None:
    """They are other labels: of Python's readers, of the command line, in one go or sentence by sentence."""
    path = tmp_path / "a.conll"
    for text in (
        "De\tArt\tDET\tO\n\nhond\tN\tNOUN\tB-X\n",
        "# c\nDe\tArt\tDET\tO\n\n# d\nhond\tN\tNOUN\tB-X\n",
    ):
        path.write_text(text)
        corpus = by(kernel, read_corpus, path, label=label)
        assert len(corpus.columns) == columns
        for sentence in by(kernel, lambda: list(read(path, label=label))):
            assert len(sentence.columns) == columns
        assert len(next(read(path, label=label, labelled=False)).columns) == (4 if label is None else 3)


def test_a_key_of_json_that_looks_like_a_number_is_no_column(tmp_path: Path, cli: Cli) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"tokens": [["De", "Art"], ["hond", "N"]], "1": ["X", "Y"]}\n')
    assert len(read_corpus(path, label="1").columns) == 2


@pytest.mark.parametrize("format_", ["conll", "jsonl"])
def test_nul_is_refused_wherever_it_hides(tmp_path: Path, cli: Cli, format_: str, pos_model: Path) -> None:
    """A model that was trained on it could not be loaded: the old file stays."""
    path, model = tmp_path / f"a.{format_}", tmp_path / "keep.model"
    model.write_bytes(pos_model.read_bytes())
    rows = {
        "conll": ["ab\0\tX\ndog\tN\n"],
        "jsonl": [
            '{"tokens":["ab\\u0000","dog"],"labels":["X","N"]}\n',
            '{"tokens":[["ab","\\u0000"],["dog","x"]],"labels":["X","N"]}\n',
            '{"tokens":["ab","dog"],"labels":["X","N\\u0000"]}\n',
        ],
    }
    for row in rows[format_]:
        path.write_text(row)
        result = cli("train", path, "--context", "suffix1", "-m", model)
        assert_one_line(result, f"a.{format_}:1: ")
        assert "NUL character" in result.err
        assert model.read_bytes() == pos_model.read_bytes()
    path.write_text('{"tokens":["ab\\\\u0000","dog"],"labels":["X","N"]}\n')
    assert read_corpus(path, "jsonl").words.strings() == ["ab\\u0000", "dog"], "six letters, and no NUL"


def test_numbers_beyond_all_numbers(tmp_path: Path) -> None:
    """They would be written as Infinity, which is no JSON."""
    path = tmp_path / "a.jsonl"
    for number in ("1e999", "-1e999", "[0, 1e400]"):
        path.write_text(f'{{"tokens": ["a"], "x": {number}}}\n')
        with pytest.raises(
            InputError, match=r"a\.jsonl:1: invalid JSON: the number -?1e[49][09]+ is too large"
        ):
            list(read(path, labelled=False))
    path.write_text('{"tokens": ["a"], "x": 1e308}\n')
    file = read(path, labelled=False)
    assert file.format.write(next(file), ["X"]) == '{"tokens": ["a"], "x": 1e+308, "predicted": ["X"]}\n'


@pytest.mark.parametrize("separator", [" ", "\t"])
@pytest.mark.parametrize("probabilities", [None, [0.5, 0.5]])
def test_comments_are_comments_when_read_again(
    tmp_path: Path, separator: str, probabilities: list[float] | None
) -> None:
    """Also where they have as many columns as the rows have with the labels that are added."""
    comments = [separator.join(["#", "one", "two", "three"][:n]) for n in (1, 2, 3, 4)]
    rows = [f"De{separator}O", f"hond{separator}O"]
    for comment in comments:
        if len(comment.split(separator)) == 2:
            continue  # as many as the rows have: it is a token
        path = tmp_path / "a.conll"
        path.write_text("\n".join([comment, "", comment, *rows, "", comment, ""]))
        file = read(path, labelled=False)
        text = "".join(
            file.format.write(s, ["X"] * len(s), probabilities[: len(s)] if probabilities else None)
            for s in file
        )
        path.write_text(text)
        again = [sentence.words for sentence in read(path, labelled=False) if len(sentence)]
        assert again == [["De", "hond"]], text
        seen = [line.replace("\u00a0", " ").split() for line in text.splitlines() if line.startswith("#")]
        assert seen == [comment.split()] * 3


def test_a_model_from_a_pipe_that_trickles(tmp_path: Path, pos_model: Path) -> None:
    """The first read may bring less than the four bytes that an archive begins with."""
    import os
    import threading

    from corate import load

    data = pos_model.read_bytes()
    path = tmp_path / "pipe"
    os.mkfifo(path)

    def pour() -> None:
        with path.open("wb", buffering=0) as pipe:
            pipe.write(data[:2])
            import time

            time.sleep(0.2)  # the reader is given the time to see two bytes alone
            with io.BytesIO(data[2:]) as rest:
                while block := rest.read(1 << 16):
                    pipe.write(block)

    thread = threading.Thread(target=pour)
    thread.start()
    model = load(path)
    thread.join()
    assert model.classes_ == load(pos_model).classes_
