"""RateNetwork: a table of categorical data as a network of co-occurrence rates; training is counting."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from corate.arrays import Float
from corate.contexts.template import Context, quote
from corate.counts.counts import Counts
from corate.counts.names import LABEL
from corate.errors import InputError
from corate.models.counted import Arrays, Countable, Learned, check_counts
from corate.models.explanation import Explanation
from corate.models.graph import ipf
from corate.models.graph.conditionals import Conditional, conditionals, sizes_of, table_name
from corate.models.graph.explain import explain_row
from corate.models.graph.filling import filled
from corate.models.graph.graphs import LOOPS, Edge, as_graph, edges_of
from corate.models.graph.junction import NOT_GIVEN, Junction, States
from corate.models.graph.plan import Plan
from corate.models.graph.rows import ROW, Rows, check_columns, check_numbers, chunks_of, text_of
from corate.models.graph.structure import STRUCTURES, Codes, Progress, chow_liu, grown
from corate.storage.modelfile import Contents
from corate.text.corpus import ABSENT, Corpus

MOST_TREEWIDTH = 16


class Anomaly(NamedTuple):
    """A row that the network did not expect, and its most surprising cell."""

    row: int
    log_prob: float
    column: str
    value: str
    probability: float  # of the value, given the other cells
    expected: str
    expected_probability: float


class RateNetwork(Countable):
    """A network of co-occurrence rates over the columns of a table.

    P(row) is a product of P(x) and of co-occurrence rates along the edges of a graph, all of them counted.
    Rows are a DataFrame, a dict of columns, or a list of dicts or tuples; None, NaN and "" are missing cells,
    and a row counts for the factors whose columns it has.

    Parameters
    ----------
    graph : edges, a networkx graph, "chain", or {column: its parent}; None: it is learned.
    structure : "tree" (Chow–Liu) or "independent", where the graph is learned.
    treewidth : up to which further edges are learned, while held-out rows gain by them.
    loops : what is done about loops without chords: "triangulate", "condition", or "ipf".
    alpha : of the smoothing along back-off; 0 gives the pure estimate.
    numbers : "refuse", "bin", or the names of columns whose numbers are put into bins.
    max_cells : of the table of a clique.
    ledger : whether digests of learned rows are kept, so that others are not forgotten by mistake.

    Examples
    --------
    >>> from corate import RateNetwork
    >>> rows = [("rain", "wet")] * 6 + [("sun", "dry")] * 9 + [("sun", "wet")]
    >>> network = RateNetwork(alpha=0).fit({"sky": [s for s, _ in rows], "road": [r for _, r in rows]})
    >>> round(network.marginals({"road": "wet"})["sky"]["rain"], 4)
    0.8571
    """

    def __init__(
        self,
        graph: Any = None,
        structure: str = "tree",
        treewidth: int = 1,
        loops: str = "triangulate",
        alpha: float = 1.5,
        numbers: Any = "refuse",
        max_cells: int = 1 << 22,
        ledger: bool = True,
        n_jobs: int = 1,
    ) -> None:
        self.graph = graph
        self.structure = structure
        self.treewidth = treewidth
        self.loops = loops
        self.alpha = alpha
        self.numbers = numbers
        self.max_cells = max_cells
        self.ledger = ledger
        self.n_jobs = n_jobs

    plan_: Plan
    columns_: list[str]
    _thing = ROW

    # Training ----------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None, progress: Progress | None = None) -> RateNetwork:
        """Count the rows of a table; the graph is learned from them if none is given."""
        rows = self._training_rows(X)
        plan, edges = self._plan(rows, progress)
        corpus = rows.corpus(plan.columns)
        contexts = [Context.of_feature(name) for name in plan.columns]
        self._plan_to_count = plan
        counted = self._engine(chunks_of(corpus), _tables_of(plan), contexts if self.ledger else None)
        check_counts(counted.counts)
        plan.check_sizes(sizes_of(counted.counts, plan.columns), self.max_cells)
        self._set_model(counted.counts, plan, edges)
        self._start_ledger(counted.digests)
        return self

    def plan(self, X: Any) -> str:
        """What a training on these rows would count: treewidth and tables, in words."""
        rows = self._training_rows(X)
        plan, _ = self._plan(rows, None)
        return plan.describe(_sizes(rows, plan.columns))

    def _training_rows(self, X: Any) -> Rows:
        self._check_params()
        rows = Rows.of(X, numbers=self.numbers)
        if not rows.n_rows:
            raise InputError("the table has no row: there is nothing to learn from")
        check_columns(rows, sorted(rows.columns))
        return rows

    def _plan(self, rows: Rows, progress: Progress | None) -> tuple[Plan, tuple[Edge, ...]]:
        names = list(rows.columns)
        sizes = _sizes(rows, names)
        if self.graph is not None:
            graph = as_graph(self.graph, names)
        elif self.structure == "independent" or len(names) == 1:
            graph = as_graph(None, names)
        else:
            codes = _codes(rows)
            graph = chow_liu(codes, progress)
            if self.treewidth > 1:
                graph = grown(graph, codes, self.treewidth, self.alpha, self.max_cells, progress)
        plan = Plan.of(graph, self.loops, sizes)
        plan.check_sizes(sizes, self.max_cells)
        return plan, edges_of(graph)

    def _set_model(self, counts: Counts, plan: Plan, edges: tuple[Edge, ...]) -> None:
        self.plan_, self.columns_, self.edges_ = plan, plan.columns, edges
        self._contexts = [Context.of_feature(name) for name in plan.columns]
        self._fitted_params = {**self.get_params(), "graph": edges, "numbers": _plain(self.numbers)}
        self.classes_ = [ROW]
        self._replace_counts(counts)

    def _replace_counts(self, counts: Counts, changed: Counts | None = None, sign: int = 1) -> None:
        self.__dict__.update(counts_=counts, _tables_made=None)

    def _labelled_sentences(self, X: Any, y: Any) -> Corpus:
        self._check_fitted()
        if isinstance(X, Corpus):
            return X
        rows = Rows.of(X, self.columns_, self._fitted_params["numbers"])
        unknown = sorted({*rows.columns} - {*self.columns_})
        if unknown:
            few = ", ".join(self.columns_[:8]) + (", …" if len(self.columns_) > 8 else "")
            raise InputError(f"the network has no column {unknown[0]!r:.60}: it has {few}")
        if not rows.n_rows:
            raise InputError("the table has no row: there is nothing to count")
        return rows.corpus(self.columns_)

    def _check_counts(self, counts: Counts) -> None:
        super()._check_counts(counts)
        self.plan_.check_sizes(sizes_of(counts, self.columns_), self._fitted_params["max_cells"])

    # On disk -----------------------------------------------------------------------------------------

    def _tables(self) -> tuple[str, ...]:
        return _tables_of(self._plan_to_count)

    def _learned(self) -> Learned:
        return {"plan": self.plan_.to_json()}

    def _restore(self, state: Contents) -> None:
        learned = state.header.get("learned")
        self._plan_to_count = Plan.from_json(learned.get("plan") if isinstance(learned, dict) else None)
        super()._restore(state)

    def _set_learned(self, counts: Counts, learned: Learned, arrays: Arrays) -> None:
        plan = Plan.from_json(learned.get("plan"))
        graph = as_edges(self.graph, plan.columns)
        if counts.labels != [ROW]:
            raise ValueError(f"{counts.labels!r:.60} where there are rows")
        if self.loops != "ipf" and any(plan.parents[name] and not plan.home(name) for name in plan.columns):
            raise ValueError("no counted table has a column and its parents")
        _check_margins(counts, plan)
        near = {(min(a, b), max(a, b)) for c in plan.counted for a in c for b in c if a != b}
        if not {*graph} <= near:
            raise ValueError("the graph has an edge that was not counted")
        plan.check_sizes(sizes_of(counts, plan.columns), self.max_cells)
        self.graph, self._plan_to_count = graph, plan
        self._set_model(counts, plan, graph)

    @staticmethod
    def _mean(
        models: Sequence[RateNetwork], shares: Sequence[float], labels: Sequence[str]
    ) -> tuple[Learned, Arrays]:
        for model in models[1:]:
            if model.plan_ != models[0].plan_:
                raise InputError("networks of different columns or cliques do not merge: give the same graph")
        return models[0]._learned(), {}

    def prune(self, below: int = 2) -> RateNetwork:
        """A network is not pruned: its tables have to add up."""
        raise InputError("a network cannot be pruned: without rare combinations its tables do not add up")

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
        return list(self.counts_.vocabularies[quote(column)])

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
        order = list(self.plan_.parents)
        states = np.empty((corpus.n_sentences, len(order)), np.int32)
        for k, name in enumerate(order):
            column = corpus.columns[corpus.keys.index(name)]
            vocabulary = self.counts_.vocabularies[quote(name)]
            index = {value: i for i, value in enumerate(vocabulary)} | {ABSENT: NOT_GIVEN}
            places = np.array([index.get(value, len(vocabulary)) for value in column.values], np.int32)
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
        """The mean of log P of a row."""
        return float(self.log_prob(X).mean())

    def marginals(self, evidence: Mapping[str, Any] | Iterable[Mapping[str, Any]] | None = None) -> Any:
        """P(value | evidence) of every column that is not given: a dict, or one for each of many."""
        many = [dict(evidence or {})] if evidence is None or isinstance(evidence, Mapping) else list(evidence)
        states = self._states(self._evidence(many))
        found, log_z = self._made().junction.marginals(states)
        self._check_possible(log_z)
        names = list(self.plan_.parents)
        vocabularies = {name: self.values(name) for name in names}
        answers = [
            {
                name: dict(zip(vocabularies[name], found[k][i, :-1].tolist(), strict=True))
                for k, name in enumerate(names)
                if states[i, k] == NOT_GIVEN
            }
            for i in range(len(states))
        ]
        return answers[0] if evidence is None or isinstance(evidence, Mapping) else answers

    def rate(self, *parts: Mapping[str, Any], given: Mapping[str, Any] | None = None) -> float:
        """CR(part₁; part₂; … | given) of values, by the network's own probabilities."""
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
        """Columns of n rows that the network draws, given some values."""
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
        """A picture of the network: columns, and edges as thick as what their ends tell of one another."""
        from corate.models.graph.drawing import svg_of

        target = Path(path)
        if target.suffix != ".svg":
            raise InputError(f"{target}: pictures are SVG: give a name that ends in .svg")
        target.write_text(svg_of(self.edges_, self._made().conditionals), encoding="utf-8")

    def _evidence(self, many: Sequence[Mapping[str, Any]]) -> Rows:
        for evidence in many:
            for name, value in evidence.items():
                self._check_column(name)
                if text_of(value) not in self.values(name) and self._fitted_params["numbers"] == "refuse":
                    few = ", ".join(self.values(name)[:8])
                    raise InputError(f"{name}={value!r:.60}: training saw {few}")
        cells = {name: [row.get(name) for row in many] for name in self.columns_}
        return Rows.of(cells, numbers=self._fitted_params["numbers"])

    def _check_possible(self, log_z: Float, rows: Any = None) -> None:
        if not np.isfinite(log_z).all():
            bad = int(np.flatnonzero(~np.isfinite(log_z))[0])
            row = bad if rows is None else int(rows[bad])
            raise InputError(
                f"row {row + 1}: what is given never occurs together; alpha above 0 allows for it"
            )

    def _check_params(self) -> None:
        check_numbers(self.numbers)
        if self.structure not in STRUCTURES:
            choices = ", ".join(map(repr, STRUCTURES))
            raise InputError(f"structure={self.structure!r:.60}: choose from {choices}")
        if self.loops not in LOOPS:
            raise InputError(f"loops={self.loops!r:.60}: choose from {', '.join(map(repr, LOOPS))}")
        if type(self.treewidth) is not int or not 1 <= self.treewidth <= MOST_TREEWIDTH:
            raise InputError(f"treewidth={self.treewidth!r:.60}: give 1 to {MOST_TREEWIDTH}")
        is_number = isinstance(self.alpha, (int, float, np.number)) and not isinstance(self.alpha, bool)
        if not is_number or not 0 <= self.alpha < 1e6:
            raise InputError(f"alpha={self.alpha!r:.60}: give a number from 0")
        if type(self.max_cells) is not int or not 1 <= self.max_cells <= 1 << 28:
            raise InputError(f"max_cells={self.max_cells!r:.60}: give 1 to {1 << 28:,}")
        self._check_shared_params()


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


