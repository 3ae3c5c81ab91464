"""What is different between two models: in what they have counted, and in how they label."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from itertools import chain
from typing import Any

import numpy as np

from corate.counts.counts import Counts, share_vocabularies
from corate.counts.names import fields, vocabulary_of
from corate.counts.table import Table
from corate.models.counted import CountedModel

N_EXAMPLES = 20


@dataclass(frozen=True)
class Change:
    """How many events of a table only one model has, and how many both have counted, but not as often."""

    only_in_a: int
    only_in_b: int
    other_count: int

    def __bool__(self) -> bool:
        return any(asdict(self).values())


@dataclass(frozen=True)
class Differences:
    """`b` seen from `a`."""

    sentences: tuple[int, int]
    tokens: tuple[int, int]
    labels: tuple[list[str], list[str]]  # only in a, only in b
    words: tuple[int, int]  # how many only in a, only in b
    tables: dict[str, Change]  # those that differ
    other_tables: tuple[list[str], list[str]]  # that only one of them counts
    parameters: dict[str, tuple[Any, Any]]  # those that differ
    learned: bool  # whether numbers besides the counts, such as weights, differ

    def __bool__(self) -> bool:
        return bool(self.tables or any(self.other_tables) or self.parameters or self.learned)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def differences(a: CountedModel, b: CountedModel) -> Differences:
    """What two models have counted differently."""
    common = [name for name in a.counts_.tables if name in b.counts_.tables]
    left, right = share_vocabularies(_only(a.counts_, common), _only(b.counts_, common))
    changes = {name: _change(left.tables[name], right.tables[name]) for name in common}
    params = {
        name: (a._fitted_params.get(name), b._fitted_params.get(name))
        for name in a._fitted_params | b._fitted_params
    }
    same_kind = type(a) is type(b) and a.classes_ == b.classes_
    return Differences(
        (a.counts_.n_sentences, b.counts_.n_sentences),
        (a.counts_.n_tokens, b.counts_.n_tokens),
        (sorted({*a.classes_} - {*b.classes_}), sorted({*b.classes_} - {*a.classes_})),
        (len(a.known_words() - b.known_words()), len(b.known_words() - a.known_words())),
        {name: change for name, change in changes.items() if change},
        ([n for n in a.counts_.tables if n not in common], [n for n in b.counts_.tables if n not in common]),
        {name: pair for name, pair in params.items() if name != "n_jobs" and pair[0] != pair[1]},
        not same_kind or a._learned() != b._learned() or not _equal(a._learned_arrays(), b._learned_arrays()),
    )


def _only(counts: Counts, names: Sequence[str]) -> Counts:
    """Some of the tables."""
    used = {vocabulary_of(field) for name in names for field in fields(name)}
    vocabularies = {key: values for key, values in counts.vocabularies.items() if key in used}
    return Counts(vocabularies, {name: counts.tables[name] for name in names}, counts.n_sentences)


def _change(a: Table, b: Table) -> Change:
    places, found = a.find(b.ids)
    both = int(np.count_nonzero(found))
    other = int(np.count_nonzero(a.n[places[found]] != b.n[found]))
    return Change(len(a.n) - both, len(b.n) - both, other)


def _equal(a: dict[str, Any], b: dict[str, Any]) -> bool:
    return a.keys() == b.keys() and all(np.array_equal(a[name], b[name]) for name in a)


@dataclass(frozen=True)
class Disagreement:
    """A token that two models label differently."""

    sentence: int
    position: int
    word: str
    a: str
    b: str
    gold: str | None


@dataclass(frozen=True)
class Disagreements:
    tokens: int
    different: int
    right: tuple[int, int] | None  # of the tokens whose label is given, how many each has right
    labelled: int
    pairs: list[tuple[str, str, int]]  # label of a, label of b, how often; most frequent first
    examples: list[Disagreement]

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def disagreements(
    words: Sequence[Sequence[str]],
    a: Sequence[Sequence[str]],
    b: Sequence[Sequence[str]],
    gold: Sequence[Sequence[str]] | None = None,
    unlabelled: str = "_",
) -> Disagreements:
    """How the labels of two models differ, and which of them are right."""
    flat_a, flat_b = list(chain.from_iterable(a)), list(chain.from_iterable(b))
    pairs = Counter((x, y) for x, y in zip(flat_a, flat_b, strict=True) if x != y)
    right, labelled = None, 0
    if gold is not None:
        flat = list(chain.from_iterable(gold))
        labelled = sum(label != unlabelled for label in flat)
        right = _agreeing(flat_a, flat), _agreeing(flat_b, flat)
    examples = [
        Disagreement(s, i, words[s][i], a[s][i], b[s][i], None if gold is None else gold[s][i])
        for s in range(len(words))
        for i in range(len(words[s]))
        if a[s][i] != b[s][i]
    ]
    ranked = sorted(pairs.items(), key=lambda item: (-item[1], item[0]))
    most_frequent = [(x, y, n) for (x, y), n in ranked]
    return Disagreements(len(flat_a), pairs.total(), right, labelled, most_frequent, examples[:N_EXAMPLES])


def _agreeing(labels: Iterable[str], gold: Iterable[str]) -> int:
    return sum(x == y for x, y in zip(labels, gold, strict=True))
