"""update, forget, merge, diff, refit, prune and eval --folds, as people use them."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import pytest

import corate
from conftest import Cli
from corate import Tagger
from corate.evaluation.evaluate import evaluate

X, Y = corate.load_sample("train", "entity")


def write(path: Path, first: int, last: int | None = None) -> Path:
    """Sentences first … last − 1 of the sample as two columns."""
    pairs = zip(X[first:last], Y[first:last], strict=True)
    rows = ("".join(f"{w}\t{y}\n" for w, y in zip(*pair, strict=True)) for pair in pairs)
    path.write_text("\n".join(rows))
    return path


@pytest.fixture
def models(cli: Cli, tmp_path: Path) -> Path:
    """a.conll, b.conll and ab.conll, and a model of each."""
    for name, (first, last) in {"a": (0, 300), "b": (300, None), "ab": (0, None)}.items():
        train = write(tmp_path / f"{name}.conll", first, last)
        assert cli("train", "--weights", "fixed", train, "-m", tmp_path / f"{name}.model") == (0, "", "")
    return tmp_path


def test_update_forget_and_merge_give_the_bytes_of_training(cli: Cli, models: Path) -> None:
    a, b, ab, made = (models / f"{name}.model" for name in ("a", "b", "ab", "made"))
    before, whole = a.read_bytes(), ab.read_bytes()
    assert cli("update", a, models / "b.conll", "-o", made) == (0, "", "")
    assert (made.read_bytes(), a.read_bytes()) == (whole, before)
    assert cli("merge", b, a, "-o", made) == (0, "", "")
    assert made.read_bytes() == whole
    assert cli("update", a, models / "b.conll") == (0, "", "")
    assert a.read_bytes() == whole
    assert cli("forget", a, models / "b.conll") == (0, "", "")
    assert a.read_bytes() == before


def test_what_is_refused_leaves_the_model_as_it_is(cli: Cli, models: Path) -> None:
    a, before = models / "a.model", (models / "a.model").read_bytes()
    other = models / "other.conll"
    other.write_text("".join(f"{w}\tX-{w}\n" for w in X[0]))
    for arguments, message in (
        (("update", a, models / "a.conll"), "has learned"),
        (("update", a, other), "most labels"),
        (("forget", a, models / "b.conll"), "80 of 80 sentences were never learned"),
        (("forget", a, models / "a.conll"), "nothing would be left"),
        (("refit", a, models / "a.conll"), "fixed weights"),
        (("merge", a, a, "-o", models / "m.model"), "all 300 sentences of it are in the models before it"),
        (("update", models / "nope.model", models / "b.conll"), "nope.model: cannot be read"),
        (("prune", a, "--below", "1"), "--below"),
        (("eval", models / "a.conll", "--weights", "fixed"), "--weights is for --folds"),
        (("eval", models / "a.conll"), "-m MODEL is missing, or --folds K"),
        (("eval", "--folds", "301", models / "a.conll"), "301 folds of 300 sentences"),
    ):
        code, out, err = cli(*arguments)
        assert (code, out, err.count("\n")) == (2, "", 1), arguments
        assert message in err, arguments
    assert a.read_bytes() == before
    assert not (models / "m.model").exists()


def test_force(cli: Cli, models: Path) -> None:
    a, b, made = models / "a.model", models / "b.model", models / "made.model"
    code, _, err = cli("update", a, models / "ab.conll", "-o", made)
    assert (code, err) == (0, "300 of 380 sentences were known already and are counted again\n")
    assert cli("update", "-q", "--force", a, models / "a.conll", "-o", made) == (0, "", "")
    assert corate.load(made).counts_.n_sentences == 600
    code, _, err = cli("forget", "--force", models / "ab.model", models / "b.conll", "-o", made)
    assert (code, err) == (0, "")
    code, _, err = cli("forget", "--force", made, models / "b.conll")
    assert (code, err) == (0, "80 of 80 sentences were never learned: passed over\n")
    assert made.read_bytes() == a.read_bytes()
    assert cli("merge", "--force", b, b, "-o", made)[0] == 0
    assert corate.load(made).counts_.n_sentences == 160


def test_no_ledger(cli: Cli, models: Path) -> None:
    bare, made = models / "bare.model", models / "made.model"
    assert cli("train", "--no-ledger", "--weights", "fixed", models / "b.conll", "-m", bare)[0] == 0
    code, _, err = cli("merge", models / "a.model", bare, "-o", made)
    assert (code, err.count("\n"), "--no-ledger" in err) == (2, 1, True)
    assert cli("merge", "--no-ledger", models / "a.model", bare, "-o", made) == (0, "", "")
    assert corate.load(made).ledger_ is None


def test_diff(cli: Cli, models: Path) -> None:
    a, ab = models / "a.model", models / "ab.model"
    assert cli("diff", a, a) == (0, "The models are the same: equal counts, parameters and weights.\n", "")
    code, out, _ = cli("diff", a, ab, models / "b.conll", "--json")
    found = json.loads(out)
    assert (code, found["sentences"]) == (0, [300, 380])
    assert found["tables"]["y"]["only_in_a"] == 0
    assert found["words"][0] == 0 < found["words"][1]
    labels = [corate.load(path).predict(X[300:]) for path in (a, ab)]
    different = sum(p != q for one, two in zip(*labels, strict=True) for p, q in zip(one, two, strict=True))
    assert found["file"]["different"] == different == sum(n for *_, n in found["file"]["pairs"])
    _, out, _ = cli("diff", a, ab, models / "b.conll")
    assert "are labelled differently" in out
    assert "+80" in out


def test_refit_after_an_update_is_training(cli: Cli, models: Path) -> None:
    whole, part = models / "whole.model", models / "part.model"
    assert cli("train", models / "ab.conll", "-m", whole)[0] == 0
    assert cli("train", models / "a.conll", "-m", part)[0] == 0
    assert cli("update", part, models / "b.conll")[0] == 0
    assert part.read_bytes() != whole.read_bytes()
    assert cli("refit", part, models / "ab.conll") == (0, "", "")
    assert part.read_bytes() == whole.read_bytes()


def test_prune(cli: Cli, models: Path) -> None:
    ab, made = models / "ab.model", models / "made.model"
    assert cli("prune", ab, "--below", "3", "-o", made) == (0, "", "")
    assert made.stat().st_size < ab.stat().st_size / 2
    code, _, err = cli("forget", made, models / "b.conll")
    assert (code, err.count("\n"), "was pruned" in err) == (2, 1, True)


def test_folds_equal_as_many_trainings(cli: Cli, models: Path) -> None:
    code, out, err = cli("eval", "--folds", "4", "--weights", "fixed", models / "ab.conll", "--json")
    assert (code, err) == (0, "")
    bounds = [380 * k // 4 for k in range(5)]
    predicted = []
    for first, last in pairwise(bounds):
        rest = Tagger("fixed").fit(X[:first] + X[last:], Y[:first] + Y[last:])
        predicted += rest.predict(X[first:last])
    honest = evaluate(Y, predicted)
    found = json.loads(out)
    assert (found["accuracy"], found["f1"]) == (honest.accuracy, honest.f1)
    assert cli("eval", "--folds", "3", "-m", models / "a.model", models / "ab.conll")[0] == 0
