"""RateNetwork: a table of categorical data as a network of co-occurrence rates; training is counting."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from corate.contexts.template import Context
from corate.counts.counts import Counts
from corate.counts.invariants import check_counts
from corate.counts.names import LABEL
from corate.errors import InputError
from corate.models.counted import Arrays, Learned
from corate.models.graph.answers import Answers
from corate.models.graph.conditionals import sizes_of, table_name
from corate.models.graph.graphs import LOOPS, Edge, as_graph, edges_of
from corate.models.graph.plan import Plan
from corate.models.graph.rows import ROW, Rows, check_columns, check_numbers, chunks_of
from corate.models.graph.structure import STRUCTURES, Codes, Progress, chow_liu, grown
from corate.storage.modelfile import Contents
from corate.text.corpus import ABSENT, Corpus

MOST_TREEWIDTH = 16


class RateNetwork(Answers):
    """A network of co-occurrence rates over the columns of a table.

    P(row) is a product of P(x) and of co-occurrence rates along the edges of a graph, all of them counted.
    Rows are a DataFrame, a dict of columns, or a list of dicts or tuples; None, NaN and "" are missing cells,
    and a row counts for the factors whose columns it has.

    Parameters
    ----------
    graph : list of pairs, networkx graph, "chain", dict or None
        Edges; a dict is {column: its parent}. None: the graph is learned.
    structure : {"tree", "independent"}
        Where the graph is learned: Chow–Liu's tree, or no edge.
    treewidth : int
        Up to which further edges are learned, while held-out rows gain by them.
    loops : {"triangulate", "condition", "ipf"}
        What is done about loops without chords.
    alpha : float
        Of the smoothing along back-off; 0 gives the pure estimate.
    numbers : "refuse", "bin" or list of str
        What to do with numbers; a list names the columns whose numbers are put into bins.
    max_cells : int
        The most cells that the table of a clique may have.
    ledger : bool
        Whether digests of learned rows are kept, so that others are not forgotten by mistake.
    n_jobs : int
        Not used: a network is counted by one thread.

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

    _thing = ROW

    # Training ----------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None, progress: Progress | None = None) -> RateNetwork:
        """Count the rows of a table `X`; the graph is learned from them if none is given.

        `y` is not used (scikit-learn gives it); `progress` is told how far the search for edges is."""
        rows = self._training_rows(X)
        plan, edges = self._plan(rows, progress)
        corpus = rows.corpus(plan.columns)
        contexts = [Context.of_feature(name) for name in plan.columns]
        self._plan_to_count = plan
        counted = self._count(chunks_of(corpus), _tables_of(plan), contexts if self.ledger else None)
        check_counts(counted.counts)
        plan.check_sizes(sizes_of(counted.counts, plan.columns), self.max_cells)
        self._set_model(counted.counts, plan, edges)
        self._start_ledger(counted.digests)
        return self

    def plan(self, X: Any) -> str:
        """What a training on the rows `X` would count: treewidth and tables, in words."""
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
        """Refused, for any `below`: the tables of a network have to add up."""
        raise InputError("a network cannot be pruned: without rare combinations its tables do not add up")

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
