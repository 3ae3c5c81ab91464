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

from corate.models.registry import ROOMS as _MODELS

if TYPE_CHECKING:
    # For type checkers; under these names, so that they are seen from outside.
    from corate.contexts.files import read_contexts as read_contexts
    from corate.counts.counts import Counts as Counts
    from corate.errors import ConstraintError as ConstraintError
    from corate.errors import ConvergenceWarning as ConvergenceWarning
    from corate.errors import CorateError as CorateError
    from corate.errors import InputError as InputError
    from corate.errors import ModelFileError as ModelFileError
    from corate.errors import NotFittedError as NotFittedError
    from corate.evaluation.evaluate import Evaluation as Evaluation
    from corate.evaluation.significance import Comparison as Comparison
    from corate.evaluation.significance import compare as compare
    from corate.lattice.constraints import Constraints as Constraints
    from corate.models.counted import merge as merge
    from corate.models.empirical.empirical import EmpiricalCRF as EmpiricalCRF
    from corate.models.graph.network import RateNetwork as RateNetwork
    from corate.models.graph.tree_tagger import TreeTagger as TreeTagger
    from corate.models.hmm import HMM as HMM
    from corate.models.loglinear.crf import LinearChainCRF as LinearChainCRF
    from corate.models.loglinear.maxent import MaxEntClassifier as MaxEntClassifier
    from corate.models.loglinear.memm import MEMM as MEMM
    from corate.models.loglinear.piecewise import PiecewiseCRF as PiecewiseCRF
    from corate.models.loglinear.separate import SeparateCRF as SeparateCRF
    from corate.models.registry import load as load
    from corate.models.tagger.tagger import Tagger as Tagger
    from corate.storage.locks import locked as locked
    from corate.text.corpus import Corpus as Corpus
    from corate.text.formats import read as read
    from corate.text.formats import read_corpus as read_corpus
    from corate.text.sample import load_sample as load_sample

__version__ = "0.1.0"

# Public names and their rooms. They are imported when first used, so that `corate --help` costs no NumPy.
_ROOMS = {
    **_MODELS,
    "Comparison": "evaluation.significance",
    "ConstraintError": "errors",
    "Constraints": "lattice.constraints",
    "ConvergenceWarning": "errors",
    "CorateError": "errors",
    "Corpus": "text.corpus",
    "Counts": "counts.counts",
    "Evaluation": "evaluation.evaluate",
    "InputError": "errors",
    "ModelFileError": "errors",
    "NotFittedError": "errors",
    "compare": "evaluation.significance",
    "load": "models.registry",
    "load_sample": "text.sample",
    "locked": "storage.locks",
    "merge": "models.counted",
    "read": "text.formats",
    "read_contexts": "contexts.files",
    "read_corpus": "text.formats",
}

__all__ = sorted(_ROOMS)


def __getattr__(name: str) -> Any:
    if name not in _ROOMS:
        raise AttributeError(f"module 'corate' has no attribute {name!r}")
    value = getattr(import_module(f"corate.{_ROOMS[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *_ROOMS])
