"""Constraints: labels that must stand somewhere, label pairs that must not, and valid span schemes.

What is forbidden scores −∞. A label that a constraint asks for but that training never saw at such a word is
still allowed: it enters at LOG_ZERO, the limit of a vanishing probability, and so wins only where it must.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from corate.arrays import Float, Int, check_room, offsets_of
from corate.errors import ConstraintError, InputError
from corate.lattice import decode
from corate.lattice.lattice import IMPOSSIBLE, Lattice, end_candidates
from corate.rates.empirical import LOG_ZERO
from corate.text.corpus import Corpus
from corate.text.spans import in_scheme, valid_transition

# Labels that end a span, in schemes that have them.
CLOSING = {"IOBES": ("E-", "S-"), "BILOU": ("L-", "U-")}


@dataclass(frozen=True)
class Constraints:
    """What a label sequence must respect.

    Parameters
    ----------
    forced : list of dict
        For each sentence, {position: label}; shorter lists leave the remaining sentences free.
    forbidden : list of pairs
        Pairs (label, next label) that may not occur.
    scheme : {"IOB1", "IOB2", "IOBES", "BILOU"} or None
        Only valid sequences of that scheme.

    Examples
    --------
    >>> Constraints(forced=[{0: "B-PER"}], scheme="IOB2")
    Constraints(forced=[{0: 'B-PER'}], forbidden=(), scheme='IOB2')
    """

    forced: Sequence[Mapping[int, str]] = ()
    forbidden: Iterable[tuple[str, str]] = ()
    scheme: str | None = None

    def __post_init__(self) -> None:
        if isinstance(self.forced, Mapping) or not all(isinstance(f, Mapping) for f in self.forced):
            raise InputError("forced is a list with {position: label} for each sentence")
        pairs = tuple(self.forbidden)
        if not all(isinstance(pair, tuple) and len(pair) == 2 for pair in pairs):
            raise InputError("forbidden is a list of pairs (label, next label)")
        object.__setattr__(self, "forbidden", pairs)

    def check(self, corpus: Corpus, classes: Sequence[str]) -> None:
        """Refuse constraints that name labels which are not among `classes`, or positions that a `corpus`
        does not have."""
        lengths = np.diff(corpus.offsets).tolist()
        if len(self.forced) > len(lengths):
            raise InputError(
                f"labels are forced in {len(self.forced)} sentences, but there are {len(lengths)}"
            )
        for s, forced in enumerate(self.forced):
            for position, label in forced.items():
                if not isinstance(position, int | np.integer) or not 0 <= position < lengths[s]:
                    raise InputError(
                        f"sentence {s} has {lengths[s]} tokens: no label can be forced at {position!r}"
                    )
                _check_label(label, classes)
        for pair in self.forbidden:
            for label in pair:
                _check_label(label, classes)
        if self.scheme in CLOSING:
            begun = {label[2:] for label in classes if label[:2] == "B-"}
            closed = {label[2:] for label in classes if label[:2] in CLOSING[self.scheme]}
            if begun - closed:
                kind = min(begun - closed)
                ends = ", ".join(c + kind for c in CLOSING[self.scheme])
                raise InputError(
                    f"the model has B-{kind} and none of {ends}: "
                    f"its labels are not of the scheme {self.scheme}"
                )
        stranger = next((y for y in classes if self.scheme and not in_scheme(y, self.scheme)), None)
        if stranger is not None:
            raise InputError(
                f"the model's label {stranger!r} is not of the scheme {self.scheme}, "
                "which is for span labels such as B-PER"
            )


@lru_cache(maxsize=8)
def _penalties(
    forbidden: frozenset[tuple[str, str]], scheme: str | None, classes: tuple[str, ...]
) -> tuple[Float, Float, Float]:
    """0 or −∞ for every label pair, and for every label at the start and at the end of a sentence."""
    n = len(classes)
    pairs, start, end = np.zeros((n, n)), np.zeros(n), np.zeros(n)
    index = {label: i for i, label in enumerate(classes)}
    for a, b in forbidden:
        pairs[index[a], index[b]] = IMPOSSIBLE
    if scheme is not None:
        for i, a in enumerate(classes):
            start[i], end[i] = _penalty(None, a, scheme), _penalty(a, None, scheme)
            pairs[i] += [_penalty(a, b, scheme) for b in classes]
    return pairs, start, end


def _penalty(label: str | None, following: str | None, scheme: str) -> float:
    return 0.0 if valid_transition(label, following, scheme) else IMPOSSIBLE


def _check_label(label: str, classes: Sequence[str]) -> None:
    if label not in classes:
        known = ", ".join(classes[:12]) + (", …" if len(classes) > 12 else "")
        raise InputError(f"the model has no label {label!r}: choose from {known}")


def constrain(lattice: Lattice, constraints: Constraints, classes: Sequence[str], first: int = 0) -> Lattice:
    """The lattice with everything forbidden at −∞. Sentences that would have no label sequence left get every
    label as a candidate. `first` is the number of the lattice's first sentence among those constrained."""
    forced = [constraints.forced[s] for s in range(first, len(constraints.forced))][: lattice.n_sentences]
    limited = _forbid(lattice, constraints, classes, forced)
    stuck = np.isneginf(decode.viterbi(limited).scores)
    if stuck.any():
        limited = _forbid(_widen(lattice, stuck), constraints, classes, forced)
        stuck = np.isneginf(decode.viterbi(limited).scores)
    if stuck.any():
        raise ConstraintError(first + int(np.argmax(stuck)))
    return limited


