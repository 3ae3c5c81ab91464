"""Co-occurrence rates: definitions and theorems of 000 §2, 002 §III-B and 003, in exact fractions."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import product

from experiments import graphs
from experiments.claims.claim import Finding, claim, holds
from lab.store import Record

N = 20
Values = tuple[int, ...]


class Distribution:
    """Of some binary variables; every probability is a fraction."""

    def __init__(self, n: int, rng: random.Random, chain: bool = False) -> None:
        tables = [
            {pair: rng.randint(1, 9) for pair in product((0, 1), repeat=2)} for _ in range(max(1, n - 1))
        ]
        weights = {
            x: Fraction(
                _product([t[x[i : i + 2]] for i, t in enumerate(tables)]) if chain else rng.randint(1, 9)
            )
            for x in product((0, 1), repeat=n)
        }
        total = sum(weights.values())
        self.p = {x: weight / total for x, weight in weights.items()}

    def of(self, **at: int) -> Fraction:
        """P of some variables' values; `x0=1` is that the first is 1."""
        wanted = {int(name[1:]): value for name, value in at.items()}
        return sum((p for x, p in self.p.items() if all(x[i] == v for i, v in wanted.items())), Fraction(0))

    def rate(self, x: Values, *groups: Values) -> Fraction:
        """CR of groups of variables at the values x."""
        every = [i for group in groups for i in group]
        whole = self.of(**{f"x{i}": x[i] for i in every})
        return whole / _product([self.of(**{f"x{i}": x[i] for i in group}) for group in groups])


def _product(factors: list[Fraction] | list[int]) -> Fraction:
    made = Fraction(1)
    for factor in factors:
        made *= factor
    return made


def _everywhere(n: int, equal: object, chain: bool = False) -> int:
    """Of N random distributions, in how many an equation holds at all values."""
    right = 0
    for seed in range(N):
        d = Distribution(n, random.Random(seed), chain)
        right += all(equal(d, x) for x in d.p)  # type: ignore[operator]
    return right


@claim(
    "000 §2; 002 §III-B",
    "CR is symmetric; below 1 events repel, at 1 they are independent, above 1 they attract.",
)
def meaning_of_rates(results: Record) -> Finding:
    def equal(d: Distribution, x: Values) -> bool:
        rate = d.rate(x, (0,), (1,))
        together, alone = d.of(x0=x[0], x1=x[1]), d.of(x0=x[0]) * d.of(x1=x[1])
        sign = (together > alone) - (together < alone)
        return rate == d.rate(x, (1,), (0,)) and (rate > 1) - (rate < 1) == sign

    right = _everywhere(2, equal)
    return holds(right == N, f"exact in {right} of {N} random distributions")


@claim("000 eqn 2; 002 Thm 1", "Partition: CR(X;Y;Z) = CR(X;YZ) CR(Y;Z), and so for any groups.")
def partition_theorem(results: Record) -> Finding:
    def equal(d: Distribution, x: Values) -> bool:
        three = d.rate(x, (0,), (1,), (2,)) == d.rate(x, (0,), (1, 2)) * d.rate(x, (1,), (2,))
        whole = d.rate(x, (0,), (1,), (2,), (3,))
        parts = d.rate(x, (0,), (1,)) * d.rate(x, (2,), (3,)) * d.rate(x, (0, 1), (2, 3))
        return three and whole == parts

    right = _everywhere(4, equal)
    return holds(right == N, f"exact in {right} of {N} random distributions of four variables")


@claim("000 eqn 3; 002 Thm 2", "CR(X;YZ) = CR(X;Z) if X and Y are independent given Z.")
def independence_theorem(results: Record) -> Finding:
    def equal(d: Distribution, x: Values) -> bool:
        return d.rate(x, (0,), (1, 2)) == d.rate(x, (0,), (1,))

    on_chains, anywhere = _everywhere(3, equal, chain=True), _everywhere(3, equal)
    return holds(
        on_chains == N and anywhere < N,
        f"exact in {on_chains} of {N} chains; of distributions without the independence in {anywhere}",
    )


@claim("000 eqn 4; 002 eqn 3", "A linear chain is ∏ CR(yᵢ; yᵢ₊₁ | x) ∏ P(yⱼ | x).")
def chain_factorisation(results: Record) -> Finding:
    def equal(d: Distribution, x: Values) -> bool:
        rates = [d.rate(x, (i,), (i + 1,)) for i in range(3)]
        return d.p[x] == _product([*rates, *(d.of(**{f"x{i}": x[i]}) for i in range(4))])

    on_chains, anywhere = _everywhere(4, equal, chain=True), _everywhere(4, equal)
    return holds(
        on_chains == N and anywhere < N, f"exact in {on_chains} of {N} chains; elsewhere in {anywhere}"
    )


@claim(
    "003, abstract and junction trees",
    "Trees and junction trees factorise into co-occurrence rates.",
    "graphs",
)
def trees(results: Record) -> Finding:
    found = {kind: graphs.exact_everywhere(kind) for kind in ("tree", "junction tree")}
    n = sum(of["graphs"] for of in found.values())
    return holds(all(of["exact"] for of in found.values()), f"every step of {n} derivations is exact")


@claim(
    "003, future work",
    "Loops: a node can be brought into the condition, and the factorisation stays exact.",
    "graphs",
)
def loops(results: Record) -> Finding:
    naive = graphs.loop(4, 5)
    conditioned = graphs.exact_everywhere("loops, conditioned")
    exact = f"exact on {conditioned['graphs']} graphs"
    found = f"{exact}; without the condition Z = {naive['z']:.3f} on a ring of four"
    return holds(conditioned["exact"] and naive["z"] != 1, found)
