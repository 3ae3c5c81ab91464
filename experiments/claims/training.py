"""Training and decoding: piecewise (000 §3.6), costs, 002 §II and §III, 003, maximum entropy (004)."""

from __future__ import annotations

import math
import warnings
from dataclasses import replace
from itertools import pairwise, product

import numpy as np
from scipy.optimize import minimize

from corate import EmpiricalCRF, LinearChainCRF, PiecewiseCRF, SeparateCRF, load_sample
from corate.arrays import Float
from corate.lattice import decode
from corate.lattice.lattice import Lattice
from corate.models.loglinear.expectations import transition_scores
from corate.models.loglinear.iis import most_features
from corate.models.loglinear.pieces import distinct_edges, single_positions
from corate.text.tokens import as_corpus
from experiments.claims.claim import Finding, claim, holds
from lab.store import Record

FEW = 60  # sentences of the sample


def few() -> tuple[list[list[str]], list[list[str]]]:
    X, y = load_sample()
    return X[:FEW], y[:FEW]


@claim(
    "000 §3.6",
    "Piecewise training maximises a lower bound of the likelihood, and its maximum is normally not that "
    "of standard training.",
)
def piecewise_bound(results: Record) -> Finding:
    X, y = few()
    piecewise, best = PiecewiseCRF(c2=0.1).fit(X, y), LinearChainCRF(c2=0.1).fit(X, y)
    penalty = 0.1 * float(piecewise.weights_ @ piecewise.weights_)
    bound = piecewise.objective_
    reached = penalty - float(np.sum(piecewise.log_prob(X, y)))  # the same weights, normalised as a whole
    return holds(
        bound >= reached > best.objective_ + 0.1,
        f"penalised −log L: {bound:.2f} as the pieces see it, {reached:.2f} of the same weights as a "
        f"whole, {best.objective_:.2f} at the optimum",
    )


def visits(n: int, n_labels: int) -> int:
    """Pairs of labels that Viterbi looks at in a sentence of n words with all labels, counted as it goes."""
    seen = 0
    best = [0.0] * n_labels
    for _ in range(n - 1):
        new = []
        for _right in range(n_labels):
            score = -math.inf
            for left in range(n_labels):
                seen += 1
                score = max(score, best[left])
            new.append(score)
        best = new
    return seen


def lattice_cells(n: int, n_labels: int) -> int:
    """Left candidates × right candidates of a real lattice, summed over its edges."""
    words = [[f"w{i % 3}" for i in range(n)]] * 2
    labels = [[str((i + shift) % n_labels) for i in range(n)] for shift in (0, 1)]
    crf = LinearChainCRF("ap", max_iterations=1, tolerance=0.9).fit(
        [*words, [f"w{k}" for k in range(n_labels)]], [*labels, [str(k) for k in range(n_labels)]]
    )
    sizes = np.diff(crf._lattice(crf._corpus(words[:1])).positions)
    return int((sizes[:-1] * sizes[1:]).sum())


@claim("000 §3.6, §3.8", "Decoding, and Z of standard and of piecewise training, take O(n |Y|²).")
def cost_of_decoding(results: Record) -> Finding:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        base, longer, wider = (lattice_cells(n, k) for n, k in ((11, 4), (21, 4), (11, 8)))
    right = visits(11, 4) == base and longer == 2 * base and wider == 4 * base
    return holds(
        right, f"label pairs: {base} for 11 words and 4 labels; {longer} for 21 words, {wider} for 8 labels"
    )


@claim(
    "002 §II-C",
    "Stochastic gradient and averaged perceptron need fewer iterations, each as expensive; they may "
    "oscillate.",
)
def online_training(results: Record) -> Finding:
    X, y = load_sample()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of passes that are cut short
        logs = {
            name: LinearChainCRF(name, c2=0.1, max_iterations=n).fit(X, y).training_log_
            for name, n in (("lbfgs", 1000), ("l2sgd", 20), ("ap", 20))
        }
    goal = 1.1 * logs["lbfgs"][-1]["objective"]
    reach = {
        name: next((e["iteration"] for e in logs[name] if e["objective"] <= goal), math.inf)
        for name in ("lbfgs", "l2sgd")
    }
    up = {name: sum(b["objective"] > a["objective"] for a, b in pairwise(log)) for name, log in logs.items()}
    return holds(
        reach["l2sgd"] < reach["lbfgs"] and up["l2sgd"] + up["ap"] > 0 == up["lbfgs"],
        f"within 10 % of the optimum after {reach['l2sgd']} passes, L-BFGS after {reach['lbfgs']}; steps "
        "that went up: "
        f"l2sgd {up['l2sgd']}, perceptron {up['ap']}, L-BFGS {up['lbfgs']}",
    )


