"""corate labels sequences with conditional random fields that are trained by counting.

    text files ──► Corpus ──► contexts ──► Counts ──► factors ──► Lattice ──► decode ──► labels ──► evaluation
                  (columns)  (what a      (integers,  (log        (candidates  (Viterbi,
                              position     add and     rates)      and scores)  marginals,
                              looks like)  subtract)                            n-best)

>>> import corate
>>> tagger = corate.Tagger().fit(*corate.load_sample())
>>> tagger.predict([["the", "dog", "barks"]])
[['DET', 'NOUN', 'VERB']]
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from corate.contexts.files import read_contexts
    from corate.counts.counts import Counts
    from corate.errors import (
        ConstraintError,
        ConvergenceWarning,
        CorateError,
        InputError,
        ModelFileError,
        NotFittedError,
    )
    from corate.evaluation.evaluate import Evaluation
    from corate.evaluation.significance import Comparison, compare
    from corate.lattice.constraints import Constraints
    from corate.models.counted import merge
    from corate.models.empirical.empirical import EmpiricalCRF
    from corate.models.hmm import HMM
    from corate.models.loglinear.crf import LinearChainCRF
    from corate.models.loglinear.maxent import MaxEntClassifier
    from corate.models.loglinear.memm import MEMM
    from corate.models.loglinear.piecewise import PiecewiseCRF
    from corate.models.loglinear.separate import SeparateCRF
    from corate.models.registry import load
    from corate.models.tagger.tagger import Tagger
    from corate.storage.locks import locked
    from corate.text.corpus import Corpus
    from corate.text.formats import read, read_corpus
    from corate.text.sample import load_sample

__version__ = "0.1.0"

# Public names and their rooms. They are imported when first used, so that `corate --help` costs no NumPy.
_ROOMS = {
    "HMM": "models.hmm",
    "LinearChainCRF": "models.loglinear.crf",
    "MEMM": "models.loglinear.memm",
    "MaxEntClassifier": "models.loglinear.maxent",
    "PiecewiseCRF": "models.loglinear.piecewise",
    "SeparateCRF": "models.loglinear.separate",
    "ConvergenceWarning": "errors",
    "Constraints": "lattice.constraints",
    "Comparison": "evaluation.significance",
    "ConstraintError": "errors",
    "CorateError": "errors",
    "Corpus": "text.corpus",
    "Counts": "counts.counts",
    "EmpiricalCRF": "models.empirical.empirical",
    "Evaluation": "evaluation.evaluate",
    "InputError": "errors",
    "ModelFileError": "errors",
    "NotFittedError": "errors",
    "Tagger": "models.tagger.tagger",
    "compare": "evaluation.significance",
    "load": "models.registry",
    "merge": "models.counted",
    "load_sample": "text.sample",
    "locked": "storage.locks",
    "read": "text.formats",
    "read_contexts": "contexts.files",
    "read_corpus": "text.formats",
}

__all__ = [
    "HMM",
    "MEMM",
    "Comparison",
    "ConstraintError",
    "Constraints",
    "ConvergenceWarning",
    "CorateError",
    "Corpus",
    "Counts",
    "EmpiricalCRF",
    "Evaluation",
    "InputError",
    "LinearChainCRF",
    "MaxEntClassifier",
    "ModelFileError",
    "NotFittedError",
    "PiecewiseCRF",
    "SeparateCRF",
    "Tagger",
    "compare",
    "load",
    "load_sample",
    "locked",
    "merge",
    "read",
    "read_contexts",
    "read_corpus",
]


def __getattr__(name: str) -> Any:
    if name not in _ROOMS:
        raise AttributeError(f"module 'corate' has no attribute {name!r}")
    value = getattr(import_module(f"corate.{_ROOMS[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *_ROOMS])
