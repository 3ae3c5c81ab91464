"""The classical models: against worked examples, other libraries, closed forms; and what goes wrong."""

from __future__ import annotations

import math
import random
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import corate
from corate import (
    HMM,
    MEMM,
    ConvergenceWarning,
    EmpiricalCRF,
    InputError,
    LinearChainCRF,
    MaxEntClassifier,
    ModelFileError,
    PiecewiseCRF,
    SeparateCRF,
)
from corate.contexts.defaults import LAFFERTY
from corate.contexts.views import ending, hyphen, initial
from corate.lattice import decode
from corate.models.loglinear.base import FittedModel
from corate.models.loglinear.iis import solve
from corate.storage import modelfile
from experiments import label_bias
from experiments import test_time_problem as ttp
from experiments.published import TEST_TIME_OBJECTIVE

X, Y = corate.load_sample("train", "entity")
FEW, FEW_LABELS = X[:40], Y[:40]
RIB_ROB = [(list(words), list(labels)) for words, labels, n in label_bias.RIB_ROB for _ in range(n)]
FITTED: list[Any] = [LinearChainCRF, MaxEntClassifier, MEMM, PiecewiseCRF, SeparateCRF]


# Optimum ---------------------------------------------------------------------------------------------


def test_lbfgs_and_both_scalings_find_the_same_optimum() -> None:
    found = [
        LinearChainCRF(algorithm, contexts=("initial", "ending"), max_iterations=20_000, tolerance=1e-8).fit(
            FEW, FEW_LABELS
        )
        for algorithm in ("lbfgs", "iis-s", "iis-t")
    ]
    assert [model.objective_ for model in found] == pytest.approx([found[0].objective_] * 3, abs=1e-4)
    for model in found[1:]:
        steps = [entry["objective"] for entry in model.training_log_]
        assert all(a >= b - 1e-9 for a, b in pairwise(steps)), "no step of iterative scaling goes up"


def test_scaling_without_a_penalty_is_the_published_step() -> None:
    """Algorithm S: δ = log(Ẽ/E) / S (004 eqn 62); algorithm T: the root of a polynomial in exp δ (eqn 65)."""
    seen, expected = np.array([2.0, 5.0, 1.0]), np.array([3.0, 1.0, 1.0])
    step = solve([7.0], [expected], seen, 0.0, np.zeros(3))
    assert step == pytest.approx(np.log(seen / expected) / 7)
    parts = [np.array([1.0, 0.0, 0.5]), np.array([2.0, 1.0, 0.5])]
    step = solve([2.0, 3.0], parts, seen, 0.0, np.zeros(3))
    assert [
        np.roots([b, a, 0, -s]).real.max() for a, b, s in zip(*parts, seen, strict=True)
    ] == pytest.approx(np.exp(step))


def test_scaling_and_features_that_never_fire() -> None:
    """Without a penalty nothing moves them, and they are refused; with one there is a root for them too."""
    none, c2, weights = np.zeros(2), 0.3, np.array([0.5, -1.0])
    assert solve([2.0], [none], none, 0.0, weights).tolist() == [0.0, 0.0]
    assert solve([2.0], [none], none, c2, weights) == pytest.approx(-weights)
    for algorithm in ("iis-s", "iis-t"):
        shown = LinearChainCRF(algorithm, contexts=("initial",), c2=0.0, max_iterations=5)
        with pytest.warns(ConvergenceWarning):
            shown.fit(FEW, FEW_LABELS)
        every = LinearChainCRF(algorithm, contexts=("initial",), all_states=True, max_iterations=5)
        with pytest.warns(ConvergenceWarning):
            assert len(every.fit(FEW, FEW_LABELS).weights_) > len(shown.weights_)


@pytest.mark.parametrize("model", FITTED)
def test_objective_is_what_the_model_says_of_the_data(model: Any) -> None:
    """−Σ log P + c2 ‖w‖², where the model's probability is the trained one; at its optimum."""
    crf = model(c2=0.3, tolerance=1e-9).fit(FEW, FEW_LABELS)
    if model in (LinearChainCRF, MaxEntClassifier, MEMM):
        penalty = 0.3 * float(crf.weights_ @ crf.weights_)
        assert crf.objective_ == pytest.approx(penalty - sum(crf.log_prob(FEW, FEW_LABELS)), rel=1e-9)
    assert crf.training_log_[-1]["gradient_norm"] < 1e-2
    assert set(crf.training_log_[0]) >= {"iteration", "objective", "gradient_norm", "seconds"}


