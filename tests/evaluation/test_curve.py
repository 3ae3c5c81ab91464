"""The learning curve: what is trained on and labelled, the law against SciPy's, the command."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import curve_fit

import corate
from conftest import Cli
from corate import HMM, Corpus, InputError
from corate.evaluation.curve import Curve, Law, Point, curve_of, fit_law, learning_curves
from corate.evaluation.curve_picture import draw
from corate.evaluation.evaluate import evaluate
from corate.text.tokens import as_corpus

X, Y = corate.load_sample("train", "entity")
TEST = corate.load_sample("test", "entity")
SIZES = np.array([50.0, 100.0, 200.0, 400.0, 800.0])


class Spy:
    """A model that knows what it was trained on, and finds nothing."""

    def __init__(self, seen: list[tuple[set[str], set[str]]], corpus: Corpus) -> None:
        self.seen, self.words = seen, set(corpus.words.strings())

    def predict(self, corpus: Corpus) -> list[list[str]]:
        self.seen.append((self.words, set(corpus.words.strings())))
        return [["O"] * (b - a) for a, b in corpus.spans()]


@pytest.mark.parametrize("tested", [False, True])
def test_sentences_are_drawn_from_outside_what_is_labelled(tested: bool) -> None:
    corpus = as_corpus([[f"w{s}"] for s in range(130)], [["O"]] * 120 + [[None]] * 10)
    test = as_corpus([["a"], ["b"]], [["O"], ["N"]]) if tested else None
    seen: list[tuple[set[str], set[str]]] = []
    curves = learning_curves(lambda part: Spy(seen, part), corpus, test, [10, 40], repeats=3)
    assert [len(words) for words, _ in seen] == [10] * 3 + [40] * 3
    assert len({frozenset(words) for words, _ in seen}) == 6
    labelled = {f"w{s}" for s in range(120)}
    for words, held_out in seen:
        assert words <= labelled - held_out
    if not tested:
        assert [set.union(*(held_out for _, held_out in seen[k : k + 3])) for k in (0, 3)] == [labelled] * 2
    assert curves.keys() == {"accuracy"}
    assert [p.mean for p in curves["accuracy"].points] == [0.5 if tested else 1.0] * 2


def test_all_sentences_are_tried_once_and_scored_as_by_evaluate() -> None:
    test = as_corpus(*TEST)
    curves = learning_curves(HMM(ledger=False).fit, as_corpus(X, Y), test, repeats=2)
    assert [p.sentences for p in curves["f1"].points] == [50, 100, 200, 380]
    last = {name: curve.points[-1] for name, curve in curves.items()}
    honest = evaluate(TEST[1], HMM().fit(X, Y).predict(TEST[0]))
    assert last["accuracy"].values == [honest.accuracy]
    assert last["f1"].values == [honest.f1]
    assert last["f1"].spread is None
    again = learning_curves(HMM(ledger=False).fit, as_corpus(X, Y), test, repeats=2)
    assert again == curves


@given(
    a=st.floats(0.3, 1.0), share=st.floats(0.05, 0.9), c=st.floats(0.05, 1.5), noise=st.integers(0, 2**32 - 1)
)
@settings(deadline=None, max_examples=60)
def test_the_law_has_the_least_squares(a: float, share: float, c: float, noise: int) -> None:
    exact = a - a * share * (SIZES / SIZES[0]) ** -c
    means = np.clip(exact + np.random.default_rng(noise).normal(0, 0.005, len(SIZES)), 0, 1)

    def law(n: Any, a: float, b: float, c: float) -> Any:
        return a - b * (n / SIZES[0]) ** -c

    start, bounds = (min(a, 0.99), a * share, c), ([-np.inf, 0, 0.01], [1, np.inf, 2.0])
    theirs, _ = curve_fit(law, SIZES, means, start, bounds=bounds, max_nfev=20_000)
    found = fit_law(SIZES, means)
    squares = sum((found(n) - y) ** 2 for n, y in zip(SIZES.tolist(), means.tolist(), strict=True))
    assert squares <= 1.01 * float(((law(SIZES, *theirs) - means) ** 2).sum()) + 1e-6
    assert found.a <= 1
    assert found.b >= 0


def made(law: Law, spread: float) -> Curve:
    random = np.random.default_rng(1)
    return curve_of([Point(int(n), (law(n) + random.normal(0, spread, 5)).tolist()) for n in SIZES.tolist()])


def test_what_is_expected_of_more_sentences() -> None:
    law = Law(0.95, 1.5, 0.5)
    found = made(law, 1e-9)
    for expected, n in zip(found.expected, (1600, 3200), strict=True):
        assert expected.sentences == n
        assert expected.value == pytest.approx(law(n), abs=1e-3)
        assert expected.gain == pytest.approx(law(n) - law(800), abs=1e-3)
        assert expected.high - expected.low < 5e-3
    unsure = made(law, 0.02)
    for close, wide, n in zip(found.expected, unsure.expected, (1600, 3200), strict=True):
        assert wide.low <= law(n) <= wide.high
        assert wide.high - wide.low > close.high - close.low
    # a curve that bends where no law does: what the smaller sizes said of the last one counts
    bent = curve_of([Point(int(n), [law(n)] * 2) for n in SIZES[:-1].tolist()] + [Point(800, [0.8] * 2)])
    assert bent.miss is not None
    assert bent.miss == pytest.approx(law(800) - 0.8, abs=2e-3)
    assert bent.expected[0].high >= 0.8 + abs(bent.miss)
    level = curve_of([Point(int(n), [1.0, 1.0]) for n in SIZES.tolist()])
    assert [(e.value, e.low, e.high) for e in level.expected] == [(1.0, 1.0, 1.0)] * 2


def test_what_cannot_be_drawn() -> None:
    corpus = as_corpus(X, Y)
    for bad, message in (
        ({"sizes": [500]}, "500 sentences are to be trained on, and there are 304"),
        ({"sizes": [0]}, "give numbers of sentences from 1"),
        ({"repeats": 381}, "381 folds of 380 sentences"),
        ({"test": as_corpus(X)}, "the test sentences have no label"),
    ):
        with pytest.raises(InputError, match=message):
            learning_curves(HMM().fit, corpus, **bad)
    with pytest.raises(InputError, match="no sentence has a label"):
        learning_curves(HMM().fit, as_corpus(X))


def write(path: Path, x: list[list[str]], y: list[list[str]]) -> Path:
    rows = ("".join(f"{w}\t{t}\n" for w, t in zip(*pair, strict=True)) for pair in zip(x, y, strict=True))
    path.write_text("\n".join(rows))
    return path


def test_the_command(cli: Cli, tmp_path: Path) -> None:
    train = write(tmp_path / "train.conll", X, Y)
    picture = tmp_path / "curve.svg"
    options = ("--model", "hmm", "--smoothing", "lidstone", "--repeats", "3", "-o", picture)
    code, out, err = cli("curve", train, *options)
    assert (code, err) == (0, "")
    assert [line.split()[0] for line in out.splitlines()[1:6]] == ["50", "100", "253", "506", "1,012"]
    assert "Twice the sentences, 506: about +" in out
    assert "points of F1 (" in out
    drawn = "".join(ElementTree.parse(picture).getroot().itertext())
    assert "training sentences" in drawn
    assert "F1, %" in drawn
    before = picture.read_bytes()
    code, out, _ = cli("curve", train, *options, "--json")
    assert picture.read_bytes() == before
    found = json.loads(out)
    assert found.keys() == {"accuracy", "f1"}
    honest = learning_curves(HMM("lidstone").fit, as_corpus(X, Y), repeats=3)
    assert found == {name: json.loads(json.dumps(one.to_json())) for name, one in honest.items()}
    code, out, err = cli("curve", train, "--model", "hmm", "--sizes", "20,40", "--scheme", "none")
    assert (code, err, "F1" in out, "2 sizes, and it takes 3" in out) == (0, "", False, True)
    assert draw(honest, "png").startswith(b"\x89PNG")


def test_bad_input(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    train = write(tmp_path / "train.conll", X[:60], Y[:60])
    (tmp_path / "empty.conll").write_text("")
    for arguments, message in (
        ((tmp_path / "nope.conll",), "nope.conll: no such file"),
        ((train, "--test", tmp_path / "empty.conll"), "empty.conll: empty file"),
        ((train, "--sizes", "10,x"), "'10,x' is not a list of numbers of sentences"),
        ((train, "--sizes", "0"), "'0' is not a list of numbers of sentences"),
        ((train, "--sizes", "50"), "50 sentences are to be trained on, and there are 48"),
        ((train, "-o", tmp_path / "curve.pdf"), "curve.pdf: is drawn as .svg or .png"),
        ((train, "-o", tmp_path / "no" / "curve.svg"), "does not exist: create it first"),
        ((train, "--model", "hmm", "--weights", "fixed"), "--weights is for --model tagger, not for hmm"),
    ):
        code, out, err = cli("curve", *arguments)
        assert (code, out, err.count("\n")) == (2, "", 1), arguments
        assert message in err, arguments
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    code, out, err = cli("curve", train, "-o", tmp_path / "curve.svg")
    assert (code, out, err) == (2, "", "a picture needs matplotlib: pip install 'corate[plot]'\n")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["empty.conll", "train.conll"]
