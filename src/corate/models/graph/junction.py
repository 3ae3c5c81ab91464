"""The junction tree: sums and maxima over all values of what is not given, for many rows at once.

    up      mᵥ(πᵥ) = Σᵥ φᵥ(πᵥ, v) · eᵥ(v) · ∏ m of children         a child hangs on the last of its parents
    down    dᵥ(πᵥ) = Σ (belief of the parent's clique) / mᵥ          the belief is φᵥ · eᵥ · ∏ m · dᵥ

φᵥ is P(v | πᵥ), or any factor of v and πᵥ. Messages are scaled row by row, the logarithms of the scales add
up to log P(given). With max instead of Σ it is the best completion. Where a clique has no more than v and one
parent, messages are matrix products.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from corate.arrays import Float, Int, Mask

MOST_CELLS = 1 << 21  # of an array with all rows of a batch

States = npt.NDArray[np.int32]  # rows × variables: the place of each value; NOT_GIVEN where there is none
NOT_GIVEN = -1


@dataclass(frozen=True)
class _Up:
    """What the upward pass leaves behind."""

    own: list[Float]  # rows × values: evidence and the messages that look at v alone
    wide: list[list[tuple[int, Float]]]  # the other children's messages
    messages: list[Float]  # rows × parents' values
    log_z: Float


class Junction:
    """Factors of variables and their parents, in a perfect order."""

    def __init__(self, parents: Mapping[str, Sequence[str]], factors: Sequence[Float]) -> None:
        self.names = list(parents)
        place = {name: k for k, name in enumerate(self.names)}
        self.parents = [[place[name] for name in above] for above in parents.values()]
        self.factors = list(factors)
        self.sizes = [factor.shape[-1] for factor in factors]
        self.matrices = [factor.reshape(-1, factor.shape[-1]) for factor in factors]  # parents' values × v's
        self.children: list[list[int]] = [[] for _ in self.names]
        for v, above in enumerate(self.parents):
            if above:
                self.children[above[-1]].append(v)
        # The axes of a child's message among those of its parent's clique (parents …, v), ascending.
        self.axes = [
            [[*self.parents[above[-1]], above[-1]].index(u) for u in above] if above else []
            for above in self.parents
        ]

    def batches(self, states: States) -> Iterator[slice]:
        """Rows to work on at a time."""
        step = max(1, MOST_CELLS // max(factor.size for factor in self.factors))
        for first in range(0, len(states), step):
            yield slice(first, min(first + step, len(states)))

    # Sums --------------------------------------------------------------------------------------------

    def log_prob(self, states: States, known: bool = False) -> Float:
        """log P(given) of each row; `known`: and no other value is one that training never saw."""
        found = np.empty(len(states))
        for rows in self.batches(states):
            whole: Mask = np.all(states[rows] >= 0, axis=1)
            part = np.empty(len(whole))
            part[whole] = self._of_whole_rows(states[rows][whole])
            if not whole.all():
                part[~whole] = self._up(states[rows][~whole], known).log_z
            found[rows] = part
        return found

    def _of_whole_rows(self, states: States) -> Float:
        total = np.zeros(len(states))
        with np.errstate(divide="ignore"):
            for v, factor in enumerate(self.factors):
                total += np.log(factor[tuple(states[:, u] for u in (*self.parents[v], v))])
        return total

    def marginals(self, states: States, wanted: Sequence[int] | None = None) -> tuple[list[Float], Float]:
        """P(v | given) of each row, rows × values, for the wanted variables (all); and log P(given).

        A value that training never saw is not expected. Rows whose givens are impossible get zeros."""
        each = list(range(len(self.names)) if wanted is None else wanted)
        found = [np.empty((len(states), self.sizes[v])) for v in each]
        log_z = np.empty(len(states))
        for rows in self.batches(states):
            up = self._up(states[rows], True)
            beliefs = self._down(up)
            log_z[rows] = up.log_z
            for k, v in enumerate(each):
                found[k][rows] = beliefs[v]
        return found, log_z

    def beliefs(self) -> list[Float]:
        """The normalised joint of each variable with its parents, nothing given."""
        nothing = np.full((1, len(self.names)), NOT_GIVEN, np.int32)
        up = self._up(nothing, False)
        cliques: list[Float] = [np.empty(0)] * len(self.names)
        self._down(up, cliques)
        return [clique[0] / (clique[0].sum() or 1.0) for clique in cliques]

    def _evidence(self, states: States, known: bool) -> Callable[[int], Float]:
        """Of a variable, the values that each row leaves possible, 1 or 0."""
        given = {*np.flatnonzero(np.any(states >= 0, axis=0)).tolist()}
        return lambda v: self._possible(states[:, v] if v in given else None, len(states), v, known)

    def _possible(self, states: States | None, n: int, v: int, known: bool) -> Float:
        possible = np.ones((n, self.sizes[v]))
        if known:
            possible[:, -1] = 0.0
        if states is not None:
            given = np.flatnonzero(states >= 0)
            possible[given] = 0.0
            possible[given, states[given]] = 1.0
        return possible

    def _up(self, states: States, known: bool) -> _Up:
        n = len(states)
        own = [np.empty(0)] * len(self.names)
        wide: list[list[tuple[int, Float]]] = [[] for _ in self.names]
        messages = [np.empty(0)] * len(self.names)
        scales = np.empty((len(self.names), n))
        evidence = self._evidence(states, known)
        for v in range(len(self.names) - 1, -1, -1):
            here = evidence(v)
            for c in self.children[v]:
                if len(self.parents[c]) == 1:
                    here *= messages[c]
                else:
                    wide[v].append((c, messages[c]))
            own[v] = here
            factor = self.factors[v]
            if wide[v]:
                message = self._tensor(v, here, wide[v]).sum(axis=-1).reshape(n, -1)
            else:
                message = here @ self.matrices[v].T
            scales[v] = message.max(axis=1)
            messages[v] = (message / _safe(scales[v])[:, None]).reshape(n, *factor.shape[:-1])
        with np.errstate(divide="ignore"):
            return _Up(own, wide, messages, np.log(scales).sum(axis=0))

    def _tensor(self, v: int, own: Float, wide: Sequence[tuple[int, Float]]) -> Float:
        """φ · e · ∏ m of a clique, rows × parents × values."""
        factor = self.factors[v]
        shape = (len(own), *[1] * (factor.ndim - 1), factor.shape[-1])
        made: Float = factor[None] * own.reshape(shape)
        for c, message in wide:
            made = made * self._spread(v, c, message)
        return made

    def _spread(self, v: int, c: int, message: Float) -> Float:
        """A child's message with the axes of the clique, 1 where it does not look."""
        shape = [len(message)] + [1] * self.factors[v].ndim
        for k in self.axes[c]:
            shape[k + 1] = self.factors[v].shape[k]
        return message.reshape(shape)

    def _down(self, up: _Up, cliques: list[Float] | None = None) -> list[Float]:
        """Normalised marginals of every variable; the beliefs of cliques are put into `cliques`."""
        n = len(up.log_z)
        down: list[Float] = [
            np.ones((n, *factor.shape[:-1])) if not above else np.empty(0)
            for factor, above in zip(self.factors, self.parents, strict=True)
        ]
        found: list[Float] = [np.empty(0)] * len(self.names)
        for v in range(len(self.names)):
            belief: Float | None = None
            if up.wide[v] or cliques is not None:
                belief = self._tensor(v, up.own[v], up.wide[v]) * down[v][..., None]
                total = belief.sum(axis=tuple(range(1, belief.ndim - 1)))
            else:
                total = up.own[v] * (down[v].reshape(n, -1) @ self.matrices[v])
            safe = _safe(total.sum(axis=1, keepdims=True))
            total = total / safe
            found[v] = total
            if belief is not None:
                belief = belief / safe.reshape(n, *[1] * (belief.ndim - 1))
                if cliques is not None:
                    cliques[v] = belief
            for c in self.children[v]:
                if len(self.parents[c]) == 1:
                    part = total
                else:
                    assert belief is not None
                    part = self._gathered(v, c, belief)
                down[c] = part / _safe(up.messages[c])  # where a message is 0, so is the belief
        return found

    def _gathered(self, v: int, c: int, belief: Float) -> Float:
        """The clique's belief summed to the axes of a child's message."""
        others = tuple(k + 1 for k in range(self.factors[v].ndim) if k not in self.axes[c])
        part: Float = belief.sum(axis=others)
        return part

    # Maxima ------------------------------------------------------------------------------------------

    def best(self, states: States) -> tuple[States, Float]:
        """The most probable completion of each row, of values that training saw; and its log P."""
        found, log_p = states.copy(), np.empty(len(states))
        for rows in self.batches(states):
            found[rows] = self._best(states[rows])
            log_p[rows] = self._of_whole_rows(found[rows])
        return found, log_p

    def _best(self, states: States) -> States:
        n = len(states)
        messages: list[Float] = [np.empty(0)] * len(self.names)
        choices: list[Int] = [np.empty(0, np.int64)] * len(self.names)
        evidence = self._evidence(states, True)
        for v in range(len(self.names) - 1, -1, -1):
            own, wide = evidence(v), []
            for c in self.children[v]:
                if len(self.parents[c]) == 1:
                    own *= messages[c]
                else:
                    wide.append((c, messages[c]))
            whole = self._tensor(v, own, wide)
            choices[v] = whole.argmax(axis=-1)
            message = whole.max(axis=-1)
            safe = _safe(message.reshape(n, -1).max(axis=1))
            messages[v] = message / safe.reshape(n, *[1] * (message.ndim - 1))
        made: States = states.copy()
        row = np.arange(n)
        for v, above in enumerate(self.parents):
            place: tuple[Any, ...] = (row, *(made[:, u] for u in above))
            chosen = choices[v][place]
            made[:, v] = np.where(states[:, v] >= 0, states[:, v], chosen)
        return made

    # Samples -----------------------------------------------------------------------------------------

    def sample(self, states: States, rng: np.random.Generator) -> States:
        """Values of what is not given, drawn from P(· | given)."""
        found: States = states.copy()
        for rows in self.batches(states):
            up = self._up(states[rows], True)
            made = found[rows]
            for v, above in enumerate(self.parents):
                weights = self._given_parents(v, up, made, above)
                ends = np.cumsum(weights, axis=1)
                drawn = (ends < rng.random(len(made))[:, None] * ends[:, -1:]).sum(axis=1)
                drawn = np.minimum(drawn, self.sizes[v] - 1)
                made[:, v] = np.where(made[:, v] >= 0, made[:, v], drawn)
            found[rows] = made
        return found

    def _given_parents(self, v: int, up: _Up, made: States, above: Sequence[int]) -> Float:
        """φ · e · ∏ m where the parents have their values, rows × values."""
        weights: Float = self.factors[v][tuple(made[:, u] for u in above)] * up.own[v]
        row = np.arange(len(made))
        for c, message in up.wide[v]:
            places = [made[:, u, None] if u != v else np.arange(self.sizes[v])[None] for u in self.parents[c]]
            cells = (row[:, None], *places)
            weights = weights * message[cells]
        return weights


def _safe(scale: Float) -> Float:
    """What may be divided by: 1 where there is 0."""
    found: Float = scale + (scale == 0.0)
    return found
