"""Plain text: a sentence a line, tokens separated by blanks and tabs. There is nothing to learn from it.

Labelled text is written as CoNLL columns, word and label.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from corate.errors import InputError
from corate.text.formats.base import Format, Labelling, Sentence, cut_return, split_blanks
from corate.text.formats.conll import Conll


class Text(Format):
    """Only for text that is still to be labelled (`labelled=False`)."""

    name = "text"
    line_by_line = True
    extensions = (".txt",)

    def __init__(self, label: str | None = None, *, labelled: bool = True) -> None:
        super().__init__(label, labelled=labelled)
        self.split: Callable[[str], list[str]] = split_blanks
        if labelled or label is not None:
            raise InputError("plain text has no labels: give another format with --format")

    def read(self, lines: Iterable[str], source: str, line: int = 1) -> Iterator[Sentence]:
        for number, text in enumerate(lines, line):
            words = self.split(cut_return(text)[0])
            yield Sentence([words] if words else [], None, [text], [0] * len(words), number, self.name)

    def annotate(self, sentence: Sentence, added: Labelling) -> list[str]:
        if not len(sentence):
            return []
        return Conll().compose(sentence, added)

    def compose(self, sentence: Sentence, added: Labelling | None) -> list[str]:
        if added is not None:
            return self.annotate(sentence, added)
        self.check_writable("word", sentence.words, " \t\r\n")
        return [" ".join(sentence.words)]
