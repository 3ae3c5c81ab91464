"""What a network of co-occurrence rates says of rows: probabilities, the best completion, gaps, oddities."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from corate.arrays import Float
from corate.contexts.template import quote
from corate.counts.counts import Counts
from corate.errors import InputError
from corate.models.counted import Countable
from corate.models.explanation import Explanation
from corate.models.graph import ipf
from corate.models.graph.conditionals import Conditional, conditionals
from corate.models.graph.explain import explain_row
from corate.models.graph.filling import filled
from corate.models.graph.graphs import Edge
from corate.models.graph.junction import NOT_GIVEN, Junction, States
from corate.models.graph.plan import Plan
from corate.models.graph.rows import Rows, text_of
from corate.text.corpus import ABSENT, Corpus


class Anomaly(NamedTuple):
    """A row that the network did not expect, and its most surprising cell."""

    row: int
    log_prob: float
    column: str
    value: str
    probability: float  # of the value, given the other cells
    expected: str
    expected_probability: float


class _Made:
    """What follows from the counts."""

    def __init__(self, counts: Counts, plan: Plan, loops: str, alpha: float) -> None:
        self.counts = counts
        fits = all(plan.home(name) or not plan.parents[name] for name in plan.parents)
        make = conditionals if loops != "ipf" or fits else ipf.fitted
        self.conditionals: dict[str, Conditional] = make(counts, plan, alpha)
        self.plan = plan

    @cached_property
    def junction(self) -> Junction:
        return Junction(self.plan.parents, [each.p for each in self.conditionals.values()])

    @cached_property
    def values(self) -> dict[str, list[str]]:
        """Of each column, those that training saw, sorted."""
        return {name: list(self.counts.vocabularies[quote(name)]) for name in self.plan.parents}

    @cached_property
    def places(self) -> dict[str, dict[str, int]]:
        """Of each column's values, where they stand among them."""
        index = {name: {v: i for i, v in enumerate(values)} for name, values in self.values.items()}
        return {name: {**found, ABSENT: NOT_GIVEN} for name, found in index.items()}


