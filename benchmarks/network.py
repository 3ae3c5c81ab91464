"""Networks of tables beside pgmpy and scikit-learn, in one run: fitting, asking, imputing, classifying.

Prints Markdown. CPU seconds are those of this process, one thread; pgmpy and scikit-learn come from PyPI
(pip install 'corate[network-peers]'). Tables: scikit-learn's and statsmodels' own, and samples of a network
of pgmpy's. Numbers are binned by quantiles before anybody sees them.
"""

from __future__ import annotations

import argparse
import logging
import time
import tracemalloc
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import networkx
import numpy as np
import pandas

from corate import RateNetwork
from lab import terminal

GAPS = 0.2
SEED = 0
Table = Any  # a DataFrame


def timed(action: Callable[[], Any]) -> tuple[float, Any]:
    started = time.process_time()
    found = action()
    return time.process_time() - started, found


def say(*cells: object) -> None:
    print("| " + " | ".join(map(str, cells)) + " |", flush=True)


def head(*cells: str) -> None:
    say(*cells)
    print("| --- |" + " ---: |" * (len(cells) - 1))


# Tables ----------------------------------------------------------------------------------------------


def binned(table: Table, bins: int = 4) -> Table:
    """Every column as text; numbers of more than twelve values by quantiles."""
    made = {}
    for name in table:
        column = table[name]
        if pandas.api.types.is_numeric_dtype(column) and column.nunique() > 12:
            column = pandas.qcut(column, bins, labels=False, duplicates="drop")
        made[str(name)] = column.astype(str)
    found = pandas.DataFrame(made)
    return found.loc[:, found.nunique() > 1]


def alarm(n: int) -> Table:
    from pgmpy.utils import get_example_model

    return get_example_model("alarm").simulate(n, seed=SEED, show_progress=False).astype(str)


