"""From a path to sentences: open, find the format, read; and sentences to a Corpus, whole or in chunks."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import TypeVar

from corate.errors import InputError
from corate.text.corpus import Corpus
from corate.text.formats.base import Format, Sentence, is_blank
from corate.text.formats.by_name import open_format
from corate.text.formats.conll import IS_DOCSTART
from corate.text.formats.detect import identify
from corate.text.formats.lines import Progress, open_blocks, source_name

LOG = logging.getLogger("corate")

Part = TypeVar("Part", Sentence, Sentence | Corpus)

# What is read until a sentence with a token is complete: more is no text, or has lost its blank lines.
MOST_LINES = 1_000_000
PART_LETTERS = 1 << 18  # that are read before a part of a file is handed on
MOST_LETTERS = 1 << 28


class _Gauge:
    """How much was read since the last sentence with a token."""

    def __init__(self, source: str) -> None:
        self.source, self.line = source, 1
        self.reset()

    def reset(self) -> None:
        self.lines = self.letters = 0

    def watch(self, blocks: Iterable[list[str]]) -> Iterator[list[str]]:
        for lines in blocks:
            if self.lines > MOST_LINES or self.letters > MOST_LETTERS:
                message = (
                    f"{self.lines:,} lines with {self.letters:,} characters since the last sentence that"
                )
                raise InputError(
                    f"{message} was complete: no text, or no blank lines", self.source, self.line
                )
            self.lines += len(lines)
            self.letters += sum(map(len, lines))
            self.line += len(lines)
            yield lines


class Reader(Iterator[Sentence]):
    """The sentences of a file, each as soon as it is complete; `format` also writes them."""

    def __init__(
        self,
        format: Format,  # noqa: A002
        blocks: Iterable[list[str]],
        source: str,
        whole: bool = True,
    ) -> None:
        """`whole`: the lines of all of a file, which is to have some tokens."""
        self.format, self.source, self._gauge = format, source, _Gauge(source)
        self._some = whole and format.labelled
        self._blocks = self._gauge.watch(blocks)
        self._sentences = self._checked(format.read(chain.from_iterable(self._blocks), source))

    def __next__(self) -> Sentence:
        return next(self._sentences)

    def runs(self) -> Iterator[Sentence | Corpus]:
        """The tokens alone, of many sentences at once where the format can read them so."""
        return self._checked(self.format.read_runs(self._blocks, self.source))

    def parts(self) -> Iterator[tuple[int, list[str]]]:
        """The lines in parts that end where a sentence ends, each with the number of its first: what
        `format.read` takes."""
        line, left, letters = 1, list[str](), 0
        for block in self._blocks:
            left += block
            letters += sum(map(len, block))
            new = len(left) - len(block)
            end = self.format.end_of_last(left, new - 1) if letters >= PART_LETTERS else 0
            if end:
                yield line, left[:end]
                line, left, letters = line + end, left[end:], 0
                self._gauge.reset()
        if left:
            yield line, left

    def _checked(self, parts: Iterator[Part]) -> Iterator[Part]:
        n_sentences = n_tokens = 0
        for part in parts:
            n_sentences += 1
            if _n_tokens(part):
                n_tokens += _n_tokens(part)
                self._gauge.reset()
            yield part
        if self._some and not n_tokens:
            message = "no sentence: nothing to learn from" if n_sentences else "empty file"
            raise InputError(message, self.source)


def read(
    path: str | Path,
    format: str | None = None,  # noqa: A002
    *,
    label: str | None = None,
    labelled: bool = True,
    encoding: str = "utf-8",
    progress: Progress | None = None,
    plain: bool = True,
    strict: bool = True,
) -> Reader:
    """Sentences of a file (`-` is standard input) in the named format, or in the one that `detect` finds; not
    in plain text where that makes no sense. Doubts about the format are logged. Where it is not `strict`,
    bytes that are not of the encoding are left to the format.

    Everything wrong with the input raises `InputError`. A labelled file without any token is wrong, too.

    Parameters
    ----------
    path : str or Path
        The file, perhaps gzipped; "-" is standard input.
    format : {"conll", "conllu", "wordtag", "jsonl", "text"} or None
        None finds it from the name and the first lines.
    label : str or None
        Where the label is: a column's number, a field of CoNLL-U, a key of JSON; None: where it usually is.
    labelled : bool
        Whether the file has labels.
    encoding : str
        Of the text.
    progress : callable or None
        Called with the number of bytes that were read since the last call.
    """
    named = None if format is None else open_format(format, label, labelled=labelled)
    blocks = open_blocks(path, encoding, progress, strict)
    if named is not None:
        return Reader(named, blocks, source_name(path))
    head = first_lines(blocks, source_name(path))
    detected = format_of(path, head, label, labelled, plain)
    return Reader(detected, chain([head], blocks), source_name(path))


def format_of(
    path: str | Path, head: list[str], label: str | None, labelled: bool, plain: bool = True
) -> Format:
    """The format of a file that begins with these lines; where that is not certain, the log says so."""
    name, doubt = identify(path, "".join([line + "\n" for line in head]), labelled, label, plain)
    if doubt is not None:
        LOG.warning("%s: %s", source_name(path), doubt)
    return open_format(name, label, labelled=labelled)


def first_lines(blocks: Iterator[list[str]], source: str) -> list[str]:
    """What arrives until there is a line to tell the format by."""
    return _head(_Gauge(source).watch(blocks))


def _head(blocks: Iterator[list[str]]) -> list[str]:
    head: list[str] = []
    for lines in blocks:
        head += lines
        if not all(is_blank(line) or line.startswith("#") or IS_DOCSTART.match(line) for line in lines):
            break
    return head


def read_corpus(
    path: str | Path,
    format: str | None = None,  # noqa: A002
    *,
    label: str | None = None,
    labelled: bool = True,
    encoding: str = "utf-8",
    progress: Progress | None = None,
) -> Corpus:
    """A whole file in memory.

    Parameters
    ----------
    path, format, label, labelled, encoding, progress :
        As for `read`.
    """
    sentences = read(path, format, label=label, labelled=labelled, encoding=encoding, progress=progress)
    return Corpus.join(list(corpora(sentences.runs())))


def read_chunks(
    paths: Iterable[str | Path],
    format: str | None = None,  # noqa: A002
    *,
    label: str | None = None,
    labelled: bool = True,
    encoding: str = "utf-8",
    progress: Progress | None = None,
    chunk_tokens: int = 500_000,
) -> Iterator[Corpus]:
    """Files end to end in corpora of about `chunk_tokens` tokens; a chunk ends where a sentence ends."""
    readers = (
        read(path, format, label=label, labelled=labelled, encoding=encoding, progress=progress)
        for path in ([paths] if isinstance(paths, (str, Path)) else paths)
    )
    return corpora(_of_one_width(readers), chunk_tokens)


def corpora(parts: Iterable[Sentence | Corpus], chunk_tokens: int | None = None) -> Iterator[Corpus]:
    """Corpora of about so many tokens, or one of them all."""
    chunk: list[Corpus] = []
    sentences: list[Sentence] = []
    n_tokens = 0
    for part in parts:
        if not _n_tokens(part):  # comments, blank lines: no columns
            continue
        n_tokens += _n_tokens(part)
        # Which keys features have is known at the end alone.
        has_features = isinstance(part, Sentence) and part.features is not None
        enough = chunk_tokens is not None and n_tokens >= chunk_tokens and not has_features
        if isinstance(part, Sentence):
            sentences.append(part)
        if sentences and (enough or isinstance(part, Corpus)):
            chunk.append(Corpus.from_sentences(sentences))
            sentences = []
        if isinstance(part, Corpus):
            chunk.append(part)
        if enough:
            yield Corpus.join(chunk)
            chunk, n_tokens = [], 0
    if sentences or (chunk_tokens is None and not chunk):
        chunk.append(Corpus.from_sentences(sentences))
    if chunk:
        yield Corpus.join(chunk)


def _n_tokens(part: Sentence | Corpus) -> int:
    return part.n_tokens if isinstance(part, Corpus) else len(part)


def _of_one_width(readers: Iterable[Reader]) -> Iterator[Sentence | Corpus]:
    """Sentences with tokens; a file with another number of columns than the first one is refused."""
    width, first = 0, ""
    for reader in readers:
        for part in reader.runs():
            if not _n_tokens(part):
                continue
            if not width:
                width, first = len(part.columns), reader.source
            if len(part.columns) != width:
                message = f"{len(part.columns)} observed columns where {first} has {width}"
                raise InputError(message, reader.source, part.line if isinstance(part, Sentence) else 1)
            yield part
