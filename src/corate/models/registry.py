"""The registry of models: a line for each kind; and how a saved one is loaded.

What is known of models without them follows from it: the values of `corate train --model`, the classes that
`corate` exports, the classes that a model file may hold. NumPy is not imported: `corate --help` reads it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from corate.errors import ModelFileError


class Kind(NamedTuple):
    """A model as the command line names it."""

    name: str
    class_name: str
    room: str  # of corate.models
    counted: bool = False  # whether its training is counting, so that it adds and subtracts
    params: Mapping[str, Any] = {}  # parameters that the name stands for

    @property
    def cls(self) -> Any:
        return class_of(self.class_name)

    def make(self, **params: Any) -> Any:
        """An untrained model of this kind."""
        return self.cls(**self.params, **params)


KINDS = {
    kind.name: kind
    for kind in (
        Kind("tagger", "Tagger", "tagger.tagger", counted=True),
        Kind("ep1", "EmpiricalCRF", "empirical.empirical", counted=True, params={"unknown": "mean"}),
        Kind("ep2", "EmpiricalCRF", "empirical.empirical", counted=True, params={"unknown": "maxent"}),
        Kind("ecrn", "EmpiricalCRF", "empirical.empirical", counted=True, params={"unknown": "signature"}),
        Kind("hmm", "HMM", "hmm", counted=True),
        Kind("crf", "LinearChainCRF", "loglinear.crf"),
        Kind("maxent", "MaxEntClassifier", "loglinear.maxent"),
        Kind("memm", "MEMM", "loglinear.memm"),
        Kind("piecewise", "PiecewiseCRF", "loglinear.piecewise"),
        Kind("separate", "SeparateCRF", "loglinear.separate"),
    )
}

# Where each class lives, by its name, which model files have. Those of
# graphs have doors of their own: corate network, corate train --tree.
ROOMS = {kind.class_name: f"models.{kind.room}" for kind in KINDS.values()} | {
    "RateNetwork": "models.graph.network",
    "TreeTagger": "models.graph.tree_tagger",
}


def class_of(name: str) -> Any:
    return getattr(import_module(f"corate.{ROOMS[name]}"), name)


def load(path: str | os.PathLike[str], lazily: bool = False) -> Any:
    """The model that `save` (or `corate train`) wrote to `path`. Nothing in the file is ever executed.

    With `lazily` a Tagger reads no more of it than sentences ask for, as long as these are few, and checks
    what it reads: what is wrong elsewhere is found when it is first used, as a `ModelFileError`.
    """
    from corate.models.model import restored, sound
    from corate.storage import modelfile

    file = modelfile.opened(Path(path))
    name, params = file.header.get("model"), file.header.get("params")
    contents = file if lazily else file.whole()
    if not isinstance(name, str) or name not in ROOMS or not isinstance(params, dict):
        raise ModelFileError(f"{path}: holds a model {name!r} that this version of corate does not know")
    with sound(Path(path)):
        return restored(class_of(name), contents)
