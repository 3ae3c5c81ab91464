"""Answers: what a checked request becomes. Every function takes a served model and fields, and gives JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Any

from corate.counts.names import LABEL
from corate.errors import InputError, spoken
from corate.evaluation.audit import audit as find_suspects
from corate.evaluation.evaluate import evaluate as score
from corate.evaluation.queue import RANDOM_SHARE
from corate.evaluation.queue import suggest as queue
from corate.lattice.constraints import Constraints
from corate.models.base import Estimator
from corate.models.counted import CountedModel
from corate.text.corpus import UNLABELLED, Corpus
from corate.text.tokens import as_corpus
from corate.web.corrections import Record, Token, check_writable
from corate.web.reasons import compare
from corate.web.requests import Asked, Fields, TooLargeError, check_labels, shown
from corate.web.served import Learned, Served
from corate.web.trellis import trellis

SOURCES = ("page", "queue", "random", "audit", "api")  # who chose the sentence that was corrected
BATCH_TOKENS = 5_000  # that are labelled at a time where answers are streamed
MOST_SUSPECTS = 1_000
MOST_POINTS = 400  # of the curve


class NotAllowedError(InputError):
    """Learning where the server was not started with --learn."""


def shape(tokens: Sequence[Token]) -> list[Any]:
    """Tokens as JSON has them, and as models take them: strings, or lists of columns."""
    return [token[0] if len(token) == 1 else list(token) for token in tokens]


def words_of(sentences: Sequence[Asked]) -> list[list[Any]]:
    return [[token[0] if len(token) == 1 else token for token in sentence.tokens] for sentence in sentences]


# Look ------------------------------------------------------------------------------------------------


class Tagging:
    """A request for labels, checked; `batches` gives the answer piece by piece."""

    def __init__(self, served: Served, fields: Fields) -> None:
        self.model = served.current()
        self.sentences = fields.sentences(served.n_columns)
        self.nbest = fields.number("nbest", 0, 0, fields.limits.nbest)
        self.probabilities = fields.get("probabilities", bool, True)
        self.scheme, self.forced = fields.scheme(), fields.forced(self.sentences)
        fields.done()
        if self.forced or self.scheme:
            corpus = self.model._corpus(words_of(self.sentences))
            Constraints(self.forced, scheme=self.scheme).check(corpus, self.model.classes_)

    def batches(self) -> Iterator[list[dict[str, Any]]]:
        """Sentences with their labels, some thousand tokens at a time."""
        first = n_tokens = 0
        for last, sentence in enumerate(self.sentences, 1):
            n_tokens += len(sentence.tokens) * max(1, self.nbest)
            if n_tokens >= BATCH_TOKENS or last == len(self.sentences):
                yield self._tagged(first, last)
                first, n_tokens = last, 0

    def _tagged(self, first: int, last: int) -> list[dict[str, Any]]:
        sentences, X = self.sentences[first:last], words_of(self.sentences[first:last])
        constraints = None
        if self.forced or self.scheme:
            constraints = Constraints(self.forced[first:last], scheme=self.scheme)
        answers = [
            {"tokens": shape(s.tokens)} | ({} if s.labels is None else {"labels": s.labels})
            for s in sentences
        ]
        if self.probabilities:
            for answer, labelled in zip(
                answers, self.model.predict_with_probability(X, constraints), strict=True
            ):
                answer["predicted"] = [label for label, _ in labelled]
                answer["probabilities"] = [round(p, 4) for _, p in labelled]
        else:
            for answer, labels in zip(answers, self.model.predict(X, constraints), strict=True):
                answer["predicted"] = labels
        if self.nbest:
            for answer, ranked in zip(
                answers, self.model.predict_nbest(X, self.nbest, constraints), strict=True
            ):
                answer["nbest"] = [{"predicted": labels, "probability": p} for labels, p in ranked]
        return answers


def tag(served: Served, fields: Fields) -> dict[str, Any]:
    """Labels of sentences."""
    tagging = Tagging(served, fields)
    return {"model": served.name, "sentences": [s for batch in tagging.batches() for s in batch]}


# Explain ---------------------------------------------------------------------------------------------

MOST_EXPLAINED = 400  # tokens of a sentence


def explain(served: Served, fields: Fields) -> dict[str, Any]:
    """Why a word has its label, the trellis of its sentence, and the n best sequences."""
    sentences = fields.sentences(served.n_columns)
    if len(sentences) != 1 or not sentences[0].tokens:
        raise InputError('give one sentence with at least one token: "tokens": ["The", "dog"]')
    tokens, model = sentences[0].tokens, served.current()
    if len(tokens) > MOST_EXPLAINED:
        raise TooLargeError(
            f"{len(tokens):,} tokens: a sentence of at most {MOST_EXPLAINED} can be explained"
        )
    position = fields.number("position", 0, 0, len(tokens) - 1)
    forced = next(iter(fields.forced(sentences)), {})
    n = fields.number("nbest", 5, 1, fields.limits.nbest)
    fields.done()
    constraints = Constraints(forced=[forced]) if forced else None
    X = words_of(sentences)
    (labelled,) = model.predict_with_probability(X, constraints)
    (ranked,) = model.predict_nbest(X, n, constraints)
    return {
        "model": served.name,
        "tokens": shape(tokens),
        "predicted": [label for label, _ in labelled],
        "probabilities": [p for _, p in labelled],
        "position": position,
        "why": compare(model, tokens, position, forced),
        "nbest": [{"predicted": labels, "probability": p} for labels, p in ranked],
        "trellis": trellis(model, tokens, forced),
    }


# Learn -----------------------------------------------------------------------------------------------


def learn(served: Served, fields: Fields) -> dict[str, Any]:
    """Teach corrected sentences."""
    _check_learns(served)
    sentences = fields.sentences(served.n_columns, labelled=True)
    source = fields.choice("source", SOURCES) or "api"
    by, new_labels = fields.get("by", str, ""), fields.get("new_labels", bool, False)
    instead = fields.get("instead", list, [])
    fields.done()
    if not sentences or not all(sentence.tokens for sentence in sentences):
        raise InputError("there is nothing to learn: give sentences with tokens")
    if instead and len(sentences) != 1:
        raise InputError('"instead" goes with one sentence')
    if len(by) > 80:
        raise InputError('"by" is longer than 80 characters: give a short name')
    old = tuple(check_labels(instead, len(sentences[0].tokens))) if instead else None
    known = served.current().classes_
    for sentence in sentences:
        _check_labels(sentence, known, new_labels)
    about = {"source": source} | ({"by": by} if by else {})
    records = [
        Record("learn", tuple(s.tokens), tuple(s.labels or ()), instead=old, about=about) for s in sentences
    ]
    return _told(served, served.learn(records))


def forget(served: Served, fields: Fields) -> dict[str, Any]:
    """Take a correction back by its number, or sentences that the model was trained on."""
    _check_learns(served)
    if fields.has("id"):
        number = fields.number("id", 0, 1, 2**53)
        fields.done()
        return _told(served, served.undo(number))
    sentences = fields.sentences(served.n_columns, labelled=True)
    fields.done()
    if not sentences or not all(sentence.tokens for sentence in sentences):
        raise InputError("there is nothing to forget: give sentences with tokens")
    for sentence in sentences:
        check_writable(sentence.tokens, sentence.labels or [])
    records = [
        Record("forget", tuple(s.tokens), tuple(s.labels or ()), about={"source": "api"}) for s in sentences
    ]
    return _told(served, served.forget(records))


def _check_learns(served: Served) -> None:
    if not served.learns:
        raise NotAllowedError("this server only reads: start it with corate serve --learn")


def _check_labels(sentence: Asked, known: Sequence[str], new_labels: bool) -> None:
    labels = sentence.labels or []
    check_writable(sentence.tokens, labels)
    strange = next((y for y in labels if y != UNLABELLED and y not in known), None)
    if strange is not None and not new_labels:
        raise InputError(
            f'the model has no label {shown(strange)}: to teach a new one, add "new_labels": true'
        )
    if all(label == UNLABELLED for label in labels):
        raise InputError("no token has a label: there is nothing to learn")


def _told(served: Served, learned: Learned) -> dict[str, Any]:
    done = [
        {
            "id": record.id,
            "tokens": shape(record.tokens),
            "labels": list(record.labels),
            "before": before,
            "predicted": [label for label, _ in after],
            "probabilities": [round(p, 4) for _, p in after],
        }
        for record, before, after in zip(learned.records, learned.before, learned.after, strict=True)
    ]
    return {"model": served.name, "done": done, "corrections": served.corrections.last}


def corrections(served: Served, n: int = 200) -> dict[str, Any]:
    """What was taught and taken back, newest first, and how good the labels were before they were learned."""
    served.current()
    records = [record for _, record in sorted(served.corrections.records.items())]
    listed = [
        {
            "id": record.id,
            "op": record.op,
            "of": record.of,
            "undone": record.undone,
            "text": " ".join(token[0] for token in record.tokens[:40]),
            "labels": list(record.labels[:40]),
            "tokens": len(record.tokens),
            "instead": record.instead is not None,
            **{name: record.about.get(name) for name in ("time", "right", "source", "by")},
        }
        for record in reversed(records[-n:])
    ]
    return {"model": served.name, "total": len(records), "records": listed, "curve": curve(records)}


def curve(records: Sequence[Record]) -> list[dict[str, Any]]:
    """Prequential accuracy: of each sentence before it was learned, summed up so far, without undone ones."""
    stand = [
        r for r in records if r.op == "learn" and r.undone is None and isinstance(r.about.get("right"), int)
    ]
    right = [*accumulate(r.about["right"] for r in stand)]
    tokens = [*accumulate(len(r.tokens) for r in stand)]
    drawn = [r.about.get("source") == "random" for r in stand]
    right_drawn = [*accumulate(r.about["right"] * d for r, d in zip(stand, drawn, strict=True))]
    tokens_drawn = [*accumulate(len(r.tokens) * d for r, d in zip(stand, drawn, strict=True))]
    step = max(1, len(stand) // MOST_POINTS)
    return [
        {
            "sentences": k + 1,
            "accuracy": right[k] / tokens[k],
            "random": right_drawn[k] / tokens_drawn[k] if tokens_drawn[k] else None,
        }
        for k in range(len(stand))
        if (len(stand) - 1 - k) % step == 0
    ]


# Measure, order, audit -------------------------------------------------------------------------------


def evaluate(served: Served, fields: Fields) -> dict[str, Any]:
    """How good the labels of sentences are whose right labels are given."""
    sentences, scheme = fields.sentences(served.n_columns, labelled=True), fields.scheme()
    fields.done()
    if not any(y != UNLABELLED for sentence in sentences for y in sentence.labels or ()):
        raise InputError("no token has a label: there is nothing to compare with")
    model = served.current()
    predicted = model.predict(words_of(sentences), Constraints(scheme=scheme) if scheme else None)
    words = [[token[0] for token in sentence.tokens] for sentence in sentences]
    gold = [sentence.labels or [] for sentence in sentences]
    result = score(gold, predicted, words, model.known_words() or None)
    return {"model": served.name, **result.to_json()}


def suggest(served: Served, fields: Fields) -> dict[str, Any]:
    """The order in which to label sentences."""
    sentences = fields.sentences(served.n_columns)
    share, seed = fields.share("random_share", RANDOM_SHARE), fields.number("seed", 0, 0, 2**53)
    fields.done()
    order = queue(served.current(), words_of(sentences), share, seed)
    return {
        "model": served.name,
        "order": [{"sentence": s, "margin": margin, "random": drawn} for s, margin, drawn in order],
    }


def audit(served: Served, fields: Fields) -> dict[str, Any]:
    """Training sentences whose labels are likely wrong, the likeliest first."""
    sentences = fields.sentences(served.n_columns, labelled=True)
    n = fields.number("n", 200, 1, MOST_SUSPECTS)
    fields.done()
    model = served.current()
    if not isinstance(model, CountedModel):
        raise InputError(f"{spoken(model)} cannot subtract what it was trained on")
    sentences = [sentence for sentence in sentences if sentence.tokens]
    corpus = _learned(model, sentences)
    found = find_suspects(model, corpus)[:n]
    return {
        "model": served.name,
        "suspects": [
            {
                "sentence": s.sentence,
                "tokens": shape(sentences[s.sentence].tokens),
                "labels": s.labels,
                "predicted": s.predicted,
                "suspicion": s.suspicion,
                "by_token": [round(each, 3) for each in s.by_token],
            }
            for s in found
        ],
    }


def _learned(model: Estimator, sentences: Sequence[Asked]) -> Corpus:
    """The sentences as a corpus, if the model has learned them all."""
    assert isinstance(model, CountedModel)
    corpus = as_corpus(words_of(sentences), [list(s.labels or ()) for s in sentences])
    if model.ledger_ is not None and corpus.n_sentences:
        known = model.known(corpus)
        labelled = corpus.labelled()
        strange = [k for k in range(len(sentences)) if labelled[k] and not known[k]]
        if strange:
            text = " ".join(token[0] for token in sentences[strange[0]].tokens[:8])
            raise InputError(
                f"{len(strange):,} of {len(sentences):,} sentences were never learned with these labels, the "
                f"first of them {shown(text)}: an audit looks at what the model was trained on"
            )
    return corpus


def _frequent_first(model: Any) -> list[str]:
    """The labels, the most frequent one first where that is known: it gets a colour of its own."""
    table = model.counts_.tables.get(LABEL) if isinstance(model, CountedModel) else None
    if table is None:
        return list(model.classes_)
    times = dict(zip(table.field(0).tolist(), table.n.tolist(), strict=True))
    return [model.classes_[y] for y in sorted(range(len(model.classes_)), key=lambda y: -times.get(y, 0))]


def describe(served: Served) -> dict[str, Any]:
    """What there is to know of a model."""
    model: Any = served.current()
    counts = getattr(model, "counts_", None)
    return {
        "name": served.name,
        "kind": type(model).__name__,
        "labels": _frequent_first(model),
        "scheme": served.scheme,
        "columns": served.n_columns,
        "learns": served.learns,
        "sentences": None if counts is None else counts.n_sentences,
        "tokens": None if counts is None else counts.n_tokens,
        "corrections": served.corrections.last,
        "unsaved": served.unsaved,
        "trouble": served.trouble,
    }