class Answers(Countable):
    """A trained network; how it is trained is its child's business.

    Below, `X` is a table as `fit` takes it, and `evidence` the values of some columns, {column: value}.
    """

    plan_: Plan
    columns_: list[str]
    edges_: tuple[Edge, ...]

    # What is derived from the counts -----------------------------------------------------------------

    def _made(self) -> _Made:
        self._check_fitted()
        made: _Made | None = self._tables_made
        if made is None or made.counts is not self.counts_:
            fitted = self._fitted_params
            made = _Made(self.counts_, self.plan_, fitted["loops"], fitted["alpha"])
            self._tables_made = made
        return made

    _tables_made: _Made | None

    def values(self, column: str) -> list[str]:
        """The values of a column that training saw, sorted."""
        self._check_column(column)
        return list(self._made().values[column])

    def conditional(self, column: str) -> Conditional:
        """P(column | its parents in the plan)."""
        self._check_column(column)
        return self._made().conditionals[column]

    def _check_column(self, column: str) -> None:
        self._check_fitted()
        if column not in self.columns_:
            few = ", ".join(self.columns_[:8]) + (", …" if len(self.columns_) > 8 else "")
            raise InputError(f"the network has no column {column!r:.60}: it has {few}")

    def _states(self, X: Any) -> States:
        """The place of each cell's value among those that training saw; the last one for any other."""
        corpus = X if isinstance(X, Corpus) else self._labelled_sentences(X, None)
        columns = dict(zip(corpus.keys, corpus.columns, strict=True))
        states = np.full((corpus.n_sentences, len(columns)), NOT_GIVEN, np.int32)
        for k, (name, index) in enumerate(self._made().places.items()):
            column = columns[name]
            if column.values == [ABSENT]:
                continue
            places = np.array([index.get(value, len(index) - 1) for value in column.values], np.int32)
            states[:, k] = places[column.codes]
        return states

    # What the network says ---------------------------------------------------------------------------

    def log_prob(self, X: Any) -> Float:
        """log P of each row, summed over whatever its missing cells may be."""
        return self._made().junction.log_prob(self._states(X))

    def known_words(self) -> set[str]:
        """A table has no words."""
        return set()

    def score(self, X: Any, y: Any = None) -> float:
        """The mean of log P of a row of `X`; `y` is not used (scikit-learn gives it)."""
        return float(self.log_prob(X).mean())

    def marginals(self, evidence: Mapping[str, Any] | Iterable[Mapping[str, Any]] | None = None) -> Any:
        """P(value | evidence) of every column that is not given: a dict, or one for each of many."""
        many = [dict(evidence or {})] if evidence is None or isinstance(evidence, Mapping) else list(evidence)
        states = self._states(self._evidence(many))
        found, log_z = self._made().junction.marginals(states)
        self._check_possible(log_z)
        lists = [each[:, :-1].tolist() for each in found]
        answers = [
            {
                name: dict(zip(values, lists[k][i], strict=True))
                for k, (name, values) in enumerate(self._made().values.items())
                if states[i, k] == NOT_GIVEN
            }
            for i in range(len(states))
        ]
        return answers[0] if evidence is None or isinstance(evidence, Mapping) else answers

    def rate(self, *parts: Mapping[str, Any], given: Mapping[str, Any] | None = None) -> float:
        """CR(part₁; part₂; … | given), by the network's own probabilities; `parts` and `given` are dicts of
        values, {column: value}."""
        together = {name: value for part in parts for name, value in part.items()}
        many = [dict(given or {}), {**(given or {}), **together}, *({**(given or {}), **p} for p in parts)]
        below, whole, *each = self._made().junction.log_prob(self._states(self._evidence(many))).tolist()
        if not np.isfinite([below, *each]).all():
            raise InputError("a part of it never occurs: it has no co-occurrence rate")
        return float(np.exp(whole - below - sum(log_p - below for log_p in each)))

    def map(self, evidence: Mapping[str, Any] | None = None) -> dict[str, str]:
        """The most probable values of all other columns together."""
        states = self._states(self._evidence([dict(evidence or {})]))
        best, log_p = self._made().junction.best(states)
        self._check_possible(log_p)
        return {
            name: self.values(name)[best[0, k]]
            for k, name in enumerate(self.plan_.parents)
            if states[0, k] == NOT_GIVEN
        }

    def sample(
        self, n: int = 1, evidence: Mapping[str, Any] | None = None, seed: int | None = None
    ) -> dict[str, list[str]]:
        """Columns of n rows that the network draws, given some values; the same ones for the same `seed`."""
        if not isinstance(n, (int, np.integer)) or n < 1:
            raise InputError(f"n={n!r:.60}: ask for at least one row")
        states = self._states(self._evidence([dict(evidence or {})]))
        self._check_possible(self._made().junction.log_prob(states, known=True))
        drawn = self._made().junction.sample(np.repeat(states, n, axis=0), np.random.default_rng(seed))
        given = {name: text_of(value) for name, value in (evidence or {}).items()}
        order = list(self.plan_.parents)
        return {
            name: [given[name]] * n
            if name in given
            else [self.values(name)[state] for state in drawn[:, order.index(name)].tolist()]
            for name in self.columns_
        }

    def predict_proba(self, X: Any, column: str) -> Float:
        """P(value | the other cells) for every row, rows × `values(column)`; the column is not read."""
        self._check_column(column)
        states = self._states(X)
        k = list(self.plan_.parents).index(column)
        states[:, k] = NOT_GIVEN
        (found,), log_z = self._made().junction.marginals(states, [k])
        self._check_possible(log_z)
        return found[:, :-1]

    def predict(self, X: Any, column: str) -> list[str]:
        """The most probable value of a column for every row, given the other cells."""
        values = self.values(column)
        return [values[k] for k in self.predict_proba(X, column).argmax(axis=1).tolist()]

    def impute(self, X: Any, joint: bool = False) -> Any:
        """The table with its missing cells filled, in the shape in which it came.

        Each cell gets its most probable value; `joint`: the cells of a row those that are best together.
        """
        states = self._states(X)
        junction = self._made().junction
        made = states.copy()
        gaps = np.flatnonzero((states == NOT_GIVEN).any(axis=1))
        if joint:
            made[gaps], log_z = junction.best(states[gaps])
        else:
            found, log_z = junction.marginals(states[gaps])
            for k, marginal in enumerate(found):
                column = states[gaps, k]
                made[gaps, k] = np.where(column == NOT_GIVEN, marginal.argmax(axis=1), column)
        self._check_possible(log_z, gaps)
        columns = {name: (made[:, k], self.values(name)) for k, name in enumerate(self.plan_.parents)}
        return filled(X, states, list(self.plan_.parents), columns, self.columns_)

    def anomalies(self, X: Any, n: int = 10) -> list[Anomaly]:
        """The n rows that are least probable, most surprising first, each with its most surprising cell."""
        states = self._states(X)
        log_p = self._made().junction.log_prob(states)
        return [
            self._anomaly(int(i), states[i], float(log_p[i])) for i in np.argsort(log_p, kind="stable")[:n]
        ]

    def _anomaly(self, row: int, states: States, log_p: float) -> Anomaly:
        given = np.flatnonzero(states >= 0)
        asked = np.repeat(states[None], len(given), axis=0)
        asked[np.arange(len(given)), given] = NOT_GIVEN
        found, _ = self._made().junction.marginals(asked)
        names = list(self.plan_.parents)
        own = [float(found[v][i, states[v]]) for i, v in enumerate(given.tolist())]
        i = int(np.argmin(own)) if own else 0
        if not own:
            return Anomaly(row, log_p, "", "", 1.0, "", 1.0)
        v = int(given[i])
        best = int(found[v][i].argmax())
        values = self.values(names[v])
        value = values[states[v]] if states[v] < len(values) else "a value that training never saw"
        return Anomaly(row, log_p, names[v], value, own[i], values[best], float(found[v][i, best]))

    def explain(self, row: Mapping[str, Any] | Sequence[Any]) -> list[Explanation]:
        """For every column of a row, its value, how probable that is given the others, and the counts behind
        it; the scores add up to log P(row). A missing cell is explained with its most probable value."""
        made = self._made()
        return explain_row(made.junction, made.conditionals, self.counts_, self._states([row])[0])

    def draw(self, path: str | os.PathLike[str]) -> None:
        """A picture of the network, an SVG at `path`: columns, and edges as thick as what their ends tell of
        one another."""
        from corate.models.graph.drawing import svg_of

        target = Path(path)
        if target.suffix != ".svg":
            raise InputError(f"{target}: pictures are SVG: give a name that ends in .svg")
        target.write_text(svg_of(self.edges_, self._made().conditionals), encoding="utf-8")

    def _evidence(self, many: Sequence[Mapping[str, Any]]) -> Rows:
        places, numbers = self._made().places, self._fitted_params["numbers"]
        given = dict.fromkeys(name for evidence in many for name in evidence)
        for evidence in many:
            for name, value in evidence.items():
                self._check_column(name)
                if text_of(value) not in places[name] and numbers == "refuse":
                    few = ", ".join(self.values(name)[:8])
                    raise InputError(f"{name}={value!r:.60}: training saw {few}")
        if not given:
            return Rows({}, len(many))
        return Rows.of({name: [row.get(name) for row in many] for name in given}, numbers=numbers)

    def _check_possible(self, log_z: Float, rows: Any = None) -> None:
        if not np.isfinite(log_z).all():
            bad = int(np.flatnonzero(~np.isfinite(log_z))[0])
            row = bad if rows is None else int(rows[bad])
            raise InputError(
                f"row {row + 1}: what is given never occurs together; alpha above 0 allows for it"
            )
