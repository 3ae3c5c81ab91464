"""Attributes, features and weights to and from the model file. What is read is checked for all that the
models rely on, and ValueError raised.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from corate.arrays import Float
from corate.contexts.template import Context
from corate.models.loglinear.attributes import Attributes
from corate.models.loglinear.features import Features
from corate.storage.modelfile import Contents

FIELDS = ("state_offsets", "state_labels", "left", "right", "pair_offsets", "pair_left", "pair_right")


def feature_arrays(kind: str, features: Features) -> dict[str, npt.NDArray[Any]]:
    return {f"{kind}/{name}": getattr(features, name) for name in FIELDS}


def restored_features(state: Contents, kind: str, n_labels: int) -> Features:
    features = Features(n_labels, *(state.arrays[f"{kind}/{name}"] for name in FIELDS))
    features.check()
    return features


def restored_weights(state: Contents, name: str, features: Features) -> Float:
    weights = state.arrays[name]
    if weights.dtype != np.float64 or weights.shape != (len(features),) or not np.isfinite(weights).all():
        raise ValueError("a weight is missing, or not a number")
    return weights


def restored_attributes(state: Contents, kind: str, contexts: Sequence[Context]) -> Attributes:
    """The attributes of a model file, checked for all that lookups rely on."""
    sources = {atom.source for context in contexts for atom in context.atoms}
    vocabularies = {source: state.texts[f"{kind}/{source}"] for source in sorted(sources)}
    for source, values in vocabularies.items():
        if any(a >= b for a, b in pairwise(values)):
            raise ValueError(f"vocabulary {source!r} is not sorted or repeats an entry")
    tables = [state.arrays[f"{kind}/{k}"] for k in range(len(contexts))]
    for context, table in zip(contexts, tables, strict=True):
        sizes = np.array([len(vocabularies[atom.source]) for atom in context.atoms])
        if table.dtype != np.int32 or table.ndim != 2 or table.shape[1] != len(sizes):
            raise ValueError(f"the values of the context {context} have another shape")
        if len(table) and ((table < 0) | (table >= sizes)).any():
            raise ValueError(f"a value of the context {context} is outside its vocabulary")
    return Attributes(contexts, vocabularies, tables)
