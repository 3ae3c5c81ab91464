"""Constrained lattices against enumeration of all sequences that the constraints allow."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brute_force import sequences
from corate import ConstraintError, Constraints, EmpiricalCRF, InputError
from corate.arrays import offsets_of
from corate.lattice import decode
from corate.lattice.constraints import constrain
from corate.lattice.lattice import Lattice
from corate.text.spans import valid_transition

CLASSES = {
    "IOB1": ("B-X", "I-X", "I-Y", "O"),
    "IOB2": ("B-X", "B-Y", "I-X", "O"),
    "IOBES": ("B-X", "E-X", "I-X", "O", "S-X"),
    "BILOU": ("B-X", "I-X", "L-X", "O", "U-X"),
}


@st.composite
def cases(draw: st.DrawFn) -> tuple[Lattice, Constraints, tuple[str, ...], int]:
    """Every label at every position, so that nothing needs to be widened; some edges with their own block."""
    scheme = draw(st.sampled_from(sorted(CLASSES)))
    classes = CLASSES[scheme]
    lengths = draw(st.lists(st.integers(1, 4), min_size=1, max_size=3))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, n_positions = len(classes), sum(lengths)
    starts = set(np.cumsum([0, *lengths]).tolist())
    sizes = [n * n if i not in starts and rng.random() < 0.5 else 0 for i in range(n_positions)]
    lattice = Lattice(
        offsets_of(np.array(lengths, np.int64)),
        np.arange(n_positions + 1, dtype=np.int64) * n,
        np.tile(np.arange(n, dtype=np.int32), n_positions),
        rng.integers(-9, 10, n * n_positions).astype(float),
        rng.integers(-9, 10, (n, n)).astype(float),
        offsets_of(np.array(sizes, np.int64)),
        rng.integers(-9, 10, sum(sizes)).astype(float),
    )
    first = draw(st.integers(0, 2))  # sentences of earlier batches
    forced = [
        {k: str(rng.choice(classes)) for k in range(length) if rng.random() < 0.2}
        for length in [3] * first + lengths
    ]
    pairs = [(str(rng.choice(classes)), str(rng.choice(classes)))] if rng.random() < 0.5 else []
    asked = draw(st.sampled_from([scheme, None]))
    return lattice, Constraints(forced, pairs, asked), classes, first


def allowed(labels: list[str], forced: Any, constraints: Constraints) -> bool:
    ends: list[str | None] = [None, *labels, None]
    return (
        all(labels[k] == label for k, label in forced.items())
        and not set(constraints.forbidden) & set(pairwise(labels))
        and (
            constraints.scheme is None
            or all(valid_transition(a, b, constraints.scheme) for a, b in pairwise(ends))
        )
    )


@settings(max_examples=300, deadline=None)
@given(case=cases())
def test_the_best_that_is_allowed(case: tuple[Lattice, Constraints, tuple[str, ...], int]) -> None:
    lattice, constraints, classes, first = case
    wanted = []
    for s in range(lattice.n_sentences):
        every = ((score, [classes[q] for q in path]) for score, path in sequences(lattice, s))
        wanted.append([(v, y) for v, y in every if allowed(y, constraints.forced[first + s], constraints)])
    stuck = next((first + s for s, some in enumerate(wanted) if not some), None)
    if stuck is not None:
        with pytest.raises(ConstraintError, match=f"in sentence {stuck}"):
            constrain(lattice, constraints, classes, first)
        return
    limited = constrain(lattice, constraints, classes, first)
    best = decode.viterbi(limited)
    for s, some in enumerate(wanted):
        found = [classes[y] for y in best.labels(limited)[lattice.span(s).start : lattice.span(s).stop]]
        assert (best.scores[s], found) == some[0]
        assert len(sequences(limited, s)) == len(some)


def test_labels_of_another_scheme() -> None:
    crf = EmpiricalCRF().fit([["a", "b", "c"]], [["B-X", "I-X", "O"]])
    with pytest.raises(InputError, match="the model has B-X and none of E-X, S-X: its labels are not of"):
        crf.predict([["a"]], Constraints(scheme="IOBES"))
    odd = EmpiricalCRF().fit([["a", "b"]], [["B-X", "N"]])
    with pytest.raises(InputError, match="the model's label 'N' is not of the scheme IOB2"):
        odd.predict([["a"]], Constraints(scheme="IOB2"))
    with pytest.raises(InputError, match="forced is a list with"):
        Constraints(forced={0: "B-X"})  # type: ignore[arg-type]
    with pytest.raises(InputError, match="forbidden is a list of pairs"):
        Constraints(forbidden=[("O", "O", "O")])  # type: ignore[list-item]


def test_a_span_is_closed_at_the_end_of_its_sentence() -> None:
    crf = EmpiricalCRF().fit([["a", "b"], ["c"], ["d"]], [["B-X", "L-X"], ["U-X"], ["O"]])
    assert crf.predict([["d", "a"]]) == [["O", "B-X"]]
    ((_, last),) = crf.predict([["d", "a"]], Constraints(scheme="BILOU"))
    assert last in ("O", "L-X", "U-X")


def test_labels_that_no_word_had_win_only_where_they_must() -> None:
    crf = EmpiricalCRF().fit([["a", "b"]], [["P", "Q"]])
    assert crf.predict([["a", "b"]], Constraints(forced=[{1: "P"}])) == [["P", "P"]]
    assert math.isfinite(crf.log_prob([["a", "b"]], [["P", "Q"]])[0])


@pytest.mark.parametrize(
    ("constraints", "message"),
    [
        (Constraints(forced=[{2: "P"}]), "sentence 0 has 2 tokens: no label can be forced at 2"),
        (Constraints(forced=[{}, {-1: "P"}]), "sentence 1 has 1 tokens: no label can be forced at -1"),
        (Constraints(forced=[{"0": "P"}]), "no label can be forced at '0'"),  # type: ignore[dict-item]
        (Constraints(forced=[{}, {}, {}]), "labels are forced in 3 sentences, but there are 2"),
        (Constraints(forced=[{0: "R"}]), "the model has no label 'R': choose from P, Q"),
        (Constraints(forbidden=[("P", "R")]), "the model has no label 'R'"),
    ],
)
def test_what_is_not_there_cannot_be_forced(constraints: Constraints, message: str) -> None:
    crf = EmpiricalCRF().fit([["a", "b"]], [["P", "Q"]])
    assert crf.predict([["a", "b"], ["a"]], Constraints(forced=[{1: "P"}, {0: "Q"}])) == [["P", "P"], ["Q"]]
    with pytest.raises(InputError, match=message):
        crf.predict([["a", "b"], ["a"]], constraints)
