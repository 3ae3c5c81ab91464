"""The algebra of co-occurrence rates: a table of counts, and what probabilities and rates it gives.

    P(a | c)              = #(a, c) / #(c)
    CR(a₁; …; aₙ | c)     = P(a₁ … aₙ | c) / ∏ᵢ P(aᵢ | c)          (002 Definition 1, 003)

Each aᵢ is a variable or several at once: `CR(a; b c)` has two parts, `CR(a; b; c)` three. Factors are written
for variables, `Rate.of("a", "b c", given="d")`, and evaluated at their values. A product of factors is what a
derivation (derivation.py) rewrites. Whole counts and fractions stay exact; floats are floats.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

from corate.errors import InputError

Variables = tuple[str, ...]  # sorted, distinct
Values = Mapping[str, Any]
Number: TypeAlias = int | float | Fraction
Names: TypeAlias = str | Iterable[str]  # "a b", or ("a", "b")


def variables(names: Names) -> Variables:
    """Variables in the one order in which they are written; a string is split at blanks."""
    each = names.split() if isinstance(names, str) else list(names)
    return tuple(sorted({*each}))


class Joint:
    """A joint table: how often (or how probably) each combination of values occurs.

    `names` are the variables; `rows` are observations, each once, or combinations of values with their
    numbers. In all methods values are dicts, {variable: value}.

    >>> joint = Joint(("x", "y"), [("a", "c")] * 3 + [("a", "d"), ("b", "d")])
    >>> joint.p({"x": "a"}), joint.rate({"x": "a"}, {"y": "c"})
    (Fraction(4, 5), Fraction(5, 4))
    """

    def __init__(self, names: Sequence[str], rows: Iterable[tuple[Any, ...]] | Mapping[Any, Number]) -> None:
        self.names = tuple(names)
        if len({*self.names}) != len(self.names):
            raise InputError(f"the variables {self.names!r:.80} repeat a name")
        counted = rows if isinstance(rows, Mapping) else Counter(rows)
        self.cells: dict[tuple[Any, ...], Number] = {}
        for row, n in counted.items():
            if len(row) != len(self.names):
                raise InputError(f"{row!r:.60} has {len(row)} values for {len(self.names)} variables")
            if n < 0:
                raise InputError(f"{row!r:.60} occurs {n} times: give counts from 0")
            self.cells[row] = Fraction(n) if isinstance(n, int) else n
        self.total = sum(self.cells.values())
        if not self.total:
            raise InputError("the table is empty: there is nothing to count")
        self._margins: dict[Variables, dict[tuple[Any, ...], Number]] = {}

    def margin(self, names: Variables) -> Mapping[tuple[Any, ...], Number]:
        """#(values) of the variables `names`."""
        if names not in self._margins:
            try:
                places = [self.names.index(name) for name in names]
            except ValueError:
                missing = next(name for name in names if name not in self.names)
                raise InputError(f"no variable {missing!r}: choose from {', '.join(self.names)}") from None
            found: dict[tuple[Any, ...], Number] = {}
            for row, n in self.cells.items():
                key = tuple(row[k] for k in places)
                found[key] = found.get(key, 0) + n
            self._margins[names] = found
        return self._margins[names]

    def count(self, values: Values) -> Number:
        """#(values)."""
        names = variables(values)
        return self.margin(names).get(tuple(values[name] for name in names), 0) if names else self.total

    def p(self, values: Values, given: Values | None = None) -> Number:
        """P(values | given)."""
        condition = given or {}
        below = self.count(condition)
        if not below:
            raise InputError(f"{dict(condition)!r:.80} never occurs: nothing is known given it")
        return self.count({**condition, **values}) / below

    def rate(self, *parts: Values, given: Values | None = None) -> Number:
        """CR(part₁; part₂; … | given) of `parts`, dicts of values: how much more often they occur together
        than by chance."""
        together = {name: value for part in parts for name, value in part.items()}
        rate = self.p(together, given)
        for part in parts:
            below = self.p(part, given)
            if not below:
                raise InputError(f"{dict(part)!r:.80} never occurs: it has no co-occurrence rate")
            rate = rate / below
        return rate

    def support(self) -> Iterator[dict[str, Any]]:
        """The combinations that occur."""
        for row, n in self.cells.items():
            if n:
                yield dict(zip(self.names, row, strict=True))


@dataclass(frozen=True)
class Probability:
    """P(of | given), both of them variables."""

    of: Variables
    given: Variables = ()

    @classmethod
    def of_names(cls, of: Names, given: Names = ()) -> Probability:
        """P(of | given), of one name each or of several."""
        return cls(variables(of), variables(given))

    def __str__(self) -> str:
        return f"P({' '.join(self.of)}{_condition(self.given)})"

    def at(self, joint: Joint, values: Values) -> Number:
        """What it is at some `values`, in a `joint` table."""
        return joint.p(_only(values, self.of), _only(values, self.given))


@dataclass(frozen=True)
class Rate:
    """CR(part₁; part₂; … | given) of `parts`; a part is a set of variables, and may be there twice."""

    parts: tuple[Variables, ...]  # sorted: the order of the parts makes no difference
    given: Variables = ()

    @classmethod
    def of(cls, *parts: Names, given: Names = ()) -> Rate:
        """CR of `parts`, each one name or several, `given` others."""
        return cls(tuple(sorted(map(variables, parts))), variables(given))

    def __str__(self) -> str:
        return f"CR({'; '.join(' '.join(part) for part in self.parts)}{_condition(self.given)})"

    def at(self, joint: Joint, values: Values) -> Number:
        """What it is at some `values`, in a `joint` table."""
        return joint.rate(*(_only(values, part) for part in self.parts), given=_only(values, self.given))

    def replaced(self, gone: Sequence[Variables], *new: Variables) -> Rate:
        """With `new` parts instead of those that are `gone`."""
        parts = list(self.parts)
        for part in gone:
            parts.remove(part)
        return Rate(tuple(sorted([*parts, *new])), self.given)


Factor: TypeAlias = Probability | Rate


class Product:
    """`factors`, probabilities and rates, with whole exponents."""

    def __init__(self, factors: Mapping[Factor, int]) -> None:
        self.factors = {factor: n for factor, n in factors.items() if n}

    def __str__(self) -> str:
        if not self.factors:
            return "1"
        ordered = sorted(self.factors.items(), key=lambda item: (isinstance(item[0], Rate), str(item[0])))
        return " · ".join(str(factor) + _exponent(n) for factor, n in ordered)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Product) and self.factors == other.factors

    __hash__ = None  # type: ignore[assignment]

    def replace(self, old: Factor, *new: Factor) -> Product:
        """With the factor `old` replaced by the `new` ones, wherever it stands."""
        if old not in self.factors:
            raise InputError(f"{old} is no factor of {self}")
        changed = Counter(self.factors)
        n = changed.pop(old)
        for factor in new:
            changed[factor] += n
        return Product(changed)

    def at(self, joint: Joint, values: Values) -> Number:
        """What it is at some `values`, in a `joint` table."""
        result: Number = Fraction(1)
        for factor, n in self.factors.items():
            result = result * factor.at(joint, values) ** n
        return result


def _only(values: Values, names: Iterable[str]) -> dict[str, Any]:
    return {name: values[name] for name in names}


def _condition(given: Variables) -> str:
    return f" | {' '.join(given)}" if given else ""


def _exponent(n: int) -> str:
    return "" if n == 1 else str(n).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
