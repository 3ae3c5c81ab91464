"""seqeval's functions by corate's evaluation: the same figures and the same text.

`mode="strict"` reads spans by the letter of a scheme ("IOB1", "IOB2", "IOBES", "BILOU"; found where none is
named), otherwise as conlleval does.
"""

from __future__ import annotations

from collections.abc import Sequence

from corate.errors import InputError
from corate.evaluation.evaluate import Evaluation, evaluate
from corate.evaluation.report import seqeval_report
from corate.text.spans import detect_scheme

Sentences = Sequence[Sequence[str]]


def classification_report(
    y_true: Sentences,
    y_pred: Sentences,
    *,
    digits: int = 2,
    mode: str | None = None,
    scheme: str | None = None,
) -> str:
    """Precision, recall and F1 of each type of span, and their averages.

    >>> print(classification_report([["B-PER", "O", "B-LOC"]], [["B-PER", "O", "O"]]))
                  precision    recall  f1-score   support
    <BLANKLINE>
             LOC       0.00      0.00      0.00         1
             PER       1.00      1.00      1.00         1
    <BLANKLINE>
       micro avg       1.00      0.50      0.67         2
       macro avg       0.50      0.50      0.50         2
    weighted avg       0.50      0.50      0.50         2
    <BLANKLINE>
    """
    return seqeval_report(_evaluated(y_true, y_pred, mode, scheme), digits)


def precision_score(
    y_true: Sentences, y_pred: Sentences, *, mode: str | None = None, scheme: str | None = None
) -> float:
    """The share of predicted spans that are right."""
    return _evaluated(y_true, y_pred, mode, scheme).precision or 0.0


def recall_score(
    y_true: Sentences, y_pred: Sentences, *, mode: str | None = None, scheme: str | None = None
) -> float:
    """The share of spans that were found."""
    return _evaluated(y_true, y_pred, mode, scheme).recall or 0.0


def f1_score(
    y_true: Sentences, y_pred: Sentences, *, mode: str | None = None, scheme: str | None = None
) -> float:
    """F1 of all spans together.

    >>> f1_score([["B-PER", "O", "B-LOC"]], [["B-PER", "O", "O"]])
    0.6666666666666666
    """
    return _evaluated(y_true, y_pred, mode, scheme).f1 or 0.0


def accuracy_score(y_true: Sentences, y_pred: Sentences) -> float:
    """The share of tokens that are right."""
    return evaluate(y_true, y_pred, scheme=None).accuracy


def _evaluated(y_true: Sentences, y_pred: Sentences, mode: str | None, scheme: str | None) -> Evaluation:
    if mode not in (None, "strict"):
        raise InputError(f'mode={mode!r}: choose None or "strict"')
    if mode is None:
        return evaluate(y_true, y_pred)
    return evaluate(y_true, y_pred, scheme=scheme or detect_scheme(y_true) or "IOB2")
