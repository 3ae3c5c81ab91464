"""Spans and measures, against seqeval, against brute force, and by hand."""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Iterable
from dataclasses import asdict
from itertools import pairwise, product
from typing import Any

import pytest
import seqeval.scheme
from hypothesis import given, settings
from hypothesis import strategies as st
from seqeval.metrics import classification_report
from seqeval.metrics.sequence_labeling import get_entities

from corate.errors import InputError
from corate.evaluation.evaluate import Score, conlleval, evaluate
from corate.text.spans import SCHEMES, Span, detect_scheme, spans, valid_transition

INSIDE = {name: sorted(scheme.prefixes - {"O"}) for name, scheme in SCHEMES.items()}
TYPES = ("-X", "-Y", "-foo-bar")


def label_set(prefixes: Iterable[str], types: Iterable[str] = (*TYPES, "")) -> list[str]:
    return ["O"] + [prefix + kind for prefix in prefixes for kind in types]


def corpora(labels: list[str]) -> st.SearchStrategy[list[list[tuple[str, str]]]]:
    """Sentences of arbitrary, mostly invalid gold labels with predictions, about half of them right."""
    label = st.sampled_from(labels)
    token = label.map(lambda same: (same, same)) | st.tuples(label, label)
    return st.lists(st.lists(token, min_size=1, max_size=8), min_size=1, max_size=4)


def strict_seqeval(labels: list[str], name: str) -> list[tuple[str, int, int]]:
    entities = seqeval.scheme.Tokens(labels, getattr(seqeval.scheme, name)).entities
    return [(entity.tag, entity.start, entity.end) for entity in entities]


def lenient_seqeval(labels: list[str]) -> list[tuple[str, int, int]]:
    return [(kind, start, last + 1) for kind, start, last in get_entities(labels)]


@pytest.mark.parametrize("name", SCHEMES)
@given(data=st.data())
@settings(max_examples=300, deadline=None)
def test_strict_spans_are_those_of_seqeval(name: str, data: st.DataObject) -> None:
    labels = data.draw(st.lists(st.sampled_from(label_set(INSIDE[name])), max_size=10))
    assert spans(labels, name) == strict_seqeval(labels, name)


@given(st.lists(st.sampled_from(label_set("BIES")), max_size=10))
@settings(max_examples=300, deadline=None)
def test_lenient_spans_are_those_of_seqeval(labels: list[str]) -> None:
    assert spans(labels) == lenient_seqeval(labels)


@pytest.mark.parametrize("name", ["auto", *SCHEMES])
@given(data=st.data())
@settings(max_examples=60, deadline=None)
def test_scores_are_those_of_seqeval(name: str, data: st.DataObject) -> None:
    if name == "auto":  # S-X in front, so that there is a scheme to detect
        mode, corpus = {}, [[("S-X", "S-X")], *data.draw(corpora(label_set("BIES", TYPES)))]
    else:
        mode = {"mode": "strict", "scheme": getattr(seqeval.scheme, name)}
        corpus = data.draw(corpora(label_set(INSIDE[name])))
    gold, predicted = ([[token[i] for token in sentence] for sentence in corpus] for i in (0, 1))
    with warnings.catch_warnings():  # seqeval warns of every type without predictions
        warnings.simplefilter("ignore")
        report = classification_report(gold, predicted, output_dict=True, **mode)
    ours = evaluate(gold, predicted, scheme=name)
    assert ours.spans is not None
    scores = {"micro avg": ours.spans, **ours.by_type}
    assert scores.keys() == report.keys() - {"macro avg", "weighted avg"}
    for kind, score in scores.items():
        theirs = [report[kind][key] for key in ("precision", "recall", "f1-score", "support")]
        assert [score.precision, score.recall, score.f1, score.support] == pytest.approx(theirs)


@pytest.mark.parametrize(("labels", "start"), [("O B-X I-X", 2), ("I-X B-X B-Y", 0), ("I-X B-Y", 0)])
def test_surprising_rules_of_seqeval_that_we_keep(labels: str, start: int) -> None:
    """IOB1: an I after a needless B opens a span; a B, unlike an I, is lost before a B of another type."""
    ours, theirs = spans(labels.split(), "IOB1"), strict_seqeval(labels.split(), "IOB1")
    assert ours == theirs == [("X", start, start + 1)]


