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
    from corate.baselines import HMM, MEMM, LinearChainCRF, MaxEntClassifier, PiecewiseCRF
    from corate.constraints import Constraints
    from corate.corpus import Corpus
    from corate.counted import merge
    from corate.counts import Counts
    from corate.empirical import EmpiricalCRF
    from corate.errors import (
        ConstraintError,
        ConvergenceWarning,
        CorateError,
        InputError,
        ModelFileError,
        NotFittedError,
    )
    from corate.estimator import load
    from corate.evaluate import Evaluation
    from corate.formats import read, read_corpus
    from corate.locks import locked
    from corate.sample import load_sample
    from corate.separate import SeparateCRF
    from corate.significance import Comparison, compare
    from corate.tagger import Tagger
    from corate.templates import read_contexts

__version__ = "0.1.0"

# Public names and their rooms. They are imported when first used, so that `corate --help` costs no NumPy.
_ROOMS = {
    "HMM": "baselines",
    "LinearChainCRF": "baselines",
    "MEMM": "baselines",
    "MaxEntClassifier": "baselines",
    "PiecewiseCRF": "baselines",
    "SeparateCRF": "separate",
    "ConvergenceWarning": "errors",
    "Constraints": "constraints",
    "Comparison": "significance",
    "ConstraintError": "errors",
    "CorateError": "errors",
    "Corpus": "corpus",
    "Counts": "counts",
    "EmpiricalCRF": "empirical",
    "Evaluation": "evaluate",
    "InputError": "errors",
    "ModelFileError": "errors",
    "NotFittedError": "errors",
    "Tagger": "tagger",
    "compare": "significance",
    "load": "estimator",
    "merge": "counted",
    "load_sample": "sample",
    "locked": "locks",
    "read": "formats",
    "read_contexts": "templates",
    "read_corpus": "formats",
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
