"""What every format shares: the sentence that a reader yields and a writer takes.

    text file ──lines──► Format.read ──► Sentence ──► Format.write ──► text

A sentence keeps its raw lines, so that what the reader does not understand (comments, multiword tokens,
further columns, blank lines) comes out as it went in.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import ClassVar, NamedTuple

from corate.errors import InputError
from corate.text.corpus import Corpus


@dataclass(slots=True)
class Sentence:
    """Tokens of one sentence, column by column, and the lines that they were read from.

    A sentence without tokens has no columns and only carries lines (blank lines, comments).
    """

    columns: list[list[str]]  # observed columns; columns[0] are the words
    labels: list[str] | None = None  # None for text that is still to be labelled
    lines: list[str] = field(default_factory=list)  # raw, without "\n" (a "\r" before it stays)
    places: Sequence[int] = ()  # index in `lines` of each token's line
    line: int = 1  # number in the file of lines[0], from 1
    format: str = ""  # name of the format that it was read in
    features: list[list[str]] | None = None  # of each token, in formats that have features and no words

    @property
    def words(self) -> list[str]:
        return self.columns[0] if self.columns else []

    def __len__(self) -> int:
        return len(self.words)


class Labelling(NamedTuple):
    """What is added to a sentence: a label for each token, and perhaps how probable it is."""

    labels: Sequence[str]
    probabilities: Sequence[float] | None = None
    comment: str | None = None
    marginals: Sequence[Mapping[str, float]] | None = None  # of every label that is possible at a token
    probability: float | None = None  # of the labels together
    rank: int | None = None  # among the best label sequences, from 1

    @property
    def remark(self) -> str | None:
        """What a comment line says before the sentence."""
        rank = [] if self.rank is None else [f"nbest = {self.rank}"]
        probability = [] if self.probability is None else [f"probability = {self.probability:.6g}"]
        return " ".join([*rank, *probability, *([] if self.comment is None else [self.comment])]) or None

    def chances(self, token: int, joint: str, between: str) -> str:
        """The labels that are possible at a token with their probabilities, the best first."""
        assert self.marginals is not None
        ranked = sorted(self.marginals[token].items(), key=lambda item: -item[1])
        return between.join(f"{label}{joint}{p:.4f}" for label, p in ranked)


class Format(ABC):
    """One way of writing labelled sentences as text.

    `label` says where the label is (a column, a field, a key); `labelled=False` reads text that is still
    to be labelled: every column is observed and `Sentence.labels` is None.
    """

    name: ClassVar[str]
    line_by_line: ClassVar[bool] = False  # whether every line is a sentence
    extensions: ClassVar[tuple[str, ...]]

    def __init__(self, label: str | None = None, *, labelled: bool = True) -> None:
        self.label, self.labelled = label, labelled
        self._writable: dict[str, set[str]] = {}

    @abstractmethod
    def read(self, lines: Iterable[str], source: str, line: int = 1) -> Iterator[Sentence]:
        """Sentences of a file, each as soon as its last line is there; `InputError` says `source:line`.

        `line` is the number of the first line: from 2 on it is the rest of the file that was read last."""

    def end_of_last(self, lines: Sequence[str], first: int) -> int:
        """How many of these lines end where a sentence certainly ends, behind place `first` or later; 0 where
        there is none. That is the first blank line, unless an empty one follows which may be more."""
        if self.line_by_line:
            return len(lines)
        for k in range(len(lines) - 1, max(first, 1) - 1, -1):
            if (
                is_blank(lines[k])
                and not is_blank(lines[k - 1])
                and (not lines[k] or any(lines[k + 1 : k + 2]))
            ):
                return k + 1
        return 0

    def read_runs(self, blocks: Iterable[list[str]], source: str) -> Iterator[Sentence | Corpus]:
        """As `read`, of lists of lines that arrived together, for those who want the tokens alone.

        Many sentences may come as one corpus."""
        return self.read(chain.from_iterable(blocks), source)

    def write(
        self,
        sentence: Sentence,
        labels: Sequence[str] | None = None,
        probabilities: Sequence[float] | None = None,
        comment: str | None = None,
    ) -> str:
        """The sentence as text that ends in a newline; "" for a sentence of another format without tokens.

        Without `labels`, a sentence of this format comes out as it was read, and one of another format with
        the labels that it was read with. With them, a label is added to every token (and its probability),
        and `comment` precedes the sentence.
        """
        _check_lengths(sentence, labels, probabilities, comment)
        return self.write_labelling(
            sentence, None if labels is None else Labelling(labels, probabilities, comment)
        )

    def write_labelling(self, sentence: Sentence, added: Labelling | None) -> str:
        """As `write`, with all that may be said of the labels."""
        try:
            if sentence.format != self.name:
                lines = self.compose(sentence, added) if len(sentence) else []
            elif added is None:
                lines = sentence.lines
            else:
                lines = self.annotate(sentence, added)
        except InputError as error:
            raise InputError(f"in the sentence of line {sentence.line}: {error}") from error
        return "\n".join(lines) + "\n" if lines else ""

    def begin_with(self, head: Iterable[str], source: str) -> None:
        """From now on, read what follows somewhere behind these first lines of a file; for most formats they
        make no difference."""
        return

    @abstractmethod
    def annotate(self, sentence: Sentence, added: Labelling) -> list[str]:
        """Lines of a sentence that was read in this format, with labels added."""

    @abstractmethod
    def compose(self, sentence: Sentence, added: Labelling | None) -> list[str]:
        """Lines of a sentence that was read in another format."""

    def check_writable(self, kind: str, values: Iterable[str], forbidden: str) -> None:
        """Values that would read back as something else are refused: empty, or with a forbidden character."""
        checked = self._writable.setdefault(forbidden, set())
        for value in set(values) - checked:
            if not value.strip(" ") or any(character in value for character in forbidden + "\0"):
                what = f"the {kind} {shortened(value)} cannot be written in the format {self.name}"
                raise InputError(f"{what}: use --to jsonl")
            if kind == "label":  # there are few labels, and many words
                checked.add(value)


def _check_lengths(
    sentence: Sentence,
    labels: Sequence[str] | None,
    probabilities: Sequence[float] | None,
    comment: str | None,
) -> None:
    if labels is None and not (probabilities is None and comment is None):
        raise ValueError("probabilities or a comment without labels: give the labels that they belong to")
    for name, values in (("labels", labels), ("probabilities", probabilities)):
        if values is not None and len(values) != len(sentence):
            raise ValueError(f"{len(values)} {name} for {len(sentence)} tokens: give one for each")


def is_blank(line: str) -> bool:
    return not line.strip(" \t\r")


def cut_return(line: str) -> tuple[str, str]:
    """The text of a line, and the "\\r" of a CRLF line end (or "")."""
    return (line[:-1], "\r") if line.endswith("\r") else (line, "")


def split_blanks(text: str) -> list[str]:
    """Tokens between runs of blanks and tabs; other white space (U+00A0, U+2028, …) is text."""
    return [token for token in text.replace("\t", " ").split(" ") if token]


def comment_line(comment: str) -> str:
    return "# " + re.sub(r"[\t\r\n]+", " ", comment)


def shortened(text: str, width: int = 40) -> str:
    """The text as an error message quotes it."""
    return repr(text if len(text) <= width else text[: width - 1] + "…")


# How a line begins that may be blank or open a paragraph; all others are plain text, which is quick to see.
UNSURE = frozenset(["", " ", "\t", "\r", "-"])


def paragraphs(
    lines: Iterable[str], opens: Callable[[str], bool] = lambda line: False
) -> Iterator[tuple[int, list[str]]]:
    """Lines up to the blank line after some text (or before a line that `opens`), with the first's number.

    Only lines that begin with `-` are asked whether they open a paragraph.
    """
    first, group, has_text = 1, list[str](), False
    for number, line in enumerate(lines, 1):
        if line[:1] not in UNSURE:
            group.append(line)
            has_text = True
            continue
        blank = is_blank(line)
        if group and opens(line):
            yield first, group
            first, group, has_text = number, [], False
        group.append(line)
        if blank and has_text:
            yield first, group
            first, group, has_text = number + 1, [], False
        has_text = has_text or not blank
    if group:
        yield first, group
