"""Derivations: from P(all) to a product of small factors, by theorems that are checked against the graph.

    definition      P(x₁ … xₙ | c) = ∏ P(xᵢ | c) · CR(x₁; …; xₙ | c)
    partition       CR(A; B) = CR(A) · CR(B) · CR(⋃A; ⋃B)              A, B: parts      (002 Theorem 1)
    merge           CR(…; x; y) = CR(…; x y) · CR(x; y)                                 (003)
    duplicate       CR(…; x) = CR(…; x; x) · P(x)                                       (003)
    independence    CR(x; y z) = CR(x; z)  where z separates x from y                   (002 Theorem 2)
    unconnected     CR(…; x; y) = CR(…; x y)  where nothing connects x and y            (003)
    single          CR(x) = 1
    condition       P(x y) = P(y) · P(x | y), which breaks the loops through y          (003)

All hold given a condition c, which then helps to separate. A step whose separation the graph does not have is
refused, with the path that connects what should be apart.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from corate.errors import InputError
from corate.models.graph.algebra import Factor, Joint, Names, Probability, Product, Rate, Variables, variables
from corate.models.graph.graphs import as_graph, cutset, path_between, perfect_order


@dataclass(frozen=True)
class Step:
    """One step: the `theorem` that was used, the `product` that it gave, and `because` of which
    separation."""

    theorem: str
    product: Product
    because: str = ""  # the separation that it rests on

    def __str__(self) -> str:
        return f"{self.theorem + (f', {self.because}' if self.because else ''):<44} {self.product}"


class Derivation:
    """Steps from P(all variables of a graph); every method adds one and gives the derivation back.

    `graph` has the edges, as pairs or as a networkx graph. In all methods a part is a variable or several;
    `rate` is the factor to change, `one`, `other` and `part` are parts of it, and `given` is what stands
    behind the bar of the factor that is meant.

    >>> print(Derivation([("a", "b"), ("b", "c")]).definition().partition(["a"], ["b", "c"]).single("a"))
                                                 P(a b c)
    definition                                   P(a) · P(b) · P(c) · CR(a; b; c)
    partition                                    P(a) · P(b) · P(c) · CR(a) · CR(a; b c) · CR(b; c)
    single                                       P(a) · P(b) · P(c) · CR(a; b c) · CR(b; c)
    """

    def __init__(self, graph: Any) -> None:
        self.graph = as_graph(graph)
        self.steps = [Step("", Product({Probability(variables(map(str, self.graph))): 1}))]

    @property
    def product(self) -> Product:
        """What the last step gave."""
        return self.steps[-1].product

    def __str__(self) -> str:
        return "\n".join(map(str, self.steps))

    def check(self, joint: Joint, tolerance: float = 0.0) -> None:
        """Compare every step with P(all) of a `joint` table, at all values that occur: exactly, or to a
        relative `tolerance`."""
        names = variables(joint.names)
        for values in joint.support():
            truth = Probability(names).at(joint, values)
            for step in self.steps:
                found = step.product.at(joint, values)
                if abs(float(found - truth)) > tolerance * float(truth):
                    raise InputError(f"{step.theorem}: {found} where P is {truth}, at {values!r:.100}")

    # The rewrites ------------------------------------------------------------------------------------

    def definition(self, of: Names | None = None, given: Names = ()) -> Derivation:
        """Of a probability of several variables; that of all, if none is named."""
        old = self._probability(of, given)
        singles = [Probability((name,), old.given) for name in old.of]
        rate = Rate(tuple((name,) for name in old.of), old.given)
        return self._add("definition", old, *singles, rate)

    def partition(self, one: Iterable[Names], other: Iterable[Names], given: Names = ()) -> Derivation:
        """`one` and `other` are the parts on either side."""
        left, right = Rate.of(*one, given=given), Rate.of(*other, given=given)
        if not left.parts or not right.parts:
            raise InputError("partition: give parts for both sides")
        whole = Rate(tuple(sorted([*left.parts, *right.parts])), left.given)
        between = Rate.of(_union(left.parts), _union(right.parts), given=left.given)
        return self._add("partition", whole, left, right, between)

    def merge(self, rate: Rate, one: Names, other: Names) -> Derivation:
        """Make one part of two; their own rate is a new factor."""
        x, y = variables(one), variables(other)
        self._has_parts(rate, x, y)
        return self._add(
            "merge", rate, rate.replaced([x, y], _union([x, y])), Rate.of(x, y, given=rate.given)
        )

    def unconnected(self, rate: Rate, one: Names, other: Names) -> Derivation:
        """Make one part of two between which there is nothing."""
        x, y = variables(one), variables(other)
        self._has_parts(rate, x, y)
        because = self._separated("unconnected", x, y, rate.given)
        return self._add("unconnected", rate, rate.replaced([x, y], _union([x, y])), because=because)

    def duplicate(self, rate: Rate, part: Names) -> Derivation:
        """Write a part once more."""
        x = variables(part)
        self._has_parts(rate, x)
        return self._add("duplicate", rate, rate.replaced([], x), Probability(x, rate.given))

    def independence(self, rate: Rate, part: Names, keeping: Names = ()) -> Derivation:
        """Of a rate of two parts: only `keeping` of the other part says something of `part`."""
        x, kept = variables(part), variables(keeping)
        self._has_parts(rate, x)
        if len(rate.parts) != 2:
            raise InputError(f"independence: {rate} has {len(rate.parts)} parts, and it is of two")
        (whole,) = rate.replaced([x]).parts
        if not {*kept} <= {*whole}:
            raise InputError(f"independence: {' '.join(kept)} is not within {' '.join(whole)}")
        gone = variables({*whole} - {*kept})
        because = self._separated("independence", x, gone, variables((*kept, *rate.given)))
        new = [Rate.of(x, kept, given=rate.given)] if kept else []
        return self._add("independence", rate, *new, because=because)

    def single(self, part: Names, given: Names = ()) -> Derivation:
        """A rate of one part is 1."""
        return self._add("single", Rate.of(part, given=given))

    def condition(self, on: Names, given: Names = ()) -> Derivation:
        """P(x y | c) = P(y | c) · P(x | y c): what is conditioned on breaks loops."""
        y, before = variables(on), variables(given)
        fits = [
            factor
            for factor in self.product.factors
            if isinstance(factor, Probability) and factor.given == before and {*y} < {*factor.of}
        ]
        if not fits:
            raise InputError(f"condition: no probability of {' '.join(y)} and more in {self.product}")
        rest = Probability(variables({*fits[0].of} - {*y}), variables((*y, *before)))
        return self._add("condition", fits[0], Probability(y, before), rest)

    # All at once -------------------------------------------------------------------------------------

    @classmethod
    def of(cls, graph: Any) -> Derivation:
        """Down to the smallest factors: on chordal graphs one rate for each variable but the first, with its
        neighbours that come before it in a perfect order; loops are broken by conditioning first."""
        made = cls(graph)
        held = cutset(made.graph)
        names = variables(made.graph)
        if held:
            made.condition(held)
            if len(held) > 1:
                made.definition(held)
        rest = made.graph.subgraph([name for name in names if name not in held])
        given, order = variables(held), perfect_order(rest)
        if len(rest) > 1:
            made.definition(rest, given)
        while len(order) > 1:
            name = order.pop()
            made.partition([name], [[each] for each in order], given).single(name, given)
            near = [each for each in order if rest.has_edge(name, each)]
            rate = Rate.of(name, order, given=given)
            if len(near) < len(order):
                made.independence(rate, name, near)
        if len(rest) > 1:
            made.single(order, given)
        return made

    # Conditions --------------------------------------------------------------------------------------

    def _add(self, theorem: str, old: Factor, *new: Factor, because: str = "") -> Derivation:
        self.steps.append(Step(theorem, self.product.replace(old, *new), because))
        return self

    def _probability(self, of: Names | None, given: Names) -> Probability:
        old = Probability(variables(self.graph if of is None else of), variables(given))
        if len(old.of) < 2:
            raise InputError(f"definition: {old} has one variable: there is nothing to take apart")
        return old

    def _has_parts(self, rate: Rate, *parts: Variables) -> None:
        for part in parts:
            if rate.parts.count(part) < parts.count(part):
                raise InputError(f"{' '.join(part)} is no part of {rate}")

    def _separated(self, theorem: str, x: Variables, y: Variables, by: Variables) -> str:
        """`a ⟂ c | b`, if the graph has it."""
        said = f"{' '.join(x)} ⟂ {' '.join(y)}{f' | {chr(32).join(by)}' if by else ''}"
        overlap = {*x} & {*y} - {*by}
        path = [min(overlap)] if overlap else path_between(self.graph, {*x} - {*by}, {*y} - {*by}, by)
        if path:
            raise InputError(f"{theorem}: {said} does not hold, {'–'.join(path)} connects them")
        return said


def factorise(graph: Any) -> Derivation:
    """The derivation of a graph's factors, step by step."""
    return Derivation.of(graph)


def _union(parts: Iterable[Variables]) -> Variables:
    return variables(name for part in parts for name in part)
