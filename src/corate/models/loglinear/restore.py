"""Attributes, features and weights to and from the model file. What is read is checked for all that the
models rely on, and ValueError raised.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from corate.arrays import Float
from corate.contexts.template import Context
from corate.counts.invariants import check_classes, check_vocabulary
from corate.counts.table import Table
from corate.models.loglinear.attributes import Attributes
from corate.models.loglinear.features import Features
from corate.storage.modelfile import Contents

FIELDS = ("state_offsets", "state_labels", "left", "right", "pair_offsets", "pair_left", "pair_right")
MOST_WEIGHT = 1e6  # sums of them are exact to many digits; those of a fit are below 100


def feature_arrays(kind: str, features: Features) -> dict[str, npt.NDArray[Any]]:
    return {f"{kind}/{name}": getattr(features, name) for name in FIELDS}


def feature_members(kind: str) -> set[str]:
    return {f"{kind}/{name}" for name in FIELDS}


def member_names(kinds: Sequence[tuple[str, Sequence[Context]]]) -> set[str]:
    """What a model file holds for contexts of these kinds."""
    names = {"y", "words", "weights"} | feature_members("features")
    for kind, contexts in kinds:
        names |= {f"{kind}/{atom.source}" for context in contexts for atom in context.atoms}
        names |= {f"{kind}/{k}" for k in range(len(contexts))}
    return names


def restored_features(state: Contents, kind: str, n_labels: int, n_extra: int = 0) -> Features:
    """`n_extra`: of the labels, so many are extra ones, which stand before all others."""
    features = Features(n_labels + n_extra, *(state.arrays[f"{kind}/{name}"] for name in FIELDS))
    features.check()
    for labels in (features.state_labels, features.right, features.pair_right):
        if len(labels) and labels.max() >= n_labels:
            raise ValueError("a feature has a label that stands before all others")
    return features


def checked_weights(weights: npt.NDArray[Any], n: int, what: str = "the model") -> Float:
    """As many weights as there are features, each a number that makes sense."""
    if weights.dtype != np.float64 or weights.shape != (n,):
        raise ValueError(f"the weights of {what} do not fit the counts, or the features")
    if not (np.abs(weights) <= MOST_WEIGHT).all():
        raise ValueError(f"a weight of {what} is not a number between -{MOST_WEIGHT:g} and {MOST_WEIGHT:g}")
    return weights


def restored_objective(state: Contents) -> float:
    objective = state.header["objective"]
    if type(objective) is not float or not math.isfinite(objective):
        raise ValueError(f"the objective is {objective!r:.60}")
    return objective


def restored_texts(state: Contents, name: str) -> list[str]:
    values = state.texts[name]
    check_vocabulary(name, values)
    if name == "y":
        check_classes(values)
    return values


def restored_attributes(state: Contents, kind: str, contexts: Sequence[Context]) -> Attributes:
    """The attributes of a model file, checked for all that lookups rely on."""
    sources = {atom.source for context in contexts for atom in context.atoms}
    vocabularies = {source: restored_texts(state, f"{kind}/{source}") for source in sorted(sources)}
    tables = [state.arrays[f"{kind}/{k}"] for k in range(len(contexts))]
    for context, table in zip(contexts, tables, strict=True):
        sizes = np.array([len(vocabularies[atom.source]) for atom in context.atoms])
        if table.dtype != np.int32 or table.ndim != 2 or table.shape[1] != len(sizes):
            raise ValueError(f"the values of the context {context} have another shape")
        is_sorted, highest = Table(table, np.empty(0, np.int64)).check()
        if (len(table) and not (np.array(highest) < sizes).all()) or min(highest) < 0:
            raise ValueError(f"a value of the context {context} is outside its vocabulary")
        if not is_sorted:
            raise ValueError(f"the values of the context {context} are not sorted, or one is there twice")
    return Attributes(contexts, vocabularies, tables)
