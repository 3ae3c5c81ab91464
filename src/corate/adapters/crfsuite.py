"""sklearn-crfsuite's names: `CRF` and the functions of `sklearn_crfsuite.metrics`.

A script changes its imports:

    import sklearn_crfsuite                        from corate.adapters import crfsuite as sklearn_crfsuite
    from sklearn_crfsuite import metrics           from corate.adapters import crfsuite as metrics

| sklearn-crfsuite                             | corate                                          |
|----------------------------------------------|-------------------------------------------------|
| `CRF(c1, c2, all_possible_transitions, …)`   | `LinearChainCRF(c1, c2, all_transitions, …)`    |
| `predict_single`, `predict_marginals_single` | the same, of every model                        |
| `predict_marginals(X)`                       | `predict_marginals(X, all_labels=True)`         |
| `transition_features_`, `state_features_`    | the same; of models that count `explain(tokens)` |
| `classes_`, `training_log_`                  | the same; the log is a list of dicts            |
| `metrics.flat_f1_score(y, p, average=…)`     | here; or `corate.evaluation.evaluate.evaluate`  |
| pickle                                       | `save(path)`, `corate.load(path)`               |

The metrics are scikit-learn's, over the labels of all sentences (`pip install 'corate[sklearn]'`).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

from corate.errors import InputError

if TYPE_CHECKING:
    from corate.models.loglinear.crf import LinearChainCRF

Sentences = Sequence[Sequence[str]]
NOT_HERE = {"pa": "ap", "arow": "ap"}  # algorithms of CRFsuite, and the nearest here
MANY = 1_000_000  # iterations; CRFsuite has no limit unless one is given


def CRF(  # noqa: N802 - sklearn-crfsuite's name
    algorithm: str | None = None,
    min_freq: float = 0,
    all_possible_states: bool = False,
    all_possible_transitions: bool = False,
    c1: float = 0.0,
    c2: float = 1.0,
    max_iterations: int | None = None,
    delta: float = 1e-5,
    verbose: bool = False,
) -> LinearChainCRF:
    """The `LinearChainCRF` that `sklearn_crfsuite.CRF` of these parameters is.

    Features that are numbers are bins here, as `{"length": 7}`; CRFsuite takes them for weights.

    Parameters
    ----------
    algorithm : "lbfgs" (None), "l2sgd" or "ap".
    min_freq : 0; rare attributes are not left out.
    all_possible_states, all_possible_transitions : features for all labels, and for all pairs of them.
    c1, c2 : penalties on the absolute values and on the squares of weights.
    max_iterations : None is until the search ends.
    delta : it ends when ten iterations have gained less than this part of the objective.
    verbose : not looked at: `fit(…, progress=print)` prints every iteration.

    Examples
    --------
    >>> from corate.adapters import crfsuite
    >>> crf = crfsuite.CRF(algorithm="lbfgs", c1=0.1, c2=0.1, all_possible_transitions=True)
    >>> crf
    LinearChainCRF(c2=0.1, max_iterations=1000000, all_transitions=True, numbers='bin', c1=0.1)
    >>> crf.fit([[{"bias": 1.0, "word": "the"}, {"bias": 1.0, "word": "dog"}]], [["DET", "NOUN"]]).classes_
    ['DET', 'NOUN']
    """
    from corate.models.loglinear.crf import LinearChainCRF

    name = algorithm or "lbfgs"
    if name in NOT_HERE:
        raise InputError(f"algorithm={name!r} is CRFsuite's alone: the nearest here is {NOT_HERE[name]!r}")
    if min_freq:
        raise InputError(f"min_freq={min_freq!r}: corate leaves no attribute out; raise c1 for fewer weights")
    return LinearChainCRF(
        name,
        c1=c1,
        c2=c2,
        max_iterations=MANY if max_iterations is None else max_iterations,
        tolerance=delta,
        all_states=all_possible_states,
        all_transitions=all_possible_transitions,
        numbers="bin",
    )


def flat_accuracy_score(y_true: Sentences, y_pred: Sentences) -> float:
    """The share of tokens that are right."""
    return float(_flat("accuracy_score", y_true, y_pred))


def flat_precision_score(y_true: Sentences, y_pred: Sentences, **options: Any) -> Any:
    """`sklearn.metrics.precision_score` of all tokens; options such as `average` and `labels` are its own."""
    return _flat("precision_score", y_true, y_pred, **options)


def flat_recall_score(y_true: Sentences, y_pred: Sentences, **options: Any) -> Any:
    """`sklearn.metrics.recall_score` of all tokens."""
    return _flat("recall_score", y_true, y_pred, **options)


def flat_f1_score(y_true: Sentences, y_pred: Sentences, **options: Any) -> Any:
    """`sklearn.metrics.f1_score` of all tokens.

    >>> flat_f1_score([["A", "B"], ["A"]], [["A", "A"], ["A"]], average="micro")
    0.6666666666666666
    """
    return _flat("f1_score", y_true, y_pred, **options)


def flat_fbeta_score(y_true: Sentences, y_pred: Sentences, beta: float, **options: Any) -> Any:
    """`sklearn.metrics.fbeta_score` of all tokens."""
    return _flat("fbeta_score", y_true, y_pred, beta=beta, **options)


def flat_classification_report(
    y_true: Sentences, y_pred: Sentences, labels: Sequence[str] | None = None, **options: Any
) -> Any:
    """`sklearn.metrics.classification_report` of all tokens."""
    return _flat("classification_report", y_true, y_pred, labels=labels, **options)


def sequence_accuracy_score(y_true: Sentences, y_pred: Sentences) -> float:
    """The share of sentences in which all is right.

    >>> sequence_accuracy_score([["A", "B"], ["A"]], [["A", "A"], ["A"]])
    0.5
    """
    _check(y_true, y_pred)
    right = [list(gold) == list(labels) for gold, labels in zip(y_true, y_pred, strict=True)]
    return sum(right) / len(right) if right else 0.0


def _flat(metric: str, y_true: Sentences, y_pred: Sentences, **options: Any) -> Any:
    from sklearn import metrics

    _check(y_true, y_pred)
    return getattr(metrics, metric)([*chain(*y_true)], [*chain(*y_pred)], **options)


def _check(y_true: Sentences, y_pred: Sentences) -> None:
    """Sentences that differ in length would be compared one token beside the other."""
    if [*map(len, y_true)] != [*map(len, y_pred)]:
        raise InputError("y_true and y_pred have other numbers of labels: give one label list a sentence")
