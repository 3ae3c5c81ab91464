"""sklearn-crfsuite's tutorial, with sklearn-crfsuite and with corate side by side.

Own features, a CRF with L1 and L2 penalties, F1 by label, what the model has learned, single sentences,
marginals. The corpus is the one that comes with corate (parts of speech), so that it runs in seconds.

    pip install 'corate[sklearn]' sklearn-crfsuite
    python examples/sklearn_crfsuite_tutorial.py
"""

from __future__ import annotations

import warnings
from collections import Counter
from itertools import chain
from typing import Any

import sklearn_crfsuite
from sklearn_crfsuite import metrics as their_metrics

import corate
from corate.adapters import crfsuite

TRAIN = 300  # sentences; the rest is for testing
OPTIONS: dict[str, Any] = {"c1": 0.1, "c2": 0.1, "max_iterations": 100, "all_possible_transitions": True}


def features(words: list[str], i: int) -> dict[str, Any]:
    """What is known of a word and of its neighbours."""
    word = words[i]
    found = {
        "bias": 1.0,
        "word.lower()": word.lower(),
        "word[-3:]": word[-3:],
        "word[-2:]": word[-2:],
        "word.isupper()": word.isupper(),
        "word.istitle()": word.istitle(),
        "word.isdigit()": word.isdigit(),
    }
    found |= {"-1:word.lower()": words[i - 1].lower()} if i else {"BOS": True}
    found |= {"+1:word.lower()": words[i + 1].lower()} if i < len(words) - 1 else {"EOS": True}
    return found


def fitted(crf: Any, X: Any, y: Any) -> Any:
    with warnings.catch_warnings():  # a hundred iterations do not quite suffice: corate says so
        warnings.simplefilter("ignore", corate.ConvergenceWarning)
        return crf.fit(X, y)


def agreement(ours: list[list[str]], theirs: list[list[str]]) -> float:
    pairs = [*zip(chain(*ours), chain(*theirs), strict=True)]
    return sum(a == b for a, b in pairs) / len(pairs)


def main() -> None:
    sentences, y = corate.load_sample()
    X = [[features(words, i) for i in range(len(words))] for words in sentences]
    theirs = fitted(sklearn_crfsuite.CRF(algorithm="lbfgs", **OPTIONS), X[:TRAIN], y[:TRAIN])
    ours = fitted(crfsuite.CRF(algorithm="lbfgs", **OPTIONS), X[:TRAIN], y[:TRAIN])

    test, gold = X[TRAIN:], y[TRAIN:]
    labels = sorted(ours.classes_)
    assert labels == sorted(theirs.classes_)
    their_labels = [list(labels) for labels in theirs.predict(test)]
    our_labels = ours.predict(test)
    f1 = {
        "sklearn-crfsuite": their_metrics.flat_f1_score(
            gold, their_labels, average="weighted", labels=labels
        ),
        "corate": crfsuite.flat_f1_score(gold, our_labels, average="weighted", labels=labels),
    }
    for name, value in f1.items():
        print(f"{name:<18} F1 {100 * value:.2f}")
    print(f"{'':<18} {100 * agreement(our_labels, their_labels):.2f} % of the labels are the same")
    assert abs(f1["corate"] - f1["sklearn-crfsuite"]) < 0.01
    assert agreement(our_labels, their_labels) > 0.98
    assert crfsuite.flat_classification_report(gold, our_labels) == their_metrics.flat_classification_report(
        gold, our_labels
    )
    assert crfsuite.sequence_accuracy_score(gold, our_labels) == their_metrics.sequence_accuracy_score(
        gold, our_labels
    )

    print("\nLikeliest transitions         sklearn-crfsuite   corate")
    for pair, weight in Counter(theirs.transition_features_).most_common(5):
        print(f"  {pair[0]:<6} → {pair[1]:<16} {weight:>10.3f} {ours.transition_features_[pair]:>12.3f}")
        assert abs(weight - ours.transition_features_[pair]) < 0.1 * abs(weight) + 0.1
    shared = {name for name in theirs.state_features_ if name in ours.state_features_}
    print(f"{len(shared):,} of {len(theirs.state_features_):,} state features have the same name in both")
    assert len(shared) > 0.9 * len(theirs.state_features_)

    assert list(theirs.predict_single(test[0])) == ours.predict_single(test[0])
    their_marginals = theirs.predict_marginals_single(test[0])
    our_marginals = ours.predict_marginals_single(test[0])
    assert [*map(set, their_marginals)] == [*map(set, our_marginals)]
    apart = max(abs(a[y] - b[y]) for a, b in zip(their_marginals, our_marginals, strict=True) for y in labels)
    print(f"Marginals of the first test sentence differ by {apart:.4f} at most")
    assert apart < 0.1


if __name__ == "__main__":
    main()
