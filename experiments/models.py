"""The models that the experiments compare: what each is called, how it is made, how pictures show it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import corate
from corate import EmpiricalCRF, InputError, LinearChainCRF, Tagger
from lab.peers import CRFsuite, TnT, lafferty

OURS = "corate"
CRFPP_DEFAULT = 0.5  # CRF++'s C = 1 is c2 = 1 / (2 C)
TUNED = 0.1


@dataclass(frozen=True)
class Model:
    """`papers` is its name in the papers' tables. `per_pair`: training visits every pair of labels.

    `corpora`: whether it is run on Brown and CoNLL-2002 if nothing is said.

    A colour is a family, and colour and mark together are one model, the same in every picture; `mark` is
    one of matplotlib's letters, after which ° leaves it empty inside.
    """

    title: str
    says: str
    colour: str
    mark: str
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


def _empirical(unknown: str, mu_oov: float | None = 1.0, pair: str = "label") -> Callable[[], EmpiricalCRF]:
    """POS and NER of 000: a parameter a tag–word pair and a tag–tag pair; 002 prints #(s, s′, o, o′)."""
    return lambda: EmpiricalCRF(unknown=unknown, pair=pair, mu_oov=mu_oov)


def _crfsuite(title: str, says: str, mark: str, c2: float) -> Model:
    return Model(
        title, says, "green", mark, lambda: CRFsuite(lafferty, c2=c2), "", "python-crfsuite", per_pair=True
    )


_EP1 = "empirical training of 000: factors are relative frequencies"
_EP1_MU = "the same, its exponent at unknown words chosen on held-out sentences"
_EP1_LABEL = "EP1 with pair factors that do not see words"
_WORD_PAIRS = (
    "the same with the pair factor that is printed, #(y, y′, x, x′), where both words were seen together"
)
_ECRN = "empirical co-occurrence rate network of 002"
_EP2 = "EP1 with maximum entropy models for unknown words"
_FIXED = "this project's model, counting alone: many contexts, weights that come with the package"
_TAGGER = "this project's model with its default, some hundred weights fitted to the data"
_SEPARATE = "both factors as maximum entropy models, each trained on its own (003), pairs by labels alone"
_SEPARATE_WORD = "the same with pair factors that look at both words"
_AP = "the same features, averaged perceptron"
_CRF = "standard training by L-BFGS with the default penalty of CRF++"
_PIECEWISE = "the factors of a CRF trained as if each stood alone"
_CRFSUITE = "python-crfsuite with its default penalty, L-BFGS, the papers' features"
_HMM = "hidden Markov model, smoothed, with a suffix model of unknown words"
_TNT = "NLTK's trigram tagger with a suffix model"
_MEMM = "maximum entropy Markov model: the next label given the one before"
_SHARED = "one such model for all labels before, over all labels"
_CMM = "conditional Markov model by relative frequencies (002 eqn 2)"

MODELS = {
    "ep1": Model("EP1", _EP1, "blue", "o", _empirical("mean"), "EP1"),
    "ep1-mu": Model("EP1, μ chosen", _EP1_MU, "blue", "o°", _empirical("mean", mu_oov=None)),
    "ep1-label": Model("EP1, label pairs", _EP1_LABEL, "blue", "D"),
    "ecrn": Model("ECRN", _ECRN, "sky", "o", _empirical("signature"), "ECRN"),
    "ep2": Model("EP2", _EP2, "blue", "s", _empirical("maxent"), "EP2", per_pair=True),
    "ep1-word": Model("EP1, word pairs", _WORD_PAIRS, "blue", "^", _empirical("mean", pair="word")),
    "ecrn-word": Model("ECRN, word pairs", _WORD_PAIRS, "sky", "^", _empirical("signature", pair="word")),
    "ep2-word": Model(
        "EP2, word pairs", _WORD_PAIRS, "blue", "s°", _empirical("maxent", pair="word"), per_pair=True
    ),
    "tagger-fixed": Model("Tagger, fixed", _FIXED, "red", "o°", lambda: Tagger(weights="fixed")),
    "tagger": Model("Tagger", _TAGGER, "red", "o", Tagger),
    "separate": Model("Separate", _SEPARATE, "sky", "s", lambda: corate.SeparateCRF(c2=TUNED)),
    "separate-word": Model(
        "Separate, word pairs",
        _SEPARATE_WORD,
        "sky",
        "s°",
        lambda: corate.SeparateCRF("word", c2=TUNED),
        per_pair=True,
    ),
    "crf": Model(
        "CRF, c2=0.5", _CRF, "green", "o°", lambda: LinearChainCRF(c2=CRFPP_DEFAULT), "CRF++", per_pair=True
    ),
    "crf-tuned": Model(
        "CRF, c2=0.1",
        "the same with a fifth of the penalty",
        "green",
        "o",
        lambda: LinearChainCRF(c2=TUNED),
        per_pair=True,
    ),
    "crf-ap": Model("CRF, perceptron", _AP, "green", "^", lambda: LinearChainCRF("ap"), per_pair=True),
    "pw": Model(
        "Piecewise", _PIECEWISE, "purple", "s", lambda: corate.PiecewiseCRF(c2=TUNED), "PW", per_pair=True
    ),
    "crfsuite-1": _crfsuite("CRFsuite, c2=1", _CRFSUITE, "D°", 1.0),
    "crfsuite-0.1": _crfsuite("CRFsuite, c2=0.1", "the same with a tenth of the penalty", "D", 0.1),
    "hmm": Model("HMM", _HMM, "orange", "s", corate.HMM),
    "tnt": Model("TnT", _TNT, "orange", "^", TnT, package="nltk"),
    # Not on corpora, as in the papers; the label bias leaves it 19.7 % on Brown 1000/4000.
    "memm": Model("MEMM", _MEMM, "grey", "D", lambda: corate.MEMM(c2=TUNED), "MEMM", corpora=False),
    "memm-shared": Model(
        "MEMM, shared", _SHARED, "grey", "s", lambda: corate.MEMM(c2=TUNED, models="shared")
    ),
    "maxent": Model(
        "MaxEnt", "every label for itself, no chain", "grey", "v", lambda: corate.MaxEntClassifier(c2=TUNED)
    ),
    "cmm": Model("CMM, counted", _CMM, "grey", "D°"),
}


def title_of(key: str) -> str:
    """Of a model, or of a method that only the papers have."""
    return MODELS[key].title if key in MODELS else key
