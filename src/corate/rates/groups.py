"""Groups of contexts that are looked up together, and how their values are read off the tokens.

Contexts of the token alone have the same rates wherever a word stands; those that look around have not; those
of label pairs have tables of their own. Parents come before children.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import chain

import numpy as np

from corate._native import Mirrored, kernels
from corate.arrays import KEY_BITS, MOST_LABELS, Int
from corate.contexts.template import Atom, Context
from corate.counts.counts import Counts
from corate.errors import InputError


def key_bits(counts: Counts, contexts: Sequence[Context]) -> dict[str, int]:
    """The bits of each view's ids; InputError where labels or the values of a context are too many."""
    if len(counts.labels) > MOST_LABELS:
        raise InputError(f"{len(counts.labels):,} labels: corate takes {MOST_LABELS:,}")
    bits = {key: max(1, len(values)).bit_length() for key, values in counts.vocabularies.items()}
    for context in contexts:
        if sum(bits[atom.source] for atom in context.atoms) > KEY_BITS:
            raise InputError(f"the context {context} has too many values: leave one of its parts out")
    return bits


class Group(Mirrored):
    """Some contexts. `given` are others whose P(y | f) is known already when these are looked up: parents."""

    def __init__(self, contexts: Sequence[Context], given: Sequence[Context], bits: dict[str, int]) -> None:
        self.contexts, self.n_given = list(contexts), len(given)
        self.parents = np.array(nearest_parents(contexts, given), np.int32)
        atoms = list(chain.from_iterable(context.atoms for context in contexts))
        self.views = list(dict.fromkeys(Atom(a.view, 0, a.column) for a in atoms))
        index = {atom: v for v, atom in enumerate(self.views)}
        self.widths = [[bits[atom.source] for atom in context.atoms] for context in contexts]
        self.first_atom = np.cumsum([0, *(len(context.atoms) for context in contexts)], dtype=np.int32)
        self.atom_views = np.array([index[Atom(a.view, 0, a.column)] for a in atoms], np.int32)
        self.offsets = np.array([atom.offset for atom in atoms], np.int32)
        self.bits = np.array(list(chain.from_iterable(self.widths)), np.int32)

    @cached_property
    def native(self) -> kernels.Contexts:
        arrays = self.first_atom, self.atom_views, self.offsets, self.bits, self.parents
        return kernels.Contexts(*arrays, self.n_given)


def nearest_parents(contexts: Sequence[Context], given: Sequence[Context] = ()) -> list[int]:
    """Of each context the nearest one that it falls back to, among the given ones and these; −1 for none."""
    place = {context: j for j, context in enumerate([*given, *contexts])}
    return [-1 if c.pair else next((place[p] for p in c.parents() if p in place), -1) for c in contexts]


@dataclass(frozen=True)
class Groups:
    """The contexts of a model."""

    bits: dict[str, int]  # of each view's ids in a key
    contexts: list[Context]  # of labels: those of the token alone first, parents before children
    parents: list[int]  # of each of them, −1 for none
    alone: Group
    around: Group
    given: Int  # the contexts of `alone` that are parents in `around`
    of_pairs: Group

    @classmethod
    def of(cls, counts: Counts, contexts: Sequence[Context]) -> Groups:
        bits = key_bits(counts, contexts)
        ordered = in_order([context for context in contexts if not context.pair])
        parents = nearest_parents(ordered)
        n = sum(map(_is_alone, ordered))
        given = np.array(sorted({p for p in parents[n:] if 0 <= p < n}), np.int64)
        return cls(
            bits,
            ordered,
            parents,
            Group(ordered[:n], [], bits),
            Group(ordered[n:], [ordered[j] for j in given.tolist()], bits),
            given,
            Group([context for context in contexts if context.pair], [], bits),
        )

    @property
    def all(self) -> tuple[Group, Group, Group]:
        return self.alone, self.around, self.of_pairs

    @cached_property
    def n_below(self) -> Int:
        """How many contexts have each one in their chain: itself, those that fall back to it, and so on."""
        n = np.ones(len(self.contexts), np.int64)
        for j, parent in reversed([*enumerate(self.parents)]):  # parents come before children
            if parent >= 0:
                n[parent] += n[j]
        return n


def _is_alone(context: Context) -> bool:
    """Whether it looks at nothing but its own token."""
    return all(atom.offset == 0 for atom in context.atoms)


def in_order(contexts: Sequence[Context]) -> list[Context]:
    """Those of the token alone first, parents before children, otherwise as given."""
    return list(_in_order(tuple(contexts)))


@lru_cache(16)  # an update asks for the order of the same ones, again and again
def _in_order(contexts: tuple[Context, ...]) -> tuple[Context, ...]:
    known = set(contexts)
    done: dict[Context, None] = {}
    for context in sorted(contexts, key=lambda c: not _is_alone(c)):
        ancestors = [parent for parent in context.parents() if parent in known]
        done.update(dict.fromkeys([*reversed(ancestors), context]))
    return tuple(done)