@claim(
    "002 §III-D", "The three probabilities of a CR must be given the same features, or accuracy decreases."
)
def same_condition(results: Record) -> Finding:
    (X, y), (test, gold) = load_sample(), load_sample("test")
    crf = SeparateCRF(c2=0.1).fit(X, y)
    corpus = as_corpus(test)
    lattice = crf._lattice(corpus)
    n = len(crf.classes_)
    edges = np.ones(corpus.n_tokens + 1)
    edges[corpus.offsets] = 0.0
    deg = edges[:-1] + edges[1:]  # of each token
    v = transition_scores(crf.features_, crf.weights_)
    v -= np.logaddexp.reduce(v, axis=None)
    unary = lattice.scores.reshape(-1, n)
    mixed = replace(lattice, scores=(unary * (1 - deg)[:, None]).reshape(-1), pair_scores=v)
    truth = corpus_labels(crf.classes_, gold)
    rates = [float(np.mean(decode.viterbi(of).labels(of) == truth)) for of in (lattice, mixed)]
    return holds(
        rates[0] > rates[1] + 0.01,
        f"CR(y; y′) without the words on both sides: {100 * rates[0]:.1f} % right; divided by P(y | x) "
        f"P(y′ | x′): {100 * rates[1]:.1f} %",
    )


def corpus_labels(classes: list[str], gold: list[list[str]]) -> Float:
    place = {label: k for k, label in enumerate(classes)}
    return np.array([place.get(label, -1) for labels in gold for label in labels])


@claim("002, footnote 3", "CR factors can be normalised by ΣCR after all.")
def normalised_rates(results: Record) -> Finding:
    """Σ over the label pairs is one number an edge: factors then sum to 1, and no label changes."""
    (X, y), (test, _) = load_sample(), load_sample("test")
    crf = EmpiricalCRF(pair="word").fit(X, y)
    lattice = crf._lattice(as_corpus(test))
    before = decode.viterbi(lattice).labels(lattice)
    after = normalise(lattice)
    changed = int(np.count_nonzero(decode.viterbi(after).labels(after) != before))
    total = float(np.exp(after.pair_scores).sum())
    return holds(
        changed == 0 and abs(total - 1) < 1e-9,
        f"they then sum to {total:.6f}, and {changed} of {len(before):,} labels change: it cancels in "
        "decoding",
    )


def normalise(lattice: Lattice) -> Lattice:
    """Every edge's rates divided by their sum."""
    blocks = lattice.edge_scores.copy()
    for begin, end in pairwise(lattice.edges.tolist()):
        if end > begin:
            blocks[begin:end] -= np.logaddexp.reduce(blocks[begin:end])
    pairs = lattice.pair_scores - np.logaddexp.reduce(lattice.pair_scores, axis=None)
    return replace(lattice, edge_scores=blocks, pair_scores=pairs)


@claim("003", "Local partition functions are shared by all instances with the same features.")
def shared_partitions(results: Record) -> Finding:
    X, y = load_sample()
    crf = SeparateCRF("word", c2=1.0, tolerance=0.5).fit(X, y)
    chains = crf._chains(as_corpus(X))
    positions, edges = chains.n_positions, len(chains.edges())
    alone = single_positions(chains).n_chains
    pairs = distinct_edges(chains, len(crf.attributes_)).n_chains
    return holds(
        alone < positions and pairs < edges,
        f"{positions:,} positions have {alone:,} partition functions, {edges:,} edges {pairs:,}; by "
        "labels alone, 1",
    )


@claim(
    "004 §0.6, eqns 6, 8",
    "H(X,Y) = H(X) + H(Y|X), and no distribution has more entropy than the uniform one.",
)
def entropies(results: Record) -> Finding:
    rng = np.random.default_rng(0)
    p = rng.dirichlet(np.ones(12), 50).reshape(50, 3, 4)
    x = p.sum(axis=2)
    joint, alone = (-(q * np.log(q)).sum(axis=tuple(range(1, q.ndim))) for q in (p, x))
    given = p / x[:, :, None]
    conditional = (x * -(given * np.log(given)).sum(axis=2)).sum(axis=1)
    miss = float(np.abs(joint - alone - conditional).max())
    return holds(
        miss < 1e-12 and joint.max() < math.log(12),
        f"to {miss:.0e} on 50 random distributions; the most is {joint.max():.3f} of log 12 = "
        f"{math.log(12):.3f}",
    )