def test_matrices_give_the_forward_recursion() -> None:
    """Z = (M₁ … Mₙ₊₁)[start, stop] (004 eqn 41)."""
    crf = LinearChainCRF(contexts=("word", "pair:initial")).fit(FEW, FEW_LABELS)
    for words in [*FEW[:10], ["unheard"], []]:
        z = np.linalg.multi_dot([*crf.matrices(words), np.eye(len(crf.classes_) + 2)])[-2, -1]
        lattice = crf._lattice(crf._corpus([words]))
        assert math.log(z) == pytest.approx(float(decode.marginals(lattice).log_z[0]), abs=1e-9)


def test_maxent_equals_scikit_learn() -> None:
    from sklearn.feature_extraction import DictVectorizer
    from sklearn.linear_model import LogisticRegression

    tokens = [word for words in FEW for word in words]
    labels = [label for some in FEW_LABELS for label in some]
    rows = [{"word": w, "initial": initial(w)} if initial(w) else {"word": w} for w in tokens]
    peer = LogisticRegression(C=0.5, fit_intercept=False, max_iter=5000, tol=1e-9)
    vectors = DictVectorizer()
    peer.fit(vectors.fit_transform(rows), labels)
    model = LinearChainCRF(
        c2=1.0, contexts=("word", "initial"), label_pairs=False, all_states=True, tolerance=1e-10
    )
    found = model.fit([[token] for token in tokens], [[label] for label in labels])
    wanted = peer.predict_proba(vectors.transform(rows[:50]))
    for row, ((token,),) in zip(
        wanted, ([m] for m in found.predict_marginals([[t] for t in tokens[:50]])), strict=True
    ):
        assert [token[label] for label in peer.classes_] == pytest.approx(row, abs=1e-4)


def test_objective_of_crfsuite() -> None:
    pycrfsuite = pytest.importorskip("pycrfsuite")

    def features(word: str) -> list[str]:
        views = zip(LAFFERTY, (word, initial(word), hyphen(word), ending(word)), strict=True)
        return [f"{name}={value}" for name, value in views if value]

    trainer = pycrfsuite.Trainer(verbose=False)
    trainer.set_params({"c1": 0.0, "c2": 0.5})
    for words, labels in zip(X, Y, strict=True):
        trainer.append([features(word) for word in words], labels)
    trainer.train(str(Path("/dev/null")))
    crf = LinearChainCRF(c2=0.5).fit(X, Y)
    assert crf.objective_ == pytest.approx(trainer.logparser.last_iteration["loss"], rel=1e-3)
    assert len(crf.weights_) == int(trainer.logparser.featgen_num_features)
    as_features = [[features(word) for word in words] for words in X]
    same = LinearChainCRF(c2=0.5).fit(as_features, Y)
    assert same.objective_ == pytest.approx(crf.objective_, rel=1e-6), "features as CRFsuite takes them"


# The papers' examples --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "labels"),
    [
        (LinearChainCRF(), "YOB"),
        (PiecewiseCRF(), "YOB"),
        (SeparateCRF(), "YOB"),
        (HMM(smoothing="none"), "YOB"),
        (MEMM(), "XIB"),
        (MEMM("shared", c2=1e-4), "XIB"),
    ],
    ids=repr,
)
def test_rib_rob(model: Any, labels: str) -> None:
    """002 §II-B3: only a model with local conditions on a label has the label bias."""
    words, gold = zip(*RIB_ROB, strict=True)
    assert model.fit(words, gold).predict([list("rob")]) == [list(labels)]


def test_label_bias_simulation() -> None:
    """000 §4.4, one round: the MEMM falls to 2/3, the others do not."""
    rng = random.Random(0)
    train, test = label_bias.simulate(1000, rng), label_bias.simulate(250, rng)
    accuracy = {
        type(model).__name__: model.fit(train.words, train.labels).score(test.words, test.labels)
        for model in (LinearChainCRF(), PiecewiseCRF(), SeparateCRF(), HMM(), MEMM())
    }
    assert 0.60 < accuracy.pop("MEMM") < 0.75
    assert min(accuracy.values()) > 0.94


