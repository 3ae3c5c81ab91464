"""Sentences → their text with labels: what `corate tag` does to each part of a text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from corate.cli.common import valid_spans
from corate.cli.logs import LOG
from corate.cli.text_options import n_columns
from corate.errors import ConstraintError, InputError

if TYPE_CHECKING:
    from corate.text.formats import Format, Reader, Sentence
    from corate.text.formats.base import Labelling


class Done(NamedTuple):
    """A part of the output."""

    text: str
    n_tokens: int
    n_bad: int = 0  # lines that were passed over


class Labeller:
    """The best labels, these with probabilities, or the n best, in the format of the output."""

    def __init__(
        self,
        crf: Any,
        reader: Reader,
        writer: Format,
        marginals: bool = False,
        all_marginals: bool = False,
        probability: bool = False,
        nbest: int | None = None,
        valid: str | None = None,
    ) -> None:
        self.crf, self.reader, self.writer, self.nbest = crf, reader, writer, nbest
        self.marginals, self.all_marginals = marginals or all_marginals, all_marginals
        # CRF++ writes it with the probabilities of labels, and for each of the n best.
        self.probability = probability or (self.marginals and writer.name == "crfpp")
        self.constraints = valid_spans(valid)
        self.look: Callable[[list[Sentence]], object] | None = None  # at the first sentences with a token
        self._n_bad = 0

    def pass_over(self, error: InputError) -> None:
        """Say and count what is wrong with a line, of which nothing is written."""
        LOG.warning("%s: skipped", error)
        self._n_bad += 1

    def __call__(self, part: tuple[int, list[str]]) -> Done:
        return self.done(self.read(part))

    def read(self, part: tuple[int, list[str]]) -> list[Sentence]:
        line, lines = part
        return list(self.reader.format.read(lines, self.reader.source, line))

    def each(self, sentences: Iterable[Sentence]) -> Iterator[Done]:
        """One by one, as they come."""
        for sentence in sentences:
            yield self.done([sentence])
        yield self.done([])

    def done(self, sentences: Sequence[Sentence]) -> Done:
        if self.look is not None and any(map(len, sentences)):
            self.look([sentence for sentence in sentences if len(sentence)])
            self.look = None
        n_bad, self._n_bad = self._n_bad, 0
        return Done("".join(self._texts(sentences)), sum(map(len, sentences)), n_bad)

    def _texts(self, sentences: Sequence[Sentence]) -> Iterator[str]:
        from corate.text.corpus import Corpus

        X: Any = Corpus.from_sentences(sentences, keep_empty=True)
        if any(sentence.features is not None for sentence in sentences):
            X = [sentence.features or [] for sentence in sentences]
        try:
            if self.nbest is not None or self.probability or self.all_marginals:
                return self._ranked(sentences, X)
            if self.marginals:
                tokens = self.crf.predict_with_probability(X, self.constraints)
                return self._with_probabilities(sentences, tokens)
            return map(self.writer.write, sentences, self.crf.predict(X, self.constraints))
        except ConstraintError as error:
            line = sentences[error.sentence].line
            what = "no label sequence satisfies the constraints"
            raise InputError(what, self.reader.source, line) from error

    def _with_probabilities(
        self, sentences: Sequence[Sentence], labelled: list[list[tuple[str, float]]]
    ) -> Iterator[str]:
        for sentence, tokens in zip(sentences, labelled, strict=True):
            yield self.writer.write(sentence, [y for y, _ in tokens], [p for _, p in tokens])

    def _ranked(self, sentences: Sequence[Sentence], X: Any) -> Iterator[str]:
        every = self.crf.predict_nbest(X, self.nbest or 1, self.constraints)
        marginals = self.crf.predict_marginals(X, self.constraints) if self.marginals else [None] * len(every)
        return self._written(sentences, every, marginals)

    def _written(
        self,
        sentences: Sequence[Sentence],
        every: list[list[tuple[list[str], float]]],
        marginals: Sequence[list[dict[str, float]] | None],
    ) -> Iterator[str]:
        for sentence, ranked, chances in zip(sentences, every, marginals, strict=True):
            if not len(sentence):
                yield self.writer.write(sentence, [])
                continue
            for rank, (labels, probability) in enumerate(ranked, 1):
                text = self.writer.write_labelling(
                    sentence, self._labelling(rank, labels, probability, chances)
                )
                # The last sentence of a file may lack the blank line that keeps its copies apart.
                apart = self.nbest is None or self.writer.line_by_line or text.endswith(("\n\n", "\n\r\n"))
                yield text if apart else text + "\n"

    def _labelling(
        self, rank: int, labels: list[str], probability: float, chances: list[dict[str, float]] | None
    ) -> Labelling:
        from corate.text.formats.base import Labelling

        each = None if chances is None else [p.get(y, 0.0) for y, p in zip(labels, chances, strict=True)]
        every = None
        if chances is not None and self.all_marginals:
            every = [{y: p.get(y, 0.0) for y in self.crf.classes_} for p in chances]
        shown = probability if self.probability or self.nbest is not None else None
        return Labelling(labels, each, None, every, shown, None if self.nbest is None else rank)


def tell_of_old_labels(model: Any, sentences: Sequence[Sentence], source: str) -> None:
    """A last column that the model looks at, and that has labels such as it gives: is it to be looked at?"""
    width = len(sentences[0].columns)
    if not 1 < width <= n_columns(model):
        return
    last = [cell for sentence in sentences for cell in sentence.columns[-1]]
    if 2 * sum(cell in {*model.classes_} for cell in last) > len(last):
        LOG.warning(
            "%s: column %d has labels that the model gives (%s), and is read as what it looks at: "
            "--label %d if it is an old label",
            *(source, width, last[0], width),
        )


def hint_at_marks(model: Any, sentences: Sequence[Sentence], reader: Reader) -> None:
    """Plain text in which many words end in marks that training had apart."""
    from corate.text.tokenise import HINT_SHARE, glued

    if reader.format.name != "text":
        return
    words = [word for sentence in sentences for word in sentence.words]
    found = glued(words, model.known_words())
    if len(found) > HINT_SHARE * len(words):
        LOG.warning(
            "%s: %d of %d tokens end in punctuation that training had apart, such as %r: "
            "--tokenise cuts it off",
            *(reader.source, len(found), len(words), found[0]),
        )
