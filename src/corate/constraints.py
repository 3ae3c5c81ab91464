"""Constraints: labels that must stand somewhere, label pairs that must not, and valid span schemes.

What is forbidden scores −∞. A label that a constraint asks for but that training never saw at such a word is
still allowed: it enters at LOG_ZERO, the limit of a vanishing probability, and so wins only where it must.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from corate import decode
from corate.corpus import Corpus
from corate.errors import ConstraintError, InputError
from corate.factors import LOG_ZERO
from corate.lattice import Float, Int, Lattice, offsets_of
from corate.spans import valid_transition


@dataclass(frozen=True)
class Constraints:
    """What a label sequence must respect.

    forced : for each sentence, {position: label}; shorter lists leave the remaining sentences free.
    forbidden : pairs (label, next label) that may not occur.
    scheme : "IOB1", "IOB2", "IOBES" or "BILOU": only valid sequences of that scheme.

    >>> Constraints(forced=[{0: "B-PER"}], scheme="IOB2")
    Constraints(forced=[{0: 'B-PER'}], forbidden=(), scheme='IOB2')
    """

    forced: Sequence[Mapping[int, str]] = ()
    forbidden: Collection[tuple[str, str]] = ()
    scheme: str | None = None

    def check(self, corpus: Corpus, classes: Sequence[str]) -> None:
        """Refuse constraints that name labels or positions which do not exist."""
        lengths = np.diff(corpus.offsets).tolist()
        if len(self.forced) > len(lengths):
            raise InputError(
                f"labels are forced in {len(self.forced)} sentences, but there are {len(lengths)}"
            )
        for s, forced in enumerate(self.forced):
            for position, label in forced.items():
                if not 0 <= position < lengths[s]:
                    raise InputError(
                        f"sentence {s} has {lengths[s]} tokens: no label can be forced at position {position}"
                    )
                _check_label(label, classes)
        for pair in self.forbidden:
            for label in pair:
                _check_label(label, classes)

    def penalties(self, classes: Sequence[str]) -> tuple[Float, Float, Float]:
        """0 or −∞ for every label pair, and for every label at the start and at the end of a sentence."""
        n = len(classes)
        pairs, start, end = np.zeros((n, n)), np.zeros(n), np.zeros(n)
        index = {label: i for i, label in enumerate(classes)}
        for a, b in self.forbidden:
            pairs[index[a], index[b]] = decode.IMPOSSIBLE
        if self.scheme is not None:
            for i, a in enumerate(classes):
                start[i] = _penalty(None, a, self.scheme)
                end[i] = _penalty(a, None, self.scheme)
                for j, b in enumerate(classes):
                    pairs[i, j] += _penalty(a, b, self.scheme)
        return pairs, start, end


def _penalty(label: str | None, following: str | None, scheme: str) -> float:
    return 0.0 if valid_transition(label, following, scheme) else decode.IMPOSSIBLE


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
        raise ConstraintError(
            f"no label sequence satisfies the constraints in sentence {first + int(np.argmax(stuck))}"
        )
    return limited


def _forbid(
    lattice: Lattice, constraints: Constraints, classes: Sequence[str], forced: Sequence[Mapping[int, str]]
) -> Lattice:
    pairs, start, end = constraints.penalties(classes)
    scores = lattice.scores.copy()
    for s in range(lattice.n_sentences):
        span = lattice.span(s)
        if span:
            here, last = lattice.candidates(span[0]), lattice.candidates(span[-1])
            scores[here] += start[lattice.labels[here]]
            scores[last] += end[lattice.labels[last]]
    for s, wanted in enumerate(forced):
        for position, label in wanted.items():
            here = lattice.candidates(lattice.span(s)[position])
            scores[here][lattice.labels[here] != classes.index(label)] = decode.IMPOSSIBLE
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
