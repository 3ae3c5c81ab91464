"""Features under readable names, by which weights are shown and may be given to begin with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from corate.arrays import Float
from corate.errors import InputError
from corate.models.loglinear.attributes import Attributes
from corate.models.loglinear.features import Features


def feature_names(
    features: Features, names: Sequence[str], pair_names: Sequence[str], classes: Sequence[str]
) -> list[tuple[str, ...]]:
    states = zip(features.state_attributes.tolist(), features.state_labels.tolist(), strict=True)
    pairs = zip(
        features.pair_attributes.tolist(),
        features.pair_left.tolist(),
        features.pair_right.tolist(),
        strict=True,
    )
    found: list[tuple[str, ...]] = [(names[a], classes[y]) for a, y in states]
    found += [
        ("", classes[y], classes[z])
        for y, z in zip(features.left.tolist(), features.right.tolist(), strict=True)
    ]
    return found + [(pair_names[a], classes[y], classes[z]) for a, y, z in pairs]


def starting_weights(
    initial: Any,
    features: Features,
    attributes: Attributes,
    pair_attributes: Attributes,
    classes: Sequence[str],
) -> Float:
    """Zeros; or a vector in the order of the features; or weights by name, the others zero."""
    if initial is None:
        return np.zeros(len(features))
    if isinstance(initial, Mapping):
        names = feature_names(features, attributes.names(), pair_attributes.names(), classes)
        index = {name: k for k, name in enumerate(names)}
        index |= {"|".join(name): k for k, name in enumerate(names)}  # type: ignore[misc]
        weights = np.zeros(len(features))
        for name, value in initial.items():
            if name not in index:
                raise InputError(
                    f"initial has a weight for {name!r}, and no feature is called so: "
                    f"write (attribute, label) or (attribute, label, next label), such as {names[0]!r}"
                )
            weights[index[name]] = _number(name, value)
    else:
        weights = np.array(initial, np.float64)
        if weights.shape != (len(features),):
            raise InputError(f"initial has {weights.size} weights where {len(features)} features are")
    if not np.isfinite(weights).all():
        place = int(np.flatnonzero(~np.isfinite(weights))[0])
        raise InputError(f"initial has {weights[place]} for weight {place}: give finite numbers")
    return weights


def _number(name: Any, value: Any) -> float:
    if not isinstance(value, (int, float, np.number)) or not np.isfinite(value):
        raise InputError(f"initial has {value!r} for {name!r}: give a finite number")
    return float(value)
