"""Span labels: which labels make a span, which may follow which, and which scheme they are of.

Every rule is in one table, `SCHEMES`: `spans` and `valid_transition` both read it.
A span ends before `end`, as a slice does.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from functools import lru_cache
from itertools import chain, product
from typing import NamedTuple

from corate.errors import InputError

Transition = tuple[str, str, bool]  # prefix of a label, prefix of the next, whether their types are equal

NO_SPAN = "O"
PREFIXES = "BIESLUO"
CACHE_SIZE = 1 << 16  # a corpus repeats few labels and pairs of labels: each is looked up once


class Span(NamedTuple):
    """`labels[start:end]` is one entity, chunk or segment."""

    type: str
    start: int
    end: int


class Scheme(NamedTuple):
    """Between which neighbours a span opens, and between which it closes."""

    prefixes: frozenset[str]
    opens: frozenset[Transition]
    closes: frozenset[Transition]


def _transitions(patterns: str) -> frozenset[Transition]:
    """`BI` is a B before an I, `BI=` a B before an I of the same type, `*` any prefix."""
    return frozenset(
        transition
        for pattern in patterns.split()
        for transition in product(
            _matching(pattern[0]), _matching(pattern[1]), [True] if pattern.endswith("=") else [True, False]
        )
    )


def _matching(prefix: str) -> str:
    return PREFIXES if prefix == "*" else prefix


def _scheme(prefixes: str, opens: str, closes: str) -> Scheme:
    return Scheme(frozenset(prefixes), _transitions(opens), _transitions(closes))


# In IOB1 a B only separates neighbours of one type, so elsewhere it opens no span. That a B before a B of
# another type closes none either is a rule of seqeval, kept so that the figures agree.
SCHEMES = {
    "IOB1": _scheme("BIO", opens="*I IB= BB=", closes="I* BO BI BB="),
    "IOB2": _scheme("BIO", opens="*B", closes="B* I*"),
    "IOBES": _scheme("BIOES", opens="*B *S", closes="E* S*"),
    "BILOU": _scheme("BIOLU", opens="*B *U", closes="L* U*"),
}
CONLLEVAL = _scheme(PREFIXES, opens="*B *I *E *S *L *U", closes="**")
CONTINUES = _transitions("BI= II= BE= IE= BL= IL=")


class _Boundary(NamedTuple):
    """What happens to spans between two neighbouring labels."""

    continues: bool
    closes: bool
    opens: bool


def spans(labels: Sequence[str], scheme: str | None = None) -> list[Span]:
    """The spans of one sentence: by the letter of `scheme`, or leniently, as conlleval reads them.

    The lenient reading takes any mixture of B, I, E, S, L and U, and a label that is no span label as O.

    >>> spans(["B-PER", "I-PER", "O", "I-LOC"])
    [Span(type='PER', start=0, end=2), Span(type='LOC', start=3, end=4)]
    >>> spans(["B-PER", "I-PER", "O", "I-LOC"], "IOB2")
    [Span(type='PER', start=0, end=2)]
    """
    found: list[Span] = []
    start: int | None = None
    neighbours = zip(chain([NO_SPAN], labels), chain(labels, [NO_SPAN]), strict=True)
    for position, (before, after) in enumerate(neighbours):
        boundary = _boundary(before, after, scheme)
        if start is not None:
            if boundary.continues:
                continue
            if boundary.closes:
                found.append(Span(_split(labels[start])[1], start, position))
        start = position if boundary.opens else None
    return found


def valid_transition(previous: str | None, following: str | None, scheme: str) -> bool:
    """May `following` come right after `previous`? None is the start or the end of the sentence.

    A sentence is valid in the scheme if and only if all its transitions are, both ends included.
    A label that is not of the scheme is never valid.
    """
    before = NO_SPAN if previous is None else previous
    after = NO_SPAN if following is None else following
    prefixes = _split(before)[0], _split(after)[0]
    if not _rules(scheme).prefixes.issuperset(prefixes):
        return False
    boundary = _boundary(before, after, scheme)
    closed = prefixes[0] == NO_SPAN or boundary.closes
    opened = prefixes[1] == NO_SPAN or boundary.opens
    return boundary.continues or (closed and opened)


def in_scheme(label: str, scheme: str) -> bool:
    """Whether the scheme has such a label: `O`, or one of its prefixes, usually with a type."""
    return label == NO_SPAN or _split(label)[0] in _rules(scheme).prefixes - {NO_SPAN}


def detect_scheme(labels: Iterable[str | Sequence[str]]) -> str | None:
    """The scheme of these labels, or of these sentences of labels; None if they are not all span labels.

    A type is first seen as B in IOB2 and as I in IOB1. A set has no order: there, an I without a B is IOB1.
    """
    ordered = sorted(labels) if isinstance(labels, Set) else labels
    flat = chain.from_iterable([item] if isinstance(item, str) else item for item in ordered)
    typed = [label.partition("-") for label in dict.fromkeys(flat) if label != NO_SPAN]
    if not typed or not all(kind for _, _, kind in typed):
        return None
    prefixes = {prefix for prefix, _, _ in typed}
    first = {kind: prefix for prefix, _, kind in reversed(typed)}
    candidates = ("IOB2", "IOBES", "BILOU")
    found = next((name for name in candidates if prefixes <= SCHEMES[name].prefixes - {NO_SPAN}), None)
    return "IOB1" if found == "IOB2" and "I" in first.values() else found


@lru_cache(maxsize=CACHE_SIZE)
def _boundary(before: str, after: str, scheme: str | None) -> _Boundary:
    rules = _rules(scheme)
    prefix, kind = _member(before, scheme)
    next_prefix, next_kind = _member(after, scheme)
    transition = prefix, next_prefix, kind == next_kind
    return _Boundary(transition in CONTINUES, transition in rules.closes, transition in rules.opens)


def _rules(scheme: str | None) -> Scheme:
    if scheme is None:
        return CONLLEVAL
    if scheme not in SCHEMES:
        raise InputError(f"unknown scheme {scheme!r}: choose one of {', '.join(SCHEMES)}")
    return SCHEMES[scheme]


@lru_cache(maxsize=CACHE_SIZE)
def _split(label: str) -> tuple[str, str]:
    prefix, _, kind = label.partition("-")
    return prefix, kind or "_"


def _member(label: str, scheme: str | None) -> tuple[str, str]:
    prefix, kind = _split(label)
    prefixes = _rules(scheme).prefixes
    if prefix in prefixes:
        return prefix, kind
    if scheme is None:
        return NO_SPAN, "_"
    allowed = ", ".join(sorted(prefixes))
    raise InputError(
        f"label {label!r} is not of scheme {scheme}, whose prefixes are {allowed}: name its scheme"
    )
