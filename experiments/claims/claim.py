"""A claim of the papers: a sentence, where it stands, and a check that says whether it is so here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from lab.store import Record

HOLDS, CONDITION, FAILS, OPEN = "holds", "holds under a condition", "fails here", "not measured"
VERDICTS = (HOLDS, CONDITION, FAILS, OPEN)


@dataclass(frozen=True)
class Finding:
    verdict: str
    found: str  # what was computed, with its figures


Check = Callable[[Record], Finding]  # from the results of the experiments, by name


@dataclass(frozen=True)
class Claim:
    name: str
    source: str
    says: str
    command: str
    check: Check


CLAIMS: dict[str, Claim] = {}


def claim(source: str, says: str, experiment: str = "") -> Callable[[Check], Check]:
    """Enter a check in the list, under its name; `experiment` shows more of the same."""

    def enter(check: Check) -> Check:
        name = check.__name__
        command = (
            f"python -m experiments.{experiment}" if experiment else f"python -m experiments.claims {name}"
        )
        CLAIMS[name] = Claim(name, source, says, command, check)
        return check

    return enter


def holds(is_so: bool, found: str) -> Finding:
    return Finding(HOLDS if is_so else FAILS, found)


def holds_under(condition: bool, always: bool, found: str) -> Finding:
    """`condition`: it is so where the condition is met; `always`: elsewhere, too."""
    return Finding(HOLDS if condition and always else CONDITION if condition else FAILS, found)


def not_measured(why: str) -> Finding:
    return Finding(OPEN, why)
