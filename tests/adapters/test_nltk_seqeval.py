"""NLTK's taggers and seqeval's report, beside NLTK and seqeval."""

from __future__ import annotations

from typing import Any

import nltk.tag.api
import pytest
import seqeval.metrics
import seqeval.scheme
from hypothesis import given
from hypothesis import strategies as st

import corate
from corate import HMM
from corate.adapters import seqeval as ours
from corate.adapters.nltk import CorateTagger
from corate.errors import InputError

X, Y = corate.load_sample()
LABELS = st.sampled_from(["O", "B-PER", "I-PER", "B-LOC", "I-LOC"])
SENTENCES = st.lists(st.lists(st.tuples(LABELS, LABELS), min_size=1, max_size=6), min_size=1, max_size=4)


def test_a_tagger_of_nltk() -> None:
    tagged = [[*zip(x, y, strict=True)] for x, y in zip(X, Y, strict=True)]
    tagger = CorateTagger.train(tagged[:300], HMM())
    assert isinstance(tagger, nltk.tag.api.TaggerI)
    model = HMM().fit(X[:300], Y[:300])
    assert tagger.tag_sents(X[300:]) == [
        [*zip(x, y, strict=True)] for x, y in zip(X[300:], model.predict(X[300:]), strict=True)
    ]
    assert tagger.tag(X[300]) == tagger.tag_sents(iter(X[300:301]))[0]
    assert tagger.accuracy(tagged[300:]) == pytest.approx(model.score(X[300:], Y[300:]))
    assert "NOUN" in tagger.evaluate_per_tag(tagged[300:])
    assert repr(tagger) == "CorateTagger(HMM())"


@given(SENTENCES)
@pytest.mark.filterwarnings("ignore")
def test_reports_are_those_of_seqeval(pairs: list[list[tuple[str, str]]]) -> None:
    gold = [[a for a, _ in sentence] for sentence in pairs]
    labels = [[b for _, b in sentence] for sentence in pairs]
    if not any(label != "O" for sentence in [*gold, *labels] for label in sentence):
        return  # seqeval fails here
    metrics: Any = seqeval.metrics
    strict = {"mode": "strict", "scheme": seqeval.scheme.IOB2}
    assert ours.classification_report(gold, labels) == metrics.classification_report(gold, labels)
    found = ours.classification_report(gold, labels, mode="strict", scheme="IOB2", digits=3)
    try:
        assert found == metrics.classification_report(gold, labels, digits=3, **strict)
    except ValueError:  # seqeval fails where no span is by the letter
        assert "micro" not in found
    for name in ("precision_score", "recall_score", "f1_score", "accuracy_score"):
        assert getattr(ours, name)(gold, labels) == pytest.approx(getattr(metrics, name)(gold, labels))


def test_plain_tags_have_no_spans() -> None:
    assert "micro" not in ours.classification_report([["A"]], [["B"]])
    assert ours.f1_score([["O"]], [["O"]]) == 0.0
    with pytest.raises(InputError, match="mode='loose'"):
        ours.f1_score([["O"]], [["O"]], mode="loose")