def test_three_optima_of_the_test_time_problem() -> None:
    """000 §4.2, §4.3: the likelihood is the same, the labels of [b,c] are not."""
    words, labels = ttp.examples()
    options: dict[str, Any] = {
        "contexts": ("word", "pair:word-1,word"),
        "c2": 5e-9,  # CRF++ -c 1e8
        "all_states": True,
        "all_transitions": True,
        "label_pairs": False,
        "tolerance": 1e-7,
    }
    impossible = -15.0  # near enough to the logarithm of 0
    ep: dict[Any, float] = {}
    wrong: dict[Any, float] = {}
    for a, b in pairwise(ttp.TRAIN_WORDS):
        unary = np.outer(ttp.empirical(a), ttp.empirical(b))
        joint = ttp.empirical(a + b)
        rate = np.divide(joint, unary, out=np.zeros((2, 2)), where=unary > 0)
        for start, factor in ((ep, rate), (wrong, np.asarray(ttp.ttp_pair(a, b)))):
            for y, z in np.ndindex(2, 2):
                value = math.log(factor[y, z]) if factor[y, z] else impossible
                start[f"pair:word-1,word={a}/{b}|{y}|{z}"] = value
    for word in ttp.TRAIN_WORDS:
        for y, p in enumerate(ttp.empirical(word)):
            ep[f"word={word}", str(y)] = math.log(p) if p else impossible
    found = {
        name: LinearChainCRF(initial=start, **options).fit(words, labels)
        for name, start in (("ep", ep), ("ttp", wrong), ("zero", None))
    }
    for model in found.values():
        assert model.objective_ == pytest.approx(TEST_TIME_OBJECTIVE, abs=2e-5)
    for name in ("ep", "ttp"):  # the search ends where it begins
        model = found[name]
        assert model.training_log_[0]["objective"] == pytest.approx(model.objective_, abs=1e-5)
    test = [list(ttp.TEST_WORDS)]
    assert found["ep"].predict(test) == [["0", "0"]]
    assert found["ttp"].predict(test) == [["1", "1"]]
    assert found["zero"].predict(test) == [["1", "1"]]
    # CRF++ ended at 0.757; along the flat bottom, where a search ends is a matter of its steps.
    assert math.exp(found["zero"].log_prob(test, [["1", "1"]])[0]) > 0.55


def test_separate_training_of_saturated_factors_is_empirical_training() -> None:
    """With a feature for every word and every pair of words, u = P̃(y | x) and v = P̃(y, y′ | x, x′)."""
    words, gold = zip(*RIB_ROB, strict=True)
    crf = SeparateCRF("word", c2=1e-6, contexts=("word", "pair:word-1,word"), tolerance=1e-9).fit(words, gold)
    assert math.exp(crf.log_prob([list("rob")], [list("YOB")])[0]) == pytest.approx(9 / 10, abs=1e-3)
    ep = EmpiricalCRF(pair="word").fit(words, gold)
    assert crf.predict(words) == ep.predict(words)


# What goes wrong -------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", FITTED)
def test_no_convergence_is_a_warning(model: Any) -> None:
    with pytest.warns(ConvergenceWarning, match="no convergence after 3 iterations .* raise max_iterations"):
        found = model(max_iterations=3).fit(FEW, FEW_LABELS)
    assert found.predict(FEW[:2])


def test_scaling_without_convergence_is_a_warning() -> None:
    with pytest.warns(ConvergenceWarning, match="iis-s: no convergence after 2 iterations"):
        LinearChainCRF("iis-s", max_iterations=2).fit(FEW, FEW_LABELS)


@pytest.mark.parametrize("model", FITTED)
def test_control_c_keeps_the_best_weights(model: Any) -> None:
    def stop(entry: dict[str, Any]) -> None:
        if entry["iteration"] == 4:
            raise KeyboardInterrupt

    with pytest.warns(ConvergenceWarning, match="interrupted after 4 iterations"):
        found = model().fit(FEW, FEW_LABELS, progress=stop)
    best = min(entry["objective"] for entry in found.training_log_ if entry.get("factor") != "pair")
    assert model is SeparateCRF or found.objective_ == best
    assert found.score(FEW, FEW_LABELS) > 0.5


