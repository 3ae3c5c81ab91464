"""`word/tag`, as in the Brown corpus: a sentence a line, the tag after the last slash.

The/at jury/nn said/vbd 1/2/cd ./.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from corate.errors import InputError
from corate.text.formats.base import Format, Labelling, Sentence, cut_return, shortened, split_blanks


class WordTag(Format):
    """The label always follows the slash: `label` is not used."""

    name = "wordtag"
    line_by_line = True
    extensions = ()

    def __init__(self, label: str | None = None, *, labelled: bool = True) -> None:
        super().__init__(label, labelled=labelled)
        if label is not None:
            raise InputError(
                f"label {label!r}: in word/tag text the label follows the slash, leave --label out"
            )

    def read(self, lines: Iterable[str], source: str, line: int = 1) -> Iterator[Sentence]:
        for number, text in enumerate(lines, line):
            tokens = split_blanks(cut_return(text)[0])
            labels = None
            if self.labelled:
                words, labels = _parted(tokens, source, number)
            else:
                words = [_untagged(token) for token in tokens]
            yield Sentence([words] if words else [], labels, [text], [0] * len(words), number, self.name)

    def annotate(self, sentence: Sentence, added: Labelling) -> list[str]:
        if not len(sentence):
            return sentence.lines
        line = self.compose(sentence, added)[0]
        return [line + cut_return(sentence.lines[0])[1]]

    def compose(self, sentence: Sentence, added: Labelling | None) -> list[str]:
        if added is not None and added != Labelling(added.labels):
            raise InputError(
                "word/tag text has no place for probabilities or comments: use --to conll or jsonl"
            )
        labels = sentence.labels if added is None else added.labels
        if labels is None:
            raise InputError("word/tag text needs labels: use --to text")
        self.check_writable("word", sentence.words, " \t\r\n")
        self.check_writable("label", labels, " \t\r\n/")
        return [" ".join(f"{word}/{label}" for word, label in zip(sentence.words, labels, strict=True))]


def _parted(tokens: list[str], source: str, line: int) -> tuple[list[str], list[str]]:
    words: list[str] = []
    tags: list[str] = []
    for token in tokens:
        word, slash, tag = token.rpartition("/")
        if not (word and tag):
            problem = "an empty tag" if word else "an empty word" if slash else "no slash"
            raise InputError(f"the token {shortened(token)} has {problem}: expected word/tag", source, line)
        words.append(word)
        tags.append(tag)
    return words, tags


def _untagged(token: str) -> str:
    word, _, tag = token.rpartition("/")
    return word if word and tag else token