def test_surprising_rules_of_seqeval_that_we_do_not_keep() -> None:
    # Its strict mode strips hyphens from types, so that X- and X are one type; its default mode does not.
    assert strict_seqeval(["B-X-", "I-X"], "IOB2") == [("X", 0, 2)]
    assert spans(["B-X-", "I-X"], "IOB2") == [("X-", 0, 1)]
    # Its default mode does not know U and L: it warns, and joins neighbouring spans of one type.
    with pytest.warns(UserWarning, match="seems not to be NE tag"):
        assert lenient_seqeval(["U-X", "U-X"]) == [("X", 0, 2)]
    assert spans(["U-X", "U-X", "B-X", "L-X", "U-X"]) == spans(["S-X", "S-X", "B-X", "E-X", "S-X"])
    # It takes the first letter for a prefix, hyphen or not, so that plain tags become spans.
    with pytest.warns(UserWarning, match="seems not to be NE tag"):
        assert lenient_seqeval(["IN", "NN"]) == [("N", 0, 2)]
    assert spans(["IN", "NN", "", "-", "NN-TL"]) == []


def layouts(n: int) -> list[list[Span]]:
    """Every way to place spans of the types X and Y on n tokens."""
    if n == 0:
        return [[]]
    last_spans = [Span(kind, start, n) for start in range(n) for kind in "XY"]
    return layouts(n - 1) + [[*before, last] for last in last_spans for before in layouts(last.start)]


def encode(layout: list[Span], n: int, name: str) -> list[str]:
    labels, ends = ["O"] * n, {(span.type, span.end) for span in layout}
    for kind, start, end in layout:
        first, inside, last, single = list({"IOBES": "BIES", "BILOU": "BILU"}.get(name, "BIIB"))
        if name == "IOB1" and (kind, start) not in ends:
            first = single = "I"
        prefixes = single if end - start == 1 else first + inside * (end - start - 2) + last
        labels[start:end] = [f"{prefix}-{kind}" for prefix in prefixes]
    return labels


@pytest.mark.parametrize("name", SCHEMES)
def test_transitions_accept_exactly_the_encodings_of_spans(name: str) -> None:
    alphabet = label_set(INSIDE[name], TYPES[:2])
    for n in range(5):
        encodings = {tuple(encode(layout, n, name)): layout for layout in layouts(n)}
        for labels in product(alphabet, repeat=n):
            steps = pairwise([None, *labels, None])
            assert all(valid_transition(a, b, name) for a, b in steps) == (labels in encodings)
        assert all(spans(valid, name) == layout == spans(valid) for valid, layout in encodings.items())


def test_labels_and_names_that_are_not_of_the_scheme() -> None:
    assert not valid_transition("O", "S-X", "IOB2")
    with pytest.raises(InputError, match="'U-X' is not of scheme IOBES, whose prefixes are B, E, I, O, S"):
        spans(["O", "U-X"], "IOBES")
    with pytest.raises(InputError, match="unknown scheme 'iob': choose one of IOB1, IOB2, IOBES, BILOU"):
        spans([], "iob")


DETECTED = {
    "IOB1": ["I-X", "O I-X", "B-Y O I-X B-X"],
    "IOB2": ["B-X", "O B-X I-X B-Y I-Y", "B-X B-Y I-X I-Y O", "B-foo-bar O"],
    "IOBES": ["O S-X", "B-X E-X O", "I-X B-X E-X S-Y"],
    "BILOU": ["U-X", "B-X I-X L-X O"],
    None: ["", "O", "B I O", "O B-", "O-X B-X", "-X B-X", "S-X U-X", "NN IN-TL B-X", "NN-HL FW-IN"],
}


def test_detect_scheme() -> None:
    for expected, cases in DETECTED.items():
        for labels in cases:
            assert detect_scheme(labels.split()) == detect_scheme([labels.split(), []]) == expected, labels
    assert detect_scheme(set(label_set("BI", [f"-{i}" for i in range(20)]))) == "IOB2"  # in no order
    assert detect_scheme({"I-X", "O", "B-Y"}) == "IOB1"


GOLD = [["B-PER", "I-PER", "O", "B-LOC", "O"], ["O", "O", "B-PER"]]
PREDICTED = [["B-PER", "I-PER", "O", "B-ORG", "O"], ["O", "O", "I-PER"]]


