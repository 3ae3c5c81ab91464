"""corate network: networks of co-occurrence rates, for tables of categories."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from corate.cli.changes import changing, tell
from corate.cli.common import (
    Command,
    check_target,
    console,
    megabytes,
    model_option,
    plural,
    quiet_option,
    table,
    with_options,
)
from corate.cli.explain import print_explanations
from corate.errors import InputError, spoken

if TYPE_CHECKING:
    from corate.models.graph.network import RateNetwork


@click.group(short_help="Networks of co-occurrence rates, for tables.")
def network() -> None:
    """Learn a table of categories (CSV with a line of names), and fill, score, ask and draw it.

    \b
    Example:
      corate network train survey.csv -m survey.net --treewidth 2
      corate network query -m survey.net "smoker=yes, age=?"
      corate network impute -m survey.net gaps.csv > whole.csv
    """


def table_options(command: Command) -> Command:
    made: Command = with_options(
        [
            click.option("--delimiter", metavar="CHAR", help="Between cells: a comma, in .tsv a tab."),
            click.option("--missing", multiple=True, metavar="TEXT", help="A cell that is not there, beside the empty one (repeatable)  [default: NA NaN nan ?]"),  # noqa: E501
        ],
        command,
    )  # fmt: skip
    return made


def read(path: str, delimiter: str | None, missing: tuple[str, ...], drop: tuple[str, ...] = ()) -> Any:
    from corate.models.graph.files import MISSING, read_table

    if delimiter is not None and len(delimiter) != 1:
        raise InputError(f"--delimiter {delimiter!r:.60}: give one character")
    return read_table(path, delimiter, drop, missing or MISSING)


def load_network(path: str) -> RateNetwork:
    from corate.models.graph.network import RateNetwork
    from corate.models.registry import load

    model = load(path)
    if not isinstance(model, RateNetwork):
        raise InputError(f"{spoken(model)}, and this is for networks (corate network train)", path)
    return model


@contextmanager
def naming(path: str) -> Iterator[None]:
    """Errors say which file they are about."""
    try:
        yield
    except InputError as error:
        if error.source is not None:
            raise
        raise InputError(str(error), path) from error


@network.command(short_help="Learn a table.")
@click.argument("file", metavar="TABLE")
@click.option("-m", "model_path", required=True, metavar="NET", help="Model file to write.")
@click.option("--graph", metavar="EDGES", help="File with the graph: two columns a line.")
@click.option(
    "--structure", type=click.Choice(["tree", "independent"]), default="tree", show_default=True,
    help="What is learned where no graph is given.",
)  # fmt: skip
@click.option("--treewidth", type=click.IntRange(1, 16), default=1, show_default=True,
              help="Up to which further edges are learned, while held-out rows gain by them.")  # fmt: skip
@click.option(
    "--loops", type=click.Choice(["triangulate", "condition", "ipf"]), default="triangulate",
    show_default=True, help="Loops: add chords, condition on columns, or fit them iteratively.",
)  # fmt: skip
@click.option("--alpha", type=click.FloatRange(0, 1e5), default=1.5, show_default=True,
              help="Of the smoothing; 0: the pure estimate.")  # fmt: skip
@click.option("--drop", multiple=True, metavar="COLUMN", help="Leave a column out (repeatable).")
@click.option(
    "--bin", "binned", multiple=True, metavar="COLUMN", help="Put a column's numbers into bins (repeatable)."
)
@click.option("--no-ledger", is_flag=True, help="Leave out which rows were learned.")
@table_options
@quiet_option
def train(
    file: str,
    model_path: str,
    graph: str | None,
    drop: tuple[str, ...],
    binned: tuple[str, ...],
    no_ledger: bool,
    delimiter: str | None,
    missing: tuple[str, ...],
    quiet: bool,
    **params: Any,
) -> None:
    """Count TABLE and write a network. Its first line has the names of the columns; - is standard input.

    \b
    Example:
      corate network train survey.csv -m survey.net
      corate network train survey.csv -m survey.net --graph edges.txt --loops condition
      corate network train --drop id --bin age survey.csv -m survey.net --treewidth 2
    """
    from corate.models.graph.files import read_graph
    from corate.models.graph.network import RateNetwork

    check_target(Path(model_path))
    edges = None if graph is None else read_graph(graph)
    columns = read(file, delimiter, missing, drop)
    for name in binned:
        if name not in columns:
            raise InputError(f"--bin {name!r:.60}: there is no such column", file)
    made = RateNetwork(edges, numbers=binned or "refuse", ledger=not no_ledger, **params)
    started, show = time.perf_counter(), sys.stderr.isatty() and not quiet
    with naming(file), _progress(show) as advance:
        made.fit(columns, progress=advance)
    made.save(model_path)
    if not quiet:
        sizes = {name: len(made.values(name)) for name in made.columns_}
        tell(f"{model_path}  {plural(made.counts_.n_sentences, 'row')}, {made.plan_.describe(sizes)}; "
             f"{time.perf_counter() - started:.2f} s, {megabytes(model_path)}")  # fmt: skip


@contextmanager
def _progress(show: bool) -> Iterator[Any]:
    if not show:
        yield None
        return
    from rich.progress import Progress

    with Progress(console=console(stderr=True), transient=True) as bar:
        task = bar.add_task("learning the graph", total=1.0)
        yield lambda part: bar.update(task, completed=part)


@network.command(short_help="Fill the missing cells of a table.")
@click.argument("file", metavar="TABLE")
@model_option
@click.option("--joint", is_flag=True, help="The values of a row that are best together, not each by itself.")
@table_options
def impute(file: str, model_path: str, joint: bool, delimiter: str | None, missing: tuple[str, ...]) -> None:
    """Write TABLE to standard output with its missing cells filled; other columns stay as they are."""
    from corate.models.graph.files import write_table

    made, columns = load_network(model_path), read(file, delimiter, missing)
    known = {name: columns[name] for name in columns if name in made.columns_}
    if not known:
        raise InputError(f"no column of it is in the network, which has {', '.join(made.columns_[:8])}", file)
    with naming(file):
        filled = {**columns, **made.impute(known, joint)}
    write_table(filled, sys.stdout, delimiter or ("\t" if file.endswith(".tsv") else ","))


@network.command(short_help="How probable each row is, most surprising first.")
@click.argument("file", metavar="TABLE")
@model_option
@click.option("--top", default=10, show_default=True, type=click.IntRange(1), help="Rows.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a row, for programs.")
@table_options
def score(
    file: str, model_path: str, top: int, as_json: bool, delimiter: str | None, missing: tuple[str, ...]
) -> None:
    """Show the rows of TABLE that the network expects least, each with its most surprising cell."""
    made, columns = load_network(model_path), read(file, delimiter, missing)
    known = {name: columns[name] for name in columns if name in made.columns_}
    with naming(file):
        mean, worst = made.score(known), made.anomalies(known, top)
    if as_json:
        for each in worst:
            click.echo(json.dumps({**each._asdict(), "row": each.row + 1}, ensure_ascii=False))
        return
    rows = table("row", "log P", "column", "value", "probability", "expected", "")
    for k in (2, 3, 5):
        rows.columns[k].justify = "left"
    for each in worst:
        rows.add_row(
            f"{each.row + 1:,}", f"{each.log_prob:.2f}", each.column, each.value, f"{each.probability:.3f}",
            each.expected, f"{each.expected_probability:.3f}",
        )  # fmt: skip
    console().print(rows)
    console().print(f"mean log P of a row: {mean:.4f}")


@network.command(short_help="Ask for probabilities.")
@click.argument("question")
@model_option
@click.option("--json", "as_json", is_flag=True, help="One JSON object, for programs.")
def query(question: str, model_path: str, as_json: bool) -> None:
    """Answer QUESTION, such as "smoker=yes, age=?": what is given, and what is asked for.

    \b
    Example:
      corate network query -m survey.net "smoker=yes, age=?, children=?"
    """
    made = load_network(model_path)
    given, asked = _parse(question)
    found = made.marginals(given)
    for name in asked:
        made.values(name)
    answers = {name: found[name] for name in asked or found}
    if as_json:
        click.echo(json.dumps(answers, ensure_ascii=False))
        return
    rows = table("column", "value", "probability")
    rows.columns[1].justify = "left"
    for name, values in answers.items():
        for k, (value, p) in enumerate(sorted(values.items(), key=lambda item: -item[1])):
            rows.add_row(name if k == 0 else "", value, f"{p:.4f}")
    console().print(rows)


def _parse(question: str) -> tuple[dict[str, str], list[str]]:
    given: dict[str, str] = {}
    asked: list[str] = []
    for part in filter(None, map(str.strip, question.split(","))):
        name, mark, value = (text.strip() for text in part.partition("="))
        if not mark or not name or not value:
            raise InputError(f"{part!r:.60} is neither column=value nor column=?")
        if name in given or name in asked:
            raise InputError(f"the column {name!r:.60} is there twice")
        if value == "?":
            asked.append(name)
        else:
            given[name] = value
    return given, asked


@network.command(short_help="Say why a row is as probable as it is.")
@click.argument("row")
@model_option
@click.option("--top", default=4, show_default=True, type=click.IntRange(1), help="Reasons for each column.")
def explain(row: str, model_path: str, top: int) -> None:
    """Show the counts behind every value of ROW, such as "smoker=yes, age=40"; others are filled in."""
    made = load_network(model_path)
    given, _ = _parse(row)
    for name in given:
        made.values(name)
    print_explanations(console(), made.explain(given), top, ("column", "value"))


@network.command(short_help="Draw a network.")
@model_option
@click.option("-o", "--output", required=True, metavar="FILE.svg", help="Picture to write.")
def draw(model_path: str, output: str) -> None:
    """Draw the columns, and edges as thick as what their ends tell of one another (in bits)."""
    load_network(model_path).draw(output)


def _changed(model_path: str, columns: Any, output: str | None, quiet: bool, forget: bool) -> None:
    load_network(model_path)
    with changing(model_path, output, quiet) as model:
        (model.forget if forget else model.partial_fit)(columns)


def change_options(command: Command) -> Command:
    made: Command = with_options(
        [
            click.argument("model_path", metavar="NET"),
            click.argument("file", metavar="TABLE"),
            click.option(
                "-o", "--output", metavar="FILE", help="Write the changed network here, and leave NET."
            ),
            table_options,
            quiet_option,
        ],
        command,
    )
    return made


@network.command(short_help="Teach a network further rows.")
@change_options
def update(
    model_path: str,
    file: str,
    output: str | None,
    delimiter: str | None,
    missing: tuple[str, ...],
    quiet: bool,
) -> None:
    """Add the rows of TABLE to NET: the same as a training on everything."""
    _changed(model_path, read(file, delimiter, missing), output, quiet, False)


@network.command(short_help="Take rows away that a network has learned.")
@change_options
def forget(
    model_path: str,
    file: str,
    output: str | None,
    delimiter: str | None,
    missing: tuple[str, ...],
    quiet: bool,
) -> None:
    """Take the rows of TABLE away from NET: the same as if they had never been there."""
    _changed(model_path, read(file, delimiter, missing), output, quiet, True)