def _forbid(
    lattice: Lattice, constraints: Constraints, classes: Sequence[str], forced: Sequence[Mapping[int, str]]
) -> Lattice:
    pairs, start, end = _penalties(frozenset(constraints.forbidden), constraints.scheme, tuple(classes))
    scores = lattice.scores.copy()
    first, last = end_candidates(lattice.sentences, lattice.positions)
    scores[first] += start[lattice.labels[first]]
    scores[last] += end[lattice.labels[last]]
    for s, wanted in enumerate(forced):
        for position, label in wanted.items():
            here = lattice.candidates(lattice.span(s)[position])
            scores[here][lattice.labels[here] != classes.index(label)] = IMPOSSIBLE
    edge_scores = lattice.edge_scores.copy()
    for i in np.flatnonzero(np.diff(lattice.edges)).tolist():
        left, right = lattice.labels[lattice.candidates(i - 1)], lattice.labels[lattice.candidates(i)]
        edge_scores[lattice.edges[i] : lattice.edges[i + 1]] += pairs[np.ix_(left, right)].ravel()
    return replace(lattice, scores=scores, edge_scores=edge_scores, pair_scores=lattice.pair_scores + pairs)


def _widen(lattice: Lattice, sentences: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> Lattice:
    """Every label becomes a candidate in these sentences, at LOG_ZERO where it was none before."""
    n = lattice.n_labels
    wide = np.repeat(sentences, np.diff(lattice.sentences))
    lengths: Int = np.where(wide, n, np.diff(lattice.positions))
    with_blocks = int(np.count_nonzero(wide & (np.diff(lattice.edges) > 0)))
    check_room(int(lengths.sum()) + with_blocks * n**2, f"{n:,} labels at every token")
    sizes: Int = np.zeros(lattice.n_positions, np.int64)
    labels, scores, blocks = [], [], []
    for i in range(lattice.n_positions):
        here = lattice.candidates(i)
        if not wide[i]:
            labels.append(lattice.labels[here])
            scores.append(lattice.scores[here])
        else:
            labels.append(np.arange(n, dtype=np.int32))
            scores.append(np.full(n, LOG_ZERO))
            scores[-1][lattice.labels[here]] = lattice.scores[here]
        if lattice.edges[i + 1] > lattice.edges[i]:
            block = lattice.edge(i)
            if wide[i]:
                block = np.full((n, n), LOG_ZERO)
                left, right = lattice.labels[lattice.candidates(i - 1)], lattice.labels[here]
                block[np.ix_(left, right)] = lattice.edge(i)
            sizes[i] = block.size
            blocks.append(block.ravel())
    return replace(
        lattice,
        positions=offsets_of(lengths),
        labels=np.concatenate(labels),
        scores=np.concatenate(scores),
        edges=offsets_of(sizes),
        edge_scores=np.concatenate(blocks) if blocks else np.empty(0),
    )
