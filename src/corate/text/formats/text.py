"""Plain text: a sentence a line, tokens separated by blanks and tabs. There is nothing to learn from it.

Labelled text is written as CoNLL columns, word and label.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from corate.errors import InputError
from corate.text.formats.base import Format, Labelling, Sentence, cut_return, split_blanks
from corate.text.formats.conll import Conll


class Text(Format):
    """Only for text that is still to be labelled (`labelled=False`)."""

    name = "text"
    extensions = (".txt",)

    def __init__(self, label: str | None = None, *, labelled: bool = True) -> None:
        super().__init__(label, labelled=labelled)
        if labelled or label is not None:
            raise InputError("plain text has no labels: give another format with --format")

    def read(self, lines: Iterable[str], source: str) -> Iterator[Sentence]:
        for number, line in enumerate(lines, 1):
            words = split_blanks(cut_return(line)[0])
            yield Sentence([words] if words else [], None, [line], [0] * len(words), number, self.name)

    def annotate(self, sentence: Sentence, added: Labelling) -> list[str]:
        if not len(sentence):
            return []
        return Conll().compose(sentence, added)

    def compose(self, sentence: Sentence, added: Labelling | None) -> list[str]:
        if added is not None:
            return self.annotate(sentence, added)
        self.check_writable("word", sentence.words, " \t\r\n")
        return [" ".join(sentence.words)]
