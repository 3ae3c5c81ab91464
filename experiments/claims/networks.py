"""Label bias and the characteristics of models: 000 §3.5, 002 §II, §III-C and Table I, 003, 004 §2."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from corate import HMM, MEMM, EmpiricalCRF, LinearChainCRF, load_sample
from corate.lattice import decode
from corate.text.tokens import as_corpus
from experiments import label_bias
from experiments.claims.claim import Finding, claim, holds, holds_under
from lab.store import Record

NEAR = 2.0  # percent of the best possible
TABLE_1 = {  # 002: normalisation, directionality, label bias; whose training is fast is measured on corpora
    "HMM": ("local", "directed", "no"),
    "CMM": ("local", "directed", "yes"),
    "CRF": ("global", "undirected", "no"),
    "ECRN": ("local", "undirected", "no"),
}


def _affected(results: Record) -> dict[str, bool]:
    """Whether a model is far from the best possible in the simulation."""
    bias = results["label_bias"]
    half = (bias["optimum"] + bias["blind"]) / 2
    return {key: of["overall"] < half for key, of in bias["models"].items()}


@claim(
    "002 §II-B3, §III-C",
    "rob is YOB: p(YOB) = 9/10 for ECRN, 9/21 against 12/21 for a conditional Markov model.",
    "label_bias",
)
def rib_rob(results: Record) -> Finding:
    found = label_bias.rib_rob()
    ecrn, cmm = found["ecrn"], found[label_bias.CMM]
    right = abs(float(ecrn["YOB"]) - 0.9) < 1e-9 and cmm == {
        "YOB": Fraction(9, 21),
        "XIB": Fraction(12, 21),
    }
    return holds(right, f"ECRN {float(ecrn['YOB']):.4f}; CMM {cmm['YOB']} and {cmm['XIB']}")


@claim(
    "000 §3.5, Tab. 1; 002 Tab. II; 004 §2",
    "Conditional Markov models suffer from the label bias; empirical training, CRFs and piecewise "
    "training do not.",
    "label_bias",
)
def label_bias_problem(results: Record) -> Finding:
    affected, bias = _affected(results), results["label_bias"]["models"]
    suffer = {key for key in ("memm", "cmm") if key in affected}
    free = {key for key in ("ep1", "ep2", "ecrn", "crf-tuned", "pw") if key in affected}
    right = all(affected[key] for key in suffer) and not any(affected[key] for key in free)
    return holds(right, ", ".join(f"{key} {bias[key]['overall']:.1f}" for key in sorted(suffer | free)))


@claim(
    "000 Tab. 1; 002 Tab. II",
    "95.8 to 96.0 % of the labels are right without the bias, 66.6 % with it.",
    "label_bias",
)
def label_bias_figures(results: Record) -> Finding:
    bias = results["label_bias"]
    pairs = [
        (label_bias.ROWS[m], of["overall"])
        for m, of in bias["published"].items()
        if label_bias.ROWS[m] in bias["models"]
    ]
    away = {key: abs(bias["models"][key]["overall"] - figure) for key, figure in pairs}
    worst = max(away, key=away.__getitem__)
    return holds(
        away[worst] < 1.5,
        f"at most {away[worst]:.2f} points away ({worst}); the best possible is {bias['optimum']:.2f} %",
    )


@claim("003, (i)", "Separate training is unaffected by the label bias.", "label_bias")
def separate_label_bias(results: Record) -> Finding:
    """With pair factors by words and by labels alone, in one round of the simulation."""
    import random

    from corate import SeparateCRF

    rng = random.Random(0)
    train, test = label_bias.simulate(500, rng), label_bias.simulate(125, rng)
    rates = {
        pair: 100 * SeparateCRF(pair, c2=0.1).fit(train.words, train.labels).score(test.words, test.labels)
        for pair in ("label", "word")
    }
    return holds(
        min(rates.values()) > 100 * (label_bias.OPTIMUM + label_bias.BLIND) / 2,
        ", ".join(f"pairs by {pair}s {rate:.1f} %" for pair, rate in rates.items())
        + f"; blind would be {100 * label_bias.BLIND:.1f} %",
    )


def directions() -> dict[str, bool]:
    """Whether a model that learns every sentence from its end gives the same probabilities."""
    X, y = load_sample()
    X, y = X[:40], y[:40]
    models: dict[str, Callable[[], Any]] = {
        "HMM": lambda: HMM(smoothing="none", contexts=()),
        "CMM": lambda: MEMM(c2=0.1, contexts=["word"]),
        "CRF": lambda: LinearChainCRF(c2=0.5, contexts=["word"], tolerance=1e-8),
        "ECRN": lambda: EmpiricalCRF("signature", pair="word"),
    }
    back = [words[::-1] for words in X], [labels[::-1] for labels in y]
    same = {}
    for name, make in models.items():
        forward = make().fit(X, y).log_prob(X[:10], y[:10])
        backward = make().fit(*back).log_prob(back[0][:10], back[1][:10])
        same[name] = bool(np.abs(np.asarray(forward) - np.asarray(backward)).max() < 0.05)
    return same


def local_sums() -> dict[str, float]:
    """Σ of the factors over all labels of rob, not divided by anything, after training on rib and rob."""
    part = [(list(words), list(labels)) for words, labels, n in label_bias.RIB_ROB for _ in range(n)]
    X, y = [words for words, _ in part], [labels for _, labels in part]
    asked, found = as_corpus([list("rob")]), {}
    models: dict[str, Any] = {
        "CMM": MEMM(c2=0.1, contexts=["word"]),
        "CRF": LinearChainCRF(c2=0.1, contexts=["word"]),
        "ECRN": EmpiricalCRF("signature", pair="word"),
    }
    for name, model in models.items():
        lattice = model.fit(X, y)._lattice(asked)
        found[name] = math.exp(float(decode.marginals(lattice).log_z[0]))
    return found


def measured_table(results: Record) -> dict[str, tuple[str, str, str]]:
    """002 Table I as it comes out here; – where nothing was measured."""
    affected, sums, same = _affected(results), local_sums(), directions()
    rows: Mapping[str, str] = {"HMM": "hmm", "CMM": "memm", "CRF": "crf-tuned", "ECRN": "ecrn"}
    return {
        name: (
            ("local" if abs(sums[name] - 1) < 1e-6 else "global") if name in sums else "–",
            "undirected" if same[name] else "directed",
            {True: "yes", False: "no", None: "–"}[affected.get(key)],
        )
        for name, key in rows.items()
    }


@claim("002 Tab. I", "Normalisation, directionality and label bias of HMM, CMM, CRF and ECRN.")
def table_1(results: Record) -> Finding:
    found = measured_table(results)
    wrong = [
        f"{name} is {is_here}, not {printed}"
        for name, row in found.items()
        for is_here, printed in zip(row, TABLE_1[name], strict=True)
        if is_here not in ("–", printed)
    ]
    measured = sum(each != "–" for row in found.values() for each in row)
    but_hmm = [line for line in wrong if not line.startswith("HMM is undirected")]
    return holds_under(
        not but_hmm, not wrong,
        f"{measured - len(wrong)} of {measured} entries as measured: label bias by simulation, "
        "normalisation by the sum of the "
        f"factors, direction by training from the end" + (f"; {', '.join(wrong)}" if wrong else ""),
    )  # fmt: skip