@claim(
    "004 §0.7.2, §0.7.3",
    "Maximum entropy under constraints is dual to maximum likelihood of an exponential model.",
)
def duality(results: Record) -> Finding:
    """The primal by SLSQP over P(y | x), the dual by L-BFGS over w: the same value, the same distribution."""
    features = np.array([[[1, 0, 0], [0, 1, 0]], [[1, 1, 0], [0, 0, 1]]], float)  # f, x, y
    truth = np.array([[0.35, 0.1, 0.15], [0.1, 0.05, 0.25]])  # P̃(x, y)
    px, wanted = truth.sum(axis=1), (features * truth).sum(axis=(1, 2))

    def minus_entropy(flat: Float) -> float:
        p = np.clip(flat.reshape(2, 3), 1e-12, 1)
        return float((px[:, None] * p * np.log(p)).sum())

    constraints = [
        {"type": "eq", "fun": lambda flat: flat.reshape(2, 3).sum(axis=1) - 1},
        {
            "type": "eq",
            "fun": lambda flat: (features * (px[:, None] * flat.reshape(2, 3))).sum(axis=(1, 2)) - wanted,
        },
    ]
    primal = minimize(
        minus_entropy,
        np.full(6, 1 / 3),
        constraints=constraints,
        bounds=[(0, 1)] * 6,
        method="SLSQP",
        options={"ftol": 1e-12},
    )

    def log_p(w: Float) -> Float:
        scores = np.tensordot(w, features, 1)
        return np.asarray(scores - np.logaddexp.reduce(scores, axis=1)[:, None])

    dual = minimize(
        lambda w: -float((truth * log_p(w)).sum()), np.zeros(2), method="BFGS", options={"gtol": 1e-9}
    )
    gap = abs(-primal.fun - dual.fun)
    apart = float(np.abs(primal.x.reshape(2, 3) - np.exp(log_p(dual.x))).max())
    return holds(
        gap < 1e-6 and apart < 1e-3,
        f"entropy {-primal.fun:.6f}, −log likelihood {dual.fun:.6f}; P(y | x) differs by {apart:.0e}",
    )


@claim("004 eqns 40, 41", "Z is the (start, stop) element of the product of the matrices M.")
def matrix_form(results: Record) -> Finding:
    X, y = few()
    crf = LinearChainCRF(c2=1.0, contexts=["word"]).fit(
        X[:10], [["A" if label == "NOUN" else "B" for label in labels] for labels in y[:10]]
    )
    words = X[0][:6]
    made = crf.matrices(words)
    z = float(np.linalg.multi_dot(made)[-2, -1])
    lattice = crf._lattice(as_corpus([words]))
    every = [
        float(decode.sequence_scores(lattice, np.array(labels))[0])
        for labels in product((0, 1), repeat=len(words))
    ]
    summed = float(np.exp(np.logaddexp.reduce(every)))
    return holds(
        abs(z / summed - 1) < 1e-9, f"{z:.6g} by matrices, {summed:.6g} by adding up {len(every)} sequences"
    )


@claim(
    "004 §4.2, §4.3",
    "Algorithm S takes shorter steps than T, whose constant is each sentence's own; none goes down.",
)
def scaling(results: Record) -> Finding:
    X, y = few()
    logs = {
        name: LinearChainCRF(name, c2=0.5, contexts=["initial", "ending"], tolerance=1e-4)
        .fit(X[:20], y[:20])
        .training_log_
        for name in ("iis-s", "iis-t")
    }
    down = sum(b["objective"] > a["objective"] + 1e-9 for log in logs.values() for a, b in pairwise(log))
    steps = {name: len(log) - 1 for name, log in logs.items()}
    crf = LinearChainCRF(contexts=["word"], tolerance=0.1).fit(X, y)
    most = most_features(crf.features_, crf._chains(as_corpus(X)))
    return holds(
        down == 0 and steps["iis-t"] < steps["iis-s"],
        f"S needs {steps['iis-s']} steps and T {steps['iis-t']}; T(x) is {most.min()} to {most.max()}; "
        f"{down} steps lost likelihood",
    )