@pytest.mark.parametrize("model", FITTED)
def test_singular_cases(model: Any) -> None:
    """One label, one token; labels that are all equal; an attribute that never fires again."""
    assert model().fit([["a"]], [["N"]]).predict([["a", "b"]]) == [["N", "N"]]
    assert model().fit(FEW, [["N"] * len(words) for words in FEW]).predict(FEW[:1]) == [["N"] * len(FEW[0])]
    alone = model().fit([["a"], ["b"]], [["N"], ["M"]])
    assert alone.predict([["a"], ["b"]]) == [["N"], ["M"]]
    assert sum(alone.predict_marginals([["strange"]])[0][0].values()) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"initial": {("word=a", "N"): math.nan}}, r"initial has nan for \('word=a', 'N'\): give a finite"),
        ({"initial": [math.nan, 0.0, 0.0]}, "initial has nan for weight 0: give finite numbers"),
        ({"initial": [0.0]}, "initial has 1 weights where 3 features are"),
        ({"initial": {"word=q|N": 1.0}}, "a weight for 'word=q|N', and no feature is called so"),
        ({"initial": [1e200, 1e200, 1e200]}, "the objective of the initial weights is .*: give smaller"),
        ({"c2": -1.0}, "c2=-1.0: give a number from 0"),
        ({"c2": math.nan}, "c2=nan: give a number from 0"),
        ({"algorithm": "sgd"}, "algorithm='sgd': choose from 'lbfgs', 'l2sgd', 'ap', 'iis-s', 'iis-t'"),
        ({"max_iterations": 0}, "max_iterations=0: give a whole number from 1"),
        ({"tolerance": -1}, "tolerance=-1: give a number from 0 to 1"),
        ({"contexts": ("wrod",)}, "no view is called 'wrod'"),
        ({"contexts": ("col2",)}, "looks at col2, and the tokens have words alone"),
        ({"all_states": "yes"}, "all_states='yes': say True or False"),
        ({"algorithm": "iis-s", "c2": 0.0, "all_states": True}, "2 features never fire"),
        ({"n_jobs": 0}, "n_jobs=0"),
    ],
)
def test_bad_parameters(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        LinearChainCRF(**{"contexts": ("word",)} | options).fit([["a", "b"]], [["N", "M"]])


@pytest.mark.parametrize(
    ("model", "what"), [(MaxEntClassifier, "one label at a time"), (MEMM, "leave `pair:` out")]
)
def test_models_without_pair_contexts_say_so(model: Any, what: str) -> None:
    with pytest.raises(InputError, match=what):
        model(contexts=("word", "pair:word")).fit(FEW, FEW_LABELS)


@pytest.mark.parametrize("model", [*FITTED, HMM])
def test_sentences_without_labels(model: Any) -> None:
    with pytest.raises(InputError, match="no label"):
        model().fit([["a", "b"]])
    with pytest.raises(InputError, match="no labelled token to learn from"):
        model().fit([["a", "b"]], [[None, None]])


def test_tokens_without_a_label_cut_a_sentence() -> None:
    whole = LinearChainCRF(contexts=("word",)).fit([["a", "b"], ["d"]], [["N", "M"], ["N"]])
    cut = LinearChainCRF(contexts=("word",)).fit([["a", "b", "c", "d"]], [["N", "M", None, "N"]])
    assert cut.objective_ == pytest.approx(whole.objective_)
    assert cut.named_weights() == pytest.approx(whole.named_weights())


def test_named_weights_are_initial_weights() -> None:
    options: dict[str, Any] = {"contexts": ("word", "pair:initial"), "tolerance": 1e-8}
    once = LinearChainCRF(**options).fit(FEW, FEW_LABELS)
    again = LinearChainCRF(initial=once.named_weights(), **options).fit(FEW, FEW_LABELS)
    assert again.training_log_[0]["objective"] == pytest.approx(once.objective_, rel=1e-12)
    assert again.objective_ == pytest.approx(once.objective_, rel=1e-6)


@pytest.mark.parametrize("model", [LinearChainCRF(), MEMM(), SeparateCRF()], ids=repr)
def test_damaged_weights_do_not_load(model: FittedModel, tmp_path: Path) -> None:
    model.fit(FEW, FEW_LABELS)
    model.weights_ = model.weights_.copy()
    model.save(tmp_path / "m.model")
    whole = (tmp_path / "m.model").read_bytes()
    for wrong in (math.nan, 1e308):
        model.weights_[0] = wrong
        with pytest.raises(InputError, match="not saved: what was learned makes no sound model: a weight"):
            model.save(tmp_path / "m.model")
        assert (tmp_path / "m.model").read_bytes() == whole
        modelfile.write(tmp_path / "damaged.model", model._contents())
        with pytest.raises(ModelFileError, match="a weight of the model is not a number between"):
            corate.load(tmp_path / "damaged.model")


@pytest.mark.parametrize("contexts", [None, ["word", "pair:word", "pair:initial", "pair:word-1,word"]])
def test_explanations_are_weights(contexts: list[str] | None) -> None:
    crf = LinearChainCRF(contexts=contexts, c2=0.01).fit(FEW, FEW_LABELS)
    mixed = [words for words, labels in zip(FEW, crf.predict(FEW), strict=True) if len({*labels}) > 1][:5]
    assert len(mixed) == 5
    for words in mixed:
        explained = crf.explain(words)
        assert [each.label for each in explained] == crf.predict([words])[0]
        lattice = crf._lattice(crf._corpus([words]))
        total = sum(reason.score for each in explained for reason in each.reasons)
        assert total == pytest.approx(float(decode.viterbi(lattice).scores[0]))
