"""corate in a spaCy pipeline: the components `corate_ner` and `corate_tagger` (extra `corate[spacy]`).

    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    nlp.add_pipe("corate_ner", config={"model": "ner.model"})

spaCy finds them by their entry points: nothing has to be imported. `nlp.to_disk` keeps the model beside the
pipeline, so that `spacy.load` needs no other file.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from spacy.language import Language
from spacy.scorer import Scorer, get_ner_prf
from spacy.tokens import Doc, Span, Token

from corate.errors import InputError
from corate.models.registry import load
from corate.text.spans import detect_scheme, spans

GROUP = "corate_ner"  # of doc.spans: the entities, with attrs["scores"]
SCORES = "corate_tagger_scores"  # of doc.user_data: a number for each token
FILE = "model.corate"
BATCH = 256  # documents
UNIVERSAL = frozenset(
    "ADJ ADP ADV AUX CCONJ DET INTJ NOUN NUM PART PRON PROPN PUNCT SCONJ SYM VERB X".split()  # noqa: SIM905
)

Place = list[Token]  # the tokens of a sentence that are no blanks


class Component:
    """What both components share: the model, batches of documents, saving.

    A model of several columns is shown attributes of tokens in their place: `columns=["tag_"]`. Tokens of
    blanks are not shown to it. Sentences are those of the document, if something has set them.
    """

    def __init__(self, nlp: Language, name: str, model: str | None, columns: Sequence[str]) -> None:
        self.name, self.path, self.columns = name, model, list(columns)
        self._model: Any = None
        if model is not None and Path(model).exists():  # else it may come from spacy.load
            self.model = load(model)

    @property
    def model(self) -> Any:
        """The model of corate that labels, or None; any trained one may be set. spaCy looks at it, too."""
        return self._model

    @model.setter
    def model(self, model: Any) -> None:
        self._check(model)
        self._model = model

    def _needed(self) -> Any:
        if self._model is None:
            missing = f"{self.path}: no such file" if self.path else "it has no model"
            raise InputError(
                f'{self.name}: {missing}: give config={{"model": PATH}}, or set its attribute model'
            )
        return self._model

    def _check(self, model: Any) -> None:
        if not hasattr(model, "predict_with_probability"):
            raise InputError(f"{self.name}: {model!r:.60} is no model of sentences")

    @property
    def labels(self) -> tuple[str, ...]:
        return () if self._model is None else tuple(self._model.classes_)

    def __call__(self, doc: Doc) -> Doc:
        return next(self.pipe([doc]))

    def pipe(self, stream: Iterable[Doc], batch_size: int = BATCH, **_: Any) -> Iterator[Doc]:
        """Label documents, many at a time."""
        rest = iter(stream)
        while docs := [*islice(rest, batch_size)]:
            places = [_sentences(doc) for doc in docs]
            found = iter(
                self._needed().predict_with_probability(
                    [[self._token(token) for token in sentence] for each in places for sentence in each]
                )
            )
            for doc, each in zip(docs, places, strict=True):
                self._annotate(doc, [(sentence, next(found)) for sentence in each])
            yield from docs

    def _token(self, token: Token) -> str | tuple[str, ...]:
        if not self.columns:
            return str(token.text)
        return (token.text, *(getattr(token, name) or "_" for name in self.columns))

    def _annotate(self, doc: Doc, found: list[tuple[Place, list[tuple[str, float]]]]) -> None:
        raise NotImplementedError

    # On disk -----------------------------------------------------------------------------------------

    def to_disk(self, path: str | Path, exclude: Iterable[str] = ()) -> None:
        Path(path).mkdir(parents=True, exist_ok=True)
        self._needed().save(Path(path) / FILE)

    def from_disk(self, path: str | Path, exclude: Iterable[str] = ()) -> Component:
        self.model = load(Path(path) / FILE)
        return self

    def to_bytes(self, exclude: Iterable[str] = ()) -> bytes:
        with tempfile.TemporaryDirectory() as folder:
            self.to_disk(folder)
            return (Path(folder) / FILE).read_bytes()

    def from_bytes(self, data: bytes, exclude: Iterable[str] = ()) -> Component:
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / FILE).write_bytes(data)
            return self.from_disk(folder)


class NER(Component):
    """Sets `doc.ents`; `span._.corate_score` is the least probability of the labels of an entity's tokens.

    They are in `doc.spans["corate_ner"]` as well, with all scores in `.attrs["scores"]`, as spaCy's own span
    categoriser has them; these go through `doc.to_bytes`.
    """

    def _check(self, model: Any) -> None:
        super()._check(model)
        if detect_scheme({*model.classes_}) is None:
            some = ", ".join(map(repr, model.classes_[:3]))
            raise InputError(
                f"{self.name}: labels such as {some} are no spans (B-PER, O): take corate_tagger"
            )

    def _annotate(self, doc: Doc, found: list[tuple[Place, list[tuple[str, float]]]]) -> None:
        ents, scores = [], []
        for place, labelled in found:
            for span in spans([label for label, _ in labelled]):
                ents.append(Span(doc, place[span.start].i, place[span.end - 1].i + 1, label=span.type))
                scores.append(min(p for _, p in labelled[span.start : span.end]))
        doc.set_ents(ents)
        doc.spans[GROUP] = ents
        doc.spans[GROUP].attrs["scores"] = np.array(scores)

    def score(self, examples: Any, **_: Any) -> dict[str, Any]:
        return dict(get_ner_prf(examples))


class Tagger(Component):
    """Sets `token.tag_`, and `token.pos_` where the label is one of Universal Dependencies'.

    `token._.corate_score` is the label's probability; all of them are in `doc.user_data`.
    """

    def _annotate(self, doc: Doc, found: list[tuple[Place, list[tuple[str, float]]]]) -> None:
        scores = [1.0] * len(doc)
        for place, labelled in found:
            for token, (label, probability) in zip(place, labelled, strict=True):
                token.tag_, scores[token.i] = label, probability
                if label in UNIVERSAL:
                    token.pos_ = label
        doc.user_data[SCORES] = scores

    def score(self, examples: Any, **_: Any) -> dict[str, Any]:
        return dict(Scorer.score_token_attr(examples, "tag"))


def _sentences(doc: Doc) -> list[Place]:
    parts: Iterable[Any] = doc.sents if doc.has_annotation("SENT_START") else [doc]
    return [place for part in parts if (place := [token for token in part if not token.is_space])]


def _span_score(span: Span) -> float | None:
    group = span.doc.spans.get(GROUP, ())
    places = {(e.start, e.end, e.label): k for k, e in enumerate(group)}
    place = places.get((span.start, span.end, span.label))
    return None if place is None else float(group.attrs["scores"][place])


def _token_score(token: Token) -> float | None:
    scores = token.doc.user_data.get(SCORES)
    return None if scores is None else float(scores[token.i])


@Language.factory(
    "corate_ner",
    default_config={"model": None, "columns": []},
    assigns=["doc.ents", "token.ent_type", "token.ent_iob"],
    default_score_weights={"ents_f": 1.0, "ents_p": 0.0, "ents_r": 0.0},
)
def make_ner(nlp: Language, name: str, model: str | None, columns: list[str]) -> NER:
    """The component `corate_ner`, by a model of span labels (B-PER, I-PER, O).

    Examples
    --------
    >>> import corate, spacy
    >>> nlp = spacy.blank("en")
    >>> ner = nlp.add_pipe("corate_ner")
    >>> ner.model = corate.HMM().fit([["In", "Paris"], ["In", "a", "car"]], [["O", "B-LOC"], ["O", "O", "O"]])
    >>> [(ent.text, ent.label_) for ent in nlp("In Paris").ents]
    [('Paris', 'LOC')]
    """
    if not Span.has_extension("corate_score"):
        Span.set_extension("corate_score", getter=_span_score)
    return NER(nlp, name, model, columns)


@Language.factory(
    "corate_tagger",
    default_config={"model": None, "columns": []},
    assigns=["token.tag", "token.pos"],
    default_score_weights={"tag_acc": 1.0},
)
def make_tagger(nlp: Language, name: str, model: str | None, columns: list[str]) -> Tagger:
    """The component `corate_tagger`, by a model of parts of speech or other tags.

    Examples
    --------
    >>> import corate, spacy
    >>> nlp = spacy.blank("en")
    >>> tagger = nlp.add_pipe("corate_tagger")
    >>> tagger.model = corate.HMM().fit(*corate.load_sample())
    >>> [token.pos_ for token in nlp("the dog barks")]
    ['DET', 'NOUN', 'VERB']
    """
    if not Token.has_extension("corate_score"):
        Token.set_extension("corate_score", getter=_token_score)
    return Tagger(nlp, name, model, columns)
