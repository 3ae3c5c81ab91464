"""--engine spark: what commands do where the text is, on a cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from corate.cli.common import Command, with_options
from corate.cli.labeller import Done, Labeller
from corate.cli.text_options import TextOptions
from corate.errors import CorateError, InputError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from corate.counts.engines.base import Engine
    from corate.counts.engines.spark.files import Layout
    from corate.counts.engines.spark.pieces import Batches
    from corate.engines.shared import Shared

LABELLED = "text binary, n_tokens long"


class ClusterOptions(NamedTuple):
    """--master, --partitions and --conf, as they were given."""

    master: str | None
    partitions: int | None
    conf: tuple[str, ...]

    def check(self, engine: str) -> None:
        if engine != "spark":
            given = {"--master": self.master, "--partitions": self.partitions, "--conf": self.conf}
            told = next((name for name, value in given.items() if value), None)
            if told is not None:
                raise click.UsageError(f"{told} is for --engine spark")
        for setting in self.conf:
            if "=" not in setting:
                raise click.UsageError(f"--conf {setting!r}: write NAME=VALUE")

    @contextmanager
    def session(self, show: bool = False) -> Iterator[SparkSession]:
        """A session of Spark, which ends with the command if it was started for it."""
        from corate.counts.engines.spark.session import is_running, plainly, start

        was_running = is_running()
        bar = {"spark.ui.showConsoleProgress": "true"} if show else {}
        spark = start(self.master, {**bar, **dict(setting.split("=", 1) for setting in self.conf)})
        try:
            with plainly():
                yield spark
        finally:
            if not was_running:
                spark.stop()

    @contextmanager
    def source(self, model: Any, files: Sequence[str], text: TextOptions, show: bool) -> Iterator[Engine]:
        """For training: an engine that has its sentences already."""
        from corate.engines.spark import source_of_files

        with self.session(show) as spark:
            source = source_of_files(spark, files, model, layout_of(text), self.partitions)
            yield lambda chunks: source


def cluster_options(command: Command) -> Command:
    """--master, --partitions and --conf; the command takes them by these names."""
    options = (
        click.option(
            "--master",
            metavar="URL",
            help="spark: the cluster, such as spark://host:7077, yarn, or local[2] for two cores of this "
            "machine; by default what Spark's own settings say.",
        ),
        click.option(
            "--partitions",
            type=click.IntRange(1),
            metavar="N",
            help="spark: into how many parts the text is cut; by default 1 MB to 128 MB each.",
        ),
        click.option(
            "--conf",
            multiple=True,
            metavar="NAME=VALUE",
            help="spark: a setting, such as spark.executor.memory=4g; repeatable.",
        ),
    )
    made: Command = with_options(options, command)
    return made


def layout_of(text: TextOptions, labelled: bool = True) -> Layout:
    from corate.counts.engines.spark.files import Layout

    return Layout(text.format, text.label, labelled, text.encoding, text.plain)


def labelled_text(
    spark: SparkSession,
    file: str,
    model_path: str,
    text: TextOptions,
    partitions: int | None,
    to: str | None,
    wanted: dict[str, Any],
) -> Iterator[Done]:
    """The text of a file, or of the files of a directory, with labels, in order."""
    from corate.counts.engines.spark.files import Text
    from corate.counts.engines.spark.jobs import run
    from corate.counts.engines.spark.listing import list_files
    from corate.engines.shared import Shared

    shared = Shared(spark, model_path)
    for listed in list_files(spark, [file]):
        if not listed.size:
            continue
        source = Text(spark, [listed], layout_of(text, labelled=False), partitions)
        label = _labelling(shared, source.blocks(), to, wanted)
        with source.errors():
            for row in run(source.frame.mapInArrow(label, LABELLED)):
                yield Done(bytes(row.text).decode("utf-8", "surrogatepass"), row.n_tokens)


def _labelling(
    shared: Shared, read: Callable[[Batches], Iterator[Any]], to: str | None, wanted: dict[str, Any]
) -> Callable[[Batches], Iterator[Any]]:
    """What a task does."""

    def label(batches: Batches) -> Iterator[Any]:
        import pyarrow as pa

        from corate.counts.engines.spark.session import TaskError
        from corate.text.formats import open_format
        from corate.text.formats.reader import Reader

        for file, place, lines in read(batches):
            reader = Reader(file.format, lines, file.name, whole=False)
            writer = file.format if to is None else open_format(to, labelled=False)
            labeller = Labeller(shared.model(), reader, writer, **wanted)
            try:
                for part in reader.parts():
                    done = labeller(part)
                    text = pa.array([done.text.encode("utf-8", "surrogatepass")], pa.binary())
                    yield pa.RecordBatch.from_arrays(
                        [text, pa.array([done.n_tokens], pa.int64())], ["text", "n_tokens"]
                    )
            except CorateError as error:
                raise TaskError.of(error, place) from None

    return label


def is_table(spark: SparkSession, file: str) -> bool:
    """Whether files are Parquet."""
    from corate.counts.engines.spark.listing import list_files
    from corate.counts.engines.spark.parquet import is_parquet

    return any(map(is_parquet, list_files(spark, [file])))


def label_table(spark: SparkSession, file: str, model_path: str, marginals: bool, output: str | None) -> None:
    """Parquet in, Parquet out: all columns, and those of the labels."""
    from corate.counts.engines.spark.listing import list_files
    from corate.counts.engines.spark.session import plainly
    from corate.engines.spark import tag

    if output is None:
        raise InputError("a table of Parquet: say with --output DIR where the labelled one is to be", file)
    with plainly():
        frame = spark.read.parquet(*(listed.path for listed in list_files(spark, [file])))
        tag(frame, model_path, marginals).write.parquet(output)


def check_alone(engine: str, given: Iterable[tuple[str, bool]]) -> None:
    """Refuse options that mean something on this machine alone."""
    told = next((name for name, is_given in given if is_given), None)
    if engine == "spark" and told is not None:
        raise click.UsageError(f"{told} and --engine spark do not go together: choose one")
