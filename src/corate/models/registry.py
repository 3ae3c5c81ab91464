"""The registry of models: where each lives, by its name; and how a saved one is loaded."""

from __future__ import annotations

import os
from importlib import import_module
from pathlib import Path
from typing import Any

from corate.errors import ModelFileError
from corate.models.base import Estimator
from corate.storage import modelfile

# Where the class of a model file lives, by its name in the file.
MODELS = {
    "EmpiricalCRF": "corate.models.empirical.empirical",
    "HMM": "corate.models.hmm",
    "LinearChainCRF": "corate.models.loglinear.crf",
    "MEMM": "corate.models.loglinear.memm",
    "MaxEntClassifier": "corate.models.loglinear.maxent",
    "PiecewiseCRF": "corate.models.loglinear.piecewise",
    "SeparateCRF": "corate.models.loglinear.separate",
    "Tagger": "corate.models.tagger.tagger",
}


def load(path: str | os.PathLike[str]) -> Any:
    """The model that `save` (or `corate train`) wrote. Nothing in the file is ever executed."""
    contents = modelfile.read(Path(path))
    name, params = contents.header.get("model"), contents.header.get("params")
    if not isinstance(name, str) or name not in MODELS or not isinstance(params, dict):
        raise ModelFileError(f"{path}: holds a model {name!r} that this version of corate does not know")
    cls = getattr(import_module(MODELS[name]), name)
    try:
        model: Estimator = cls(**{k: tuple(v) if isinstance(v, list) else v for k, v in params.items()})
        model._check_params()
        model._restore(contents)
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise ModelFileError(f"{path}: not a sound model: {error}") from error
    return model
