"""How good are the labels: token accuracy, spans as conlleval reads them, confusions.

    labels ──► spans ──► Score (correct, predicted, support) ──► Evaluation ──► conlleval text, JSON

All rates are fractions between 0 and 1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from operator import eq
from typing import Any

from corate.errors import InputError
from corate.evaluation import report
from corate.text.corpus import UNLABELLED
from corate.text.spans import Span, detect_scheme, spans

Sentences = Sequence[Sequence[str]]


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole else 0.0


@dataclass(frozen=True)
class Score:
    """Of `support` in the gold labels and `predicted` ones, `correct` agree."""

    correct: int
    predicted: int
    support: int

    @property
    def precision(self) -> float:
        return _ratio(self.correct, self.predicted)

    @property
    def recall(self) -> float:
        return _ratio(self.correct, self.support)

    @property
    def f1(self) -> float:
        return _ratio(2 * self.correct, self.predicted + self.support)

    def to_json(self) -> dict[str, float]:
        names = ("precision", "recall", "f1", "support", "predicted", "correct")
        return {name: getattr(self, name) for name in names}


@dataclass(frozen=True)
class Evaluation:
    """What `evaluate` found; a rate that does not apply, or that has no tokens, is None.

    Attributes
    ----------
    tokens, sentences : int
        How many were compared.
    accuracy, accuracy_known, accuracy_unknown : float
        Share of tokens labelled right: of all, of words that training had, and of words that it had not.
    unknown_rate : float
        Share of tokens whose word training had not.
    sentence_accuracy : float
        Share of sentences without any error.
    scheme, spans : str, Score
        How spans are written, and the score of all spans; None where the labels are plain tags, and with
        them precision, recall and f1.
    strict : bool
        Whether spans were read by the letter of the scheme, or as conlleval does.
    by_type, by_label : dict of Score
        The scores of each type of span, and of each label.
    confusion : dict
        How often a pair (gold label, predicted label) occurred.
    """

    tokens: int
    sentences: int
    accuracy: float
    accuracy_known: float | None
    accuracy_unknown: float | None
    unknown_rate: float | None
    sentence_accuracy: float
    scheme: str | None
    strict: bool
    spans: Score | None
    by_type: dict[str, Score]
    by_label: dict[str, Score]
    confusion: dict[tuple[str, str], int]

    @property
    def precision(self) -> float | None:
        """Of the spans that were found, the share that is right."""
        return None if self.spans is None else self.spans.precision

    @property
    def recall(self) -> float | None:
        """Of the spans that are there, the share that was found."""
        return None if self.spans is None else self.spans.recall

    @property
    def f1(self) -> float | None:
        """The harmonic mean of both."""
        return None if self.spans is None else self.spans.f1

    def confusions(self, n: int = 10) -> list[tuple[str, str, int]]:
        """The n most frequent errors: gold label, predicted label, how often."""
        errors = [(gold, label, count) for (gold, label), count in self.confusion.items() if gold != label]
        return sorted(errors, key=lambda error: (-error[2], error))[:n]

    def __str__(self) -> str:
        """The tables that `corate eval` prints."""
        return report.as_text(self)

    def _repr_html_(self) -> str:
        return report.as_html(self)

    def to_frame(self) -> Any:
        """A pandas DataFrame with a row for each type of span, or for each label where labels are plain tags:
        precision, recall, f1, support, predicted, correct."""
        return report.as_frame(self)

    def confusion_frame(self) -> Any:
        """A pandas DataFrame: how often each gold label (row) was labelled as each other one (column)."""
        return report.confusion_frame(self)

    def to_json(self) -> dict[str, Any]:
        """All of it as `corate eval --json` prints it."""
        names = ["tokens", "sentences", "accuracy", "accuracy_known", "accuracy_unknown", "unknown_rate"]
        names += ["sentence_accuracy"]
        if self.spans is not None:
            names += ["scheme", "strict", "precision", "recall", "f1"]
        title, scores = ("by_label", self.by_label) if self.spans is None else ("by_type", self.by_type)
        table = {name: score.to_json() for name, score in scores.items()}
        confusion: dict[str, dict[str, int]] = {}
        for (gold, label), count in sorted(self.confusion.items()):
            confusion.setdefault(gold, {})[label] = count
        return {name: getattr(self, name) for name in names} | {title: table, "confusion": confusion}


def evaluate(
    gold: Sentences,
    predicted: Sentences,
    words: Sentences | None = None,
    known: Container[str] | None = None,
    scheme: str | None = "auto",
) -> Evaluation:
    """Compare predicted labels with gold ones.

    Parameters
    ----------
    gold, predicted : list of list of str
        Labels of sentences. Tokens whose gold label is `_` do not count.
    words, known : list of list of str, set of str
        The words, and those of them that training has seen, to tell known from unknown words.
    scheme : str or None
        "auto" detects span labels and reads them as conlleval; "IOB1", "IOB2", "IOBES" or "BILOU" reads them
        by the letter of that scheme; None takes all labels as plain tags.

    Examples
    --------
    >>> result = evaluate([["B-PER", "O", "B-LOC"]], [["B-PER", "O", "O"]])
    >>> result.precision, result.recall, result.by_type["LOC"]
    (1.0, 0.5, Score(correct=0, predicted=0, support=1))
    """
    others = {"predicted labels": predicted} | ({} if words is None else {"words": words})
    gold, predicted, *rest = labelled_parts(gold, others)
    words = rest[0] if rest else None
    confusion = Counter(zip(chain.from_iterable(gold), chain.from_iterable(predicted), strict=True))
    _check_strings(chain.from_iterable(confusion))
    strict = scheme not in ("auto", None)
    if scheme == "auto":
        scheme = detect_scheme(gold) or detect_scheme(predicted)
    by_type = {} if scheme is None else _span_scores(gold, predicted, scheme if strict else None)
    tokens = confusion.total()
    return Evaluation(
        tokens=tokens,
        sentences=len(gold),
        accuracy=_ratio(_diagonal(confusion), tokens),
        **_known_and_unknown(gold, predicted, words, known),
        sentence_accuracy=_ratio(sum(map(_all_equal, gold, predicted)), len(gold)),
        scheme=scheme,
        strict=strict,
        spans=None if scheme is None else _total(by_type.values()),
        by_type=by_type,
        by_label=_label_scores(confusion),
        confusion=dict(confusion),
    )


def labelled_parts(gold: Sentences, others: dict[str, Sentences]) -> list[Sentences]:
    """Gold labels and others by what they are, all without the tokens that have no gold label."""
    for what, other in others.items():
        _check_aligned(gold, other, what)
    if not any(UNLABELLED in labels for labels in gold):
        return [gold, *others.values()]
    runs = [_labelled_runs(labels) for labels in gold]
    return [_parts(sentences, runs) for sentences in (gold, *others.values())]


def _labelled_runs(labels: Sequence[str]) -> list[tuple[int, int]]:
    """Where the labels of a sentence are known; such a part counts as a sentence."""
    ends = [-1, *(i for i, label in enumerate(labels) if label == UNLABELLED), len(labels)]
    return [(a + 1, b) for a, b in pairwise(ends) if a + 1 < b]


def _parts(sentences: Sentences, runs: Sequence[Sequence[tuple[int, int]]]) -> Sentences:
    return [row[a:b] for row, cuts in zip(sentences, runs, strict=True) for a, b in cuts]


def _check_aligned(gold: Sentences, other: Sentences, what: str) -> None:
    if len(gold) != len(other):
        raise InputError(f"the number of sentences differs (gold labels: {len(gold)}, {what}: {len(other)})")
    for number, (left, right) in enumerate(zip(gold, other, strict=True), 1):
        where = f"sentence {number} of {len(gold)}"
        for sentence in (left, right):
            if isinstance(sentence, str):
                raise InputError(f"{where} is the string {sentence!r}: pass a list of strings per sentence")
        if len(left) != len(right):
            raise InputError(
                f"the length of {where} differs (gold labels: {len(left)}, {what}: {len(right)})"
            )


def _check_strings(labels: Iterable[object]) -> None:
    for label in labels:
        if not isinstance(label, str):
            raise InputError(f"label {label!r} is of type {type(label).__name__}: pass labels as strings")


def _all_equal(left: Sequence[str], right: Sequence[str]) -> bool:
    return all(map(eq, left, right))


def _diagonal(confusion: dict[tuple[str, str], int]) -> int:
    return sum(count for (gold, label), count in confusion.items() if gold == label)


def _total(scores: Iterable[Score]) -> Score:
    columns = [(score.correct, score.predicted, score.support) for score in scores]
    return Score(*map(sum, zip(*columns, strict=True))) if columns else Score(0, 0, 0)


def _scores(correct: Counter[str], predicted: Counter[str], support: Counter[str]) -> dict[str, Score]:
    names = sorted(predicted.keys() | support.keys())
    return {name: Score(correct[name], predicted[name], support[name]) for name in names}


def _label_scores(confusion: dict[tuple[str, str], int]) -> dict[str, Score]:
    correct, predicted, support = Counter[str](), Counter[str](), Counter[str]()
    for (gold, label), count in confusion.items():
        support[gold] += count
        predicted[label] += count
        if gold == label:
            correct[gold] += count
    return _scores(correct, predicted, support)


def _span_scores(gold: Sentences, predicted: Sentences, scheme: str | None) -> dict[str, Score]:
    gold_spans, predicted_spans = span_sets(gold, scheme), span_sets(predicted, scheme)
    correct = map(set.intersection, gold_spans, predicted_spans)
    return _scores(_types(correct), _types(predicted_spans), _types(gold_spans))


def span_sets(sentences: Sentences, scheme: str | None) -> list[set[Span]]:
    return [set(spans(labels, scheme)) for labels in sentences]


def _types(span_sets: Iterable[set[Span]]) -> Counter[str]:
    return Counter(span.type for span in chain.from_iterable(span_sets))


def _known_and_unknown(
    gold: Sentences, predicted: Sentences, words: Sentences | None, known: Container[str] | None
) -> dict[str, float | None]:
    right, total = {True: 0, False: 0}, {True: 0, False: 0}
    if words is not None and known is not None:
        hits = map(eq, chain.from_iterable(gold), chain.from_iterable(predicted))
        for (word, hit), count in Counter(zip(chain.from_iterable(words), hits, strict=True)).items():
            is_known = word in known
            total[is_known] += count
            right[is_known] += count if hit else 0
    tokens = sum(total.values())
    return {
        "accuracy_known": right[True] / total[True] if total[True] else None,
        "accuracy_unknown": right[False] / total[False] if total[False] else None,
        "unknown_rate": total[False] / tokens if tokens else None,
    }


def conlleval(evaluation: Evaluation) -> str:
    """The report of conlleval.pl, without its last line break."""
    total, tokens = evaluation.spans, evaluation.tokens
    if total is None:
        raise InputError("conlleval reports on spans, but these labels are plain tags, not like B-PER or O")
    phrases = f"{total.support} phrases; found: {total.predicted} phrases; correct: {total.correct}."
    lines = [f"processed {tokens} tokens with {phrases}"]
    if tokens:
        accuracy = 100 * _diagonal(evaluation.confusion) / tokens
        lines.append(f"accuracy: {accuracy:6.2f}%; {_percentages(total)}")
    for name, score in evaluation.by_type.items():
        lines.append(f"{name:>17}: {_percentages(score)}  {score.predicted}")
    return "\n".join(lines)


def _percentages(score: Score) -> str:
    # In the order of conlleval.pl's own arithmetic, so that the second decimal is rounded as there.
    precision = _ratio(100 * score.correct, score.predicted)
    recall = _ratio(100 * score.correct, score.support)
    f1 = _ratio(2 * precision * recall, precision + recall)
    return f"precision: {precision:6.2f}%; recall: {recall:6.2f}%; FB1: {f1:6.2f}"