def tables() -> Iterator[tuple[str, Table, str]]:
    """Name, rows in random order, and the column that is to be classified."""
    import statsmodels.api as stats
    from sklearn import datasets

    def shuffled(table: Table) -> Table:
        return table.sample(frac=1, random_state=SEED).reset_index(drop=True)

    for name in ("digits", "breast_cancer", "wine"):
        frame = getattr(datasets, f"load_{name}")(as_frame=True).frame
        if name == "digits":  # 17 shades as 4
            frame = pandas.concat([frame.drop(columns="target") // 5, frame["target"]], axis=1)
        yield name, shuffled(binned(frame)), "target"
    fair = stats.datasets.fair.load_pandas().data
    fair["affairs"] = np.where(fair["affairs"] > 0, "yes", "no")
    yield "fair", shuffled(binned(fair)), "affairs"
    yield "anes96", shuffled(binned(stats.datasets.anes96.load_pandas().data)), "vote"
    yield "alarm", alarm(5000), "HRBP"


# pgmpy -----------------------------------------------------------------------------------------------


def against_pgmpy(n_rows: int, n_queries: int) -> None:
    from pgmpy.estimators import TreeSearch
    from pgmpy.inference import VariableElimination
    from pgmpy.models import DiscreteBayesianNetwork

    data = alarm(n_rows).astype("category")
    print(f"\n## alarm, {n_rows:,} rows, {data.shape[1]} columns\n")
    ours_tree, network = timed(lambda: RateNetwork(alpha=0).fit(data))
    theirs_tree, dag = timed(lambda: TreeSearch(data, n_jobs=1).estimate(show_progress=False))
    tree = networkx.bfs_tree(networkx.Graph(network.edges_), network.columns_[0])
    theirs = DiscreteBayesianNetwork(list(tree.edges))
    theirs_fit, _ = timed(lambda: theirs.fit(data))
    edges = list(network.edges_)
    ours_fit, _ = timed(lambda: RateNetwork(edges, alpha=0).fit(data))
    bare_fit, _ = timed(lambda: RateNetwork(edges, alpha=0, ledger=False).fit(data))
    rows = data.iloc[:n_queries]
    given = rows[["HR", "BP", "CO"]].to_dict("records")
    network.marginals(given[0])
    one, _ = timed(lambda: [network.marginals(each) for each in given])
    many, found = timed(lambda: network.marginals(given))
    elimination = VariableElimination(theirs)
    others = [name for name in network.columns_ if name not in given[0]]

    def ask() -> list[dict[str, Any]]:
        return [
            {name: elimination.query([name], evidence=each, show_progress=False).values for name in others}
            for each in given[: max(1, n_queries // 10)]
        ]

    single, answers = timed(ask)
    single /= len(answers)
    far = max(
        float(np.abs(np.array(list(mine[name].values())) - np.asarray(yours[name])).max())
        for mine, yours in zip(found, answers, strict=False)
        for name in others
    )
    log_p = float(network.log_prob(data.iloc[:2000]).sum())
    states = data.iloc[:2000]
    theirs_log_p = sum(np.log(_cells(theirs.get_cpds(name), states)).sum() for name in network.columns_)
    information = (_information(data, edges), _information(data, [tuple(e) for e in dag.edges]))
    head("", "corate, CPU s", "pgmpy, CPU s", "pgmpy : corate")
    ratio("tree and its tables, from rows", ours_tree, theirs_tree + theirs_fit)
    ratio("tables of a given tree, with ledger", ours_fit, theirs_fit)
    ratio("tables of a given tree, ledger=False", bare_fit, theirs_fit)
    ratio(f"all {len(others)} marginals of a row, rows one by one", one / len(given), single)
    ratio(f"all {len(others)} marginals of a row, {len(given)} rows at once", many / len(given), single)
    print(f"\nlargest difference of a marginal: {far:.1e}; log-likelihood of 2,000 rows: "
          f"{log_p:.9f} and {theirs_log_p:.9f}, difference {abs(log_p - theirs_log_p):.1e}; mutual "
          f"information of the learned trees: {information[0]:.9f} and {information[1]:.9f}")  # fmt: skip


def ratio(title: str, ours: float, theirs: float) -> None:
    say(title, f"{ours:.5f}", f"{theirs:.5f}", f"{theirs / ours:.1f}×")


def _cells(cpd: Any, rows: Table) -> Any:
    """P(value | parents) of each row, by pgmpy's table."""
    index = tuple(
        rows[name].map({state: k for k, state in enumerate(cpd.state_names[name])}).to_numpy(int)
        for name in cpd.variables
    )
    return cpd.values[index]


def _information(data: Table, edges: Any) -> float:
    from sklearn.metrics import mutual_info_score

    return float(sum(mutual_info_score(data[a], data[b]) for a, b in edges))


def growth() -> None:
    """CPU and memory of fitting as rows grow."""
    print("\n## Fitting a tree that is given, as rows grow\n")
    whole = alarm(400_000).astype("category")
    edges = list(RateNetwork(alpha=0).fit(whole.iloc[:20_000]).edges_)
    head("rows", "CPU s", "CPU µs a row", "traced peak, MB", "encoded table, MB", "peak : table")
    for n in (25_000, 100_000, 400_000):
        part = whole.iloc[:n]
        seconds, _ = timed(lambda part=part: RateNetwork(edges).fit(part))  # type: ignore[misc]
        tracemalloc.start()
        RateNetwork(edges).fit(part)
        peak = tracemalloc.get_traced_memory()[1] / 1e6
        tracemalloc.stop()
        table = part.size * 4 / 1e6
        say(
            f"{n:,}",
            f"{seconds:.2f}",
            f"{1e6 * seconds / n:.2f}",
            f"{peak:.1f}",
            f"{table:.1f}",
            f"{peak / table:.2f}",
        )


# scikit-learn ----------------------------------------------------------------------------------------


def coded(table: Table) -> tuple[Any, list[Any]]:
    """Codes with NaN for gaps, and the values of each column."""
    columns = [pandas.Categorical(table[name]) for name in table]
    codes = np.stack([np.where(c.codes < 0, np.nan, c.codes.astype(float)) for c in columns], axis=1)
    return codes, [c.categories for c in columns]


def imputers() -> dict[str, Callable[[Table], Any]]:
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.experimental import enable_iterative_imputer  # noqa: F401
    from sklearn.impute import IterativeImputer, KNNImputer, SimpleImputer

    def by(make: Callable[[], Any]) -> Callable[[Table], Any]:
        def impute(table: Table) -> Any:
            codes, values = coded(table)
            found = np.rint(make().fit_transform(codes)).astype(int)
            made = [v[np.clip(found[:, k], 0, len(v) - 1)] for k, v in enumerate(values)]
            return np.stack([np.asarray(column, object) for column in made], axis=1)

        return impute

    forest = RandomForestClassifier(n_estimators=20, random_state=SEED)

    def ours(treewidth: int) -> Callable[[Table], Any]:
        return lambda table: (
            RateNetwork(treewidth=treewidth, ledger=False).fit(table).impute(table).to_numpy(object)
        )

    return {
        "mode": by(lambda: SimpleImputer(strategy="most_frequent")),
        "KNNImputer": by(lambda: KNNImputer(n_neighbors=10)),
        "IterativeImputer, forest": by(
            lambda: IterativeImputer(
                forest, max_iter=3, initial_strategy="most_frequent", n_nearest_features=20, random_state=SEED
            )
        ),
        "RateNetwork, tree": ours(1),
        "RateNetwork, treewidth 2": ours(2),
    }


def imputation(most_rows: int) -> None:
    print(f"\n## Imputation: {GAPS:.0%} of the cells removed at random; % right (CPU s)\n")
    makers = imputers()
    head("table", "rows × columns", *makers)
    for name, table, _ in tables():
        truth = table.iloc[:most_rows]
        gaps = np.random.default_rng(SEED).random(truth.shape) < GAPS
        varied = truth.mask(gaps).nunique().to_numpy() > 1
        truth, gaps = truth.loc[:, varied], gaps[:, varied]
        given = truth.mask(gaps)
        cells = []
        for make in makers.values():
            seconds, found = timed(lambda make=make, given=given: make(given))  # type: ignore[misc]
            right = (found == truth.to_numpy(object))[gaps].mean()
            cells.append(f"{100 * right:.2f} ({seconds:.2f})")
        say(name, f"{truth.shape[0]} × {truth.shape[1]}", *cells)


def likelihood_and_classes(most_rows: int) -> None:
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.naive_bayes import CategoricalNB
    from sklearn.preprocessing import OrdinalEncoder

    print("\n## Held-out log-likelihood of a row (nats), and one column classified, % right\n")
    networks = {
        "independent": RateNetwork(structure="independent"),
        "tree": RateNetwork(),
        "treewidth 2": RateNetwork(treewidth=2),
        "treewidth 3": RateNetwork(treewidth=3),
    }
    head(
        "table", "column", *networks, "classified: tree", "treewidth 2", "CategoricalNB", "gradient boosting"
    )
    for name, table, target in tables():
        part = table.iloc[:most_rows]
        cut = 2 * len(part) // 3
        train, test = part.iloc[:cut], part.iloc[cut:]
        train = train.loc[:, train.nunique() > 1]
        test = test[train.columns]
        made = {key: network.fit(train) for key, network in networks.items()}
        scores = [f"{network.score(test):.3f}" for network in made.values()]
        gold = test[target].tolist()
        rates = [np.mean([a == b for a, b in zip(made[key].predict(test, target), gold, strict=True)])
                 for key in ("tree", "treewidth 2")]  # fmt: skip
        encoder = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
        others = [column for column in train if column != target]
        x, z = encoder.fit_transform(train[others]) + 1, encoder.transform(test[others]) + 1
        n = x.max(axis=0).astype(int) + 1
        for model in (CategoricalNB(min_categories=n), HistGradientBoostingClassifier(random_state=SEED)):
            rates.append(np.mean(model.fit(x, train[target]).predict(z) == np.array(gold, object)))
        say(name, target, *scores, *(f"{100 * rate:.2f}" for rate in rates))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="fewer rows; figures mean nothing")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    print("# Networks of tables beside their peers, in one run")
    against_pgmpy(2_000 if options.quick else 100_000, 10 if options.quick else 200)
    if not options.quick:
        growth()
    imputation(300 if options.quick else 3000)
    likelihood_and_classes(300 if options.quick else 10_000)


if __name__ == "__main__":
    terminal.run(main)
