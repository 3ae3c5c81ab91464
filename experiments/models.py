"""The models that the experiments compare: what each is called, how it is made, how pictures show it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from corate import (
    HMM,
    MEMM,
    EmpiricalCRF,
    InputError,
    LinearChainCRF,
    MaxEntClassifier,
    PiecewiseCRF,
    SeparateCRF,
    Tagger,
)
from peers import CRFsuite, TnT

OURS = "corate"
CRFPP_DEFAULT = 0.5  # CRF++'s C = 1 is c2 = 1 / (2 C)
TUNED = 0.1


@dataclass(frozen=True)
class Model:
    """`papers` is its name in the papers' tables. `per_pair`: training visits every pair of labels.

    `corpora`: whether it is run on Brown and CoNLL-2002 if nothing is said.

    A colour is a family, and colour and shape together are one model, the same in every picture.
    """

    title: str
    says: str
    colour: str
    shape: str
    make: Callable[[], Any] | None = None
    papers: str = ""
    package: str = OURS
    per_pair: bool = False
    corpora: bool = True

    def made(self) -> Any:
        if self.make is None:
            raise InputError(f"{self.title} is made by the experiment that it belongs to")
        return self.make()

    def settings(self) -> str:
        """What the made model is told, for whoever asks whether two measurements are of the same."""
        crf = self.made()
        params = crf.get_params() if hasattr(crf, "get_params") else {}
        return f"{type(crf).__name__} {sorted(params.items())}"


# POS and NER: the papers have one parameter a tag–word pair and one a tag–tag pair, hence pair="label".
MODELS = {
    "ep1": Model(
        "EP1",
        "empirical training of 000: factors are relative frequencies",
        "blue",
        "circle",
        lambda: EmpiricalCRF(unknown="mean", pair="label", mu_oov=1.0),
        "EP1",
    ),
    "ep1-mu": Model(
        "EP1, μ chosen",
        "the same, its exponent at unknown words chosen on held-out sentences",
        "blue",
        "ring",
        lambda: EmpiricalCRF(unknown="mean", pair="label", mu_oov=None),
    ),
    "ep1-label": Model("EP1, label pairs", "EP1 with pair factors that do not see words", "blue", "diamond"),
    "ecrn": Model(
        "ECRN",
        "empirical co-occurrence rate network of 002",
        "sky",
        "circle",
        lambda: EmpiricalCRF(unknown="signature", pair="label", mu_oov=1.0),
        "ECRN",
    ),
    "ep2": Model(
        "EP2",
        "EP1 with maximum entropy models for unknown words",
        "blue",
        "square",
        lambda: EmpiricalCRF(unknown="maxent", pair="label", mu_oov=1.0),
        "EP2",
        per_pair=True,
    ),
    "tagger-fixed": Model(
        "Tagger, fixed",
        "this project's model, counting alone: many contexts, weights that come with the package",
        "red",
        "ring",
        lambda: Tagger(weights="fixed"),
    ),
    "tagger": Model(
        "Tagger",
        "this project's model with its default, some hundred weights fitted to the data",
        "red",
        "circle",
        Tagger,
    ),
    "separate": Model(
        "Separate",
        "both factors as maximum entropy models, each trained on its own (003)",
        "sky",
        "square",
        lambda: SeparateCRF(c2=TUNED),
        per_pair=True,
    ),
    "crf": Model(
        "CRF, c2=0.5",
        "standard training by L-BFGS with the default penalty of CRF++",
        "green",
        "ring",
        lambda: LinearChainCRF(c2=CRFPP_DEFAULT),
        "CRF++",
        per_pair=True,
    ),
    "crf-tuned": Model(
        "CRF, c2=0.1",
        "the same with a fifth of the penalty",
        "green",
        "circle",
        lambda: LinearChainCRF(c2=TUNED),
        per_pair=True,
    ),
    "pw": Model(
        "Piecewise",
        "the factors of a CRF trained as if each stood alone",
        "purple",
        "square",
        lambda: PiecewiseCRF(c2=TUNED),
        "PW",
        per_pair=True,
    ),
    "crfsuite-1": Model(
        "CRFsuite, c2=1",
        "python-crfsuite with its default penalty, L-BFGS, the papers' features",
        "green",
        "diamond-ring",
        lambda: CRFsuite(c2=1.0),
        package="python-crfsuite",
        per_pair=True,
    ),
    "crfsuite-0.1": Model(
        "CRFsuite, c2=0.1",
        "the same with a tenth of the penalty",
        "green",
        "diamond",
        lambda: CRFsuite(c2=0.1),
        package="python-crfsuite",
        per_pair=True,
    ),
    "hmm": Model(
        "HMM",
        "hidden Markov model, smoothed, with a suffix model of unknown words",
        "orange",
        "square",
        HMM,
    ),
    "tnt": Model(
        "TnT",
        "NLTK's trigram tagger with a suffix model",
        "orange",
        "triangle",
        TnT,
        package="nltk",
    ),
    "memm": Model(
        "MEMM",
        "maximum entropy Markov model: the next label given the one before",
        "grey",
        "diamond",
        lambda: MEMM(c2=TUNED),
        "MEMM",
        corpora=False,  # as in the papers; the label bias leaves it 19.7 % on Brown 1000/4000
    ),
    "memm-shared": Model(
        "MEMM, shared",
        "one such model for all labels before, over all labels",
        "grey",
        "square",
        lambda: MEMM(c2=TUNED, models="shared"),
    ),
    "maxent": Model(
        "MaxEnt",
        "every label for itself, no chain",
        "grey",
        "down",
        lambda: MaxEntClassifier(c2=TUNED),
    ),
    "cmm": Model(
        "CMM, counted", "conditional Markov model by relative frequencies (002 eqn 2)", "grey", "diamond-ring"
    ),
}
