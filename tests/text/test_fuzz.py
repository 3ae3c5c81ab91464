"""Random bytes for every reader: some of those that `make fuzz` tries, and all that it has found."""

from __future__ import annotations

import random

import pytest

from attacks import ATTACKS, mutated, seeds_of


@pytest.mark.parametrize("target", ATTACKS)
def test_random_bytes(target: str) -> None:
    seeds = seeds_of(target)
    for data in seeds:
        ATTACKS[target](data)
    for k in range(1_500):
        ATTACKS[target](mutated(random.Random(f"test {k}"), seeds))
