"""The models that the experiments compare: what each is called, how it is made, how pictures show it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from corate import EmpiricalCRF, Tagger
from peers import CRFsuite, TnT

OURS = "corate"


@dataclass(frozen=True)
class Model:
    """`papers` is its name in the papers' tables. `per_pair`: training visits every pair of labels.

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

    def settings(self) -> str:
        """What the made model is told, for whoever asks whether two measurements are of the same."""
        crf: Any = self.make() if self.make else None
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
    "crfsuite-1": Model(
        "CRFsuite, c2=1",
        "python-crfsuite with its default penalty, L-BFGS, the papers' features",
        "green",
        "diamond-ring",
        lambda: CRFsuite(c2=1.0),
        "CRF++",
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
    "tnt": Model(
        "TnT",
        "NLTK's trigram tagger with a suffix model",
        "orange",
        "triangle",
        TnT,
        package="nltk",
    ),
    "cmm": Model(
        "CMM, counted", "conditional Markov model by relative frequencies (002 eqn 2)", "grey", "diamond-ring"
    ),
}