def test_conlleval_text() -> None:
    assert conlleval(evaluate(GOLD, PREDICTED)).split("\n") == [
        "processed 8 tokens with 3 phrases; found: 3 phrases; correct: 2.",
        "accuracy:  75.00%; precision:  66.67%; recall:  66.67%; FB1:  66.67",
        "              LOC: precision:   0.00%; recall:   0.00%; FB1:   0.00  0",
        "              ORG: precision:   0.00%; recall:   0.00%; FB1:   0.00  1",
        "              PER: precision: 100.00%; recall: 100.00%; FB1: 100.00  2",
    ]
    assert conlleval(evaluate([], [], scheme="IOB2")).endswith("; found: 0 phrases; correct: 0.")
    with pytest.raises(InputError, match="these labels are plain tags"):
        conlleval(evaluate([["NN"]], [["NN"]]))


def test_lenient_by_default_and_strict_by_name() -> None:
    lenient, strict = evaluate(GOLD, PREDICTED), evaluate(GOLD, PREDICTED, scheme="IOB2")
    assert (lenient.scheme, lenient.strict, lenient.by_type["PER"]) == ("IOB2", False, Score(2, 2, 2))
    assert (strict.scheme, strict.strict, strict.by_type["PER"]) == ("IOB2", True, Score(1, 1, 2))
    plain = evaluate(GOLD, PREDICTED, scheme=None)
    assert (plain.scheme, plain.spans, plain.f1, plain.by_type) == (None, None, None, {})
    assert evaluate([["O"]], [["B-X"]]).spans == Score(0, 1, 0)


def test_plain_tags_by_hand() -> None:
    gold, predicted = [["D", "N", "V"], ["N", "N"], ["V"]], [["D", "N", "N"], ["V", "N"], ["N"]]
    words = [["the", "dog", "barks"], ["dog", "days"], ["barks"]]
    ours = evaluate(gold, predicted, words, {"the", "dog"})
    assert (ours.tokens, ours.sentences, ours.accuracy, ours.sentence_accuracy) == (6, 3, 3 / 6, 0.0)
    assert (ours.accuracy_known, ours.accuracy_unknown, ours.unknown_rate) == (2 / 3, 1 / 3, 3 / 6)
    assert ours.by_label == {"D": Score(1, 1, 1), "N": Score(2, 4, 3), "V": Score(0, 1, 2)}
    noun = ours.by_label["N"]
    assert (noun.precision, noun.recall, noun.f1) == (2 / 4, 2 / 3, 4 / 7)
    assert [ours.confusions(1), ours.confusions()] == [[("V", "N", 2)], [("V", "N", 2), ("N", "V", 1)]]


def test_rates_without_tokens() -> None:
    known = evaluate([["N"]], [["N"]], [["dog"]], {"dog"})
    assert (known.accuracy_known, known.accuracy_unknown, known.unknown_rate) == (1.0, None, 0.0)
    empty = evaluate([], [], [], set())
    assert (empty.accuracy, empty.sentence_accuracy, empty.unknown_rate) == (0.0, 0.0, None)


def test_json() -> None:
    ours = json.loads(json.dumps(evaluate(GOLD, PREDICTED).to_json()))
    assert (ours["scheme"], ours["f1"], ours["accuracy_known"]) == ("IOB2", pytest.approx(2 / 3), None)
    assert ours["by_type"]["ORG"] == asdict(Score(0, 1, 0)) | {"precision": 0, "recall": 0, "f1": 0}
    assert "f1" not in evaluate([["N"]], [["V"]]).to_json()


UNCOMPARABLE: dict[str, tuple[Any, ...]] = {
    "the number of sentences differs (gold labels: 1, predicted labels: 0)": ([["N"]], []),
    "the length of sentence 2 of 2 differs (gold labels: 0, predicted labels: 1)": ([[], []], [[], ["N"]]),
    "the length of sentence 1 of 1 differs (gold labels: 1, words: 2)": ([["N"]], [["N"]], [["a", "b"]]),
    "sentence 1 of 1 is the string 'N': pass a list of strings per sentence": (["N"], ["N"]),
    "label 1 is of type int: pass labels as strings": ([[1]], [["1"]]),
}


@pytest.mark.parametrize("message", UNCOMPARABLE)
def test_input_that_cannot_be_compared(message: str) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        evaluate(*UNCOMPARABLE[message])
