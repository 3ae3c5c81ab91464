"""Train and tag with Spark, on a session that is there already: the public door.

    tagger = train(sentences, corate.Tagger())      a DataFrame with the lists `tokens` and `labels`
    labelled = tag(text, tagger)                    a DataFrame with the list `tokens`, and any other columns

The model is the one that training in memory makes of the same sentences, to the byte.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import pyarrow as pa

from corate.counts.engines.spark.engine import Cluster
from corate.counts.engines.spark.files import Layout, Text
from corate.counts.engines.spark.listing import list_files
from corate.counts.engines.spark.parquet import Parquet, is_parquet
from corate.counts.engines.spark.pieces import (
    LABELS,
    TOKENS,
    Batches,
    Rows,
    Sentences,
    check_columns,
    token_lists,
)
from corate.engines.shared import Shared
from corate.errors import InputError
from corate.models.counted import CountedModel
from corate.models.tagger.tagger import Tagger
from corate.text.tokens import as_corpus

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from corate.counts.counts import Counts

PREDICTED, PROBABILITIES = "predicted", "probabilities"

Model = TypeVar("Model", bound=CountedModel)


def train(data: Any, model: Model, labels: str = LABELS, **learning: Any) -> Model:
    """The model, trained on a DataFrame with the lists `tokens` and `labels`, or on an RDD of pairs of them.

    Tokens are strings; lists of strings, the word and further columns (in an RDD, tuples); or maps, features.
    The order of partitions, and of rows in them, is that of the corpus; it has to be the same each time that
    they are read. `learning`: what `fit_chunks` takes besides, such as `min_count`.
    """
    return _trained(_source(Rows(data, labels, _make(model)), model), model, learning)


def train_files(
    spark: SparkSession,
    paths: Iterable[str],
    model: Model,
    layout: Layout = Layout(),  # noqa: B008 - it never changes
    partitions: int | None = None,
    **learning: Any,
) -> Model:
    """The same on files, as Spark finds them by paths, directories and patterns: text in the formats of
    corate, or Parquet with the lists `tokens` and `labels`."""
    source = source_of_files(spark, paths, model, layout, partitions)
    return _trained(source, model, learning)


def source_of_files(
    spark: SparkSession,
    paths: Iterable[str],
    model: CountedModel,
    layout: Layout = Layout(),  # noqa: B008 - it never changes
    partitions: int | None = None,
) -> Cluster:
    """Sentences of files, as this model counts them."""
    listed = list_files(spark, paths)
    if any(map(is_parquet, listed)):
        labels = LABELS if layout.label is None else layout.label
        return _source(Parquet(spark, listed, labels, _make(model), partitions), model)
    return _source(Text(spark, listed, layout, partitions), model)


def count(data: Any, model: CountedModel | None = None, labels: str = LABELS) -> Counts:
    """What a model counts in sentences, a Tagger if none is given; see `train`."""
    counted = Tagger("fixed", ledger=False) if model is None else model
    return train(data, counted, labels).counts_


def _source(sentences: Sentences, model: CountedModel) -> Cluster:
    prepare = partial(model._training_corpus, y=None) if isinstance(model, Tagger) else as_corpus
    return Cluster(sentences, prepare)


def _trained(source: Cluster, model: Model, learning: Any) -> Model:
    trained: Model = model.fit_chunks((), engine=lambda chunks: source, **learning)  # type: ignore[attr-defined]
    return trained


def _make(model: CountedModel) -> Any:
    return model._training_corpus if isinstance(model, Tagger) else as_corpus


def tag(frame: DataFrame, model: Any, marginals: bool = False) -> DataFrame:
    """The DataFrame with a list more: `predicted`, labels for the tokens of each row; with `marginals` also
    their `probabilities`. Rows and their order stay. `model`: a trained one, or its file."""
    from pyspark.sql import types

    check_columns(frame, TOKENS)
    added = {PREDICTED: types.StringType(), **({PROBABILITIES: types.DoubleType()} if marginals else {})}
    for name in added:
        if name in frame.columns:
            raise InputError(f"the DataFrame has a column {name!r} already: drop it, or give it another name")
    fields = [
        *frame.schema.fields,
        *(types.StructField(name, types.ArrayType(kind)) for name, kind in added.items()),
    ]
    shared = Shared(frame.sparkSession, model)
    return frame.mapInArrow(
        _tagging(shared, frame.columns.index(TOKENS), marginals), types.StructType(fields)
    )


def _tagging(shared: Shared, tokens: int, marginals: bool) -> Callable[[Batches], Iterator[pa.RecordBatch]]:
    def label(batches: Batches) -> Iterator[pa.RecordBatch]:
        model = shared.model()
        for batch in batches:
            X = token_lists(batch.column(tokens))
            added = [_column(model.predict(X), pa.string())] if not marginals else _likely(model, X)
            names = [*batch.schema.names, *(PREDICTED, PROBABILITIES)[: len(added)]]
            yield pa.RecordBatch.from_arrays([*batch.columns, *added], names)

    return label


def _likely(model: Any, X: list[Any]) -> list[pa.Array]:
    """The most likely labels, and how likely they are."""
    found = model.predict_with_probability(X)
    labels = [[label for label, _ in sentence] for sentence in found]
    return [
        _column(labels, pa.string()),
        _column([[p for _, p in sentence] for sentence in found], pa.float64()),
    ]


def _column(lists: list[Any], kind: pa.DataType) -> pa.Array:
    return pa.array([list(each) for each in lists], pa.list_(kind))