def as_edges(graph: Any, columns: Sequence[str]) -> tuple[Edge, ...]:
    """Edges as a model file has them, in the one way to write them; ValueError for anything else."""
    if not isinstance(graph, (tuple, list)):
        raise ValueError(f"graph={graph!r:.60}")
    made = []
    for edge in graph:
        if not isinstance(edge, (tuple, list)) or len(edge) != 2 or not {*edge} <= {*columns}:
            raise ValueError(f"{edge!r:.60} is no edge")
        made.append((edge[0], edge[1]))
    if made != sorted({(min(e), max(e)) for e in made if e[0] != e[1]}):
        raise ValueError("the edges are not sorted, or repeat one")
    return tuple(made)


def _tables_of(plan: Plan) -> tuple[str, ...]:
    singles = [table_name((name,)) for name in plan.columns]
    return (LABEL, *singles, *map(table_name, plan.counted))


def _check_margins(counts: Counts, plan: Plan) -> None:
    """No value occurs more often in a table of several columns than in that of its own."""
    for clique in plan.counted:
        table = counts.tables[table_name(clique)]
        for k, name in enumerate(clique):
            own = counts.tables[table_name((name,))]
            part = np.bincount(table.field(k), table.n, len(own.n))
            if len(part) > len(own.n) or (part > own.n).any():
                raise ValueError(
                    f"the table of {', '.join(clique)!r:.60} does not add up to that of {name!r:.60}"
                )


def _plain(numbers: Any) -> Any:
    return numbers if isinstance(numbers, str) else tuple(sorted(numbers))


def _sizes(rows: Rows, names: Sequence[str]) -> dict[str, int]:
    return {name: len({*rows.columns[name].values} - {ABSENT}) for name in names}


def _codes(rows: Rows) -> Codes:
    names = sorted(rows.columns)
    codes, sizes = [], []
    for name in names:
        column = rows.columns[name]
        values = [value for value in column.values if value != ABSENT]
        codes.append(column.codes if len(values) == len(column.values) else column.encode(values))
        sizes.append(len(values))
    return Codes(names, codes, sizes)
