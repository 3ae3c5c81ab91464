"""Tables of counts as rows of Arrow, and back: what travels between tasks and is summed by GROUP BY.

    table   k0      k1     k2     n
    0       dog     NOUN          17      an event: the fields of its table, by their values
    …
    -1      digest                1       a sentence of the ledger
    -2      {…}                   1       what a task says of its partition, as JSON; it is there once

Keys are UTF-8, whose bytes order as the strings do.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from corate.counts.counts import Counts
from corate.counts.engines.base import Counted
from corate.counts.ledger import DIGEST, NO_DIGESTS, Digests
from corate.counts.names import fields, vocabulary_of
from corate.counts.table import Table

LEDGER, REPORT = -1, -2
BATCH = 200_000  # rows
Report = Mapping[str, Any]


def key_names(tables: Sequence[str]) -> list[str]:
    return [f"k{k}" for k in range(max((len(fields(name)) for name in tables), default=1))]


def ddl_of(tables: Sequence[str]) -> str:
    """The columns, as Spark writes them."""
    return ", ".join(["table int", *(f"{key} binary" for key in key_names(tables)), "n long"])


def _schema(tables: Sequence[str]) -> pa.Schema:
    keys = [(name, pa.binary()) for name in key_names(tables)]
    return pa.schema([("table", pa.int32()), *keys, ("n", pa.int64())])


def to_rows(counted: Counted, tables: Sequence[str], report: Report) -> Iterator[pa.RecordBatch]:
    """What a task hands on."""
    schema, (counts, digests) = _schema(tables), counted
    values = {key: pa.array(_encoded(each), pa.binary()) for key, each in counts.vocabularies.items()}
    for number, name in enumerate(tables):
        table = counts.tables[name]
        for begin in range(0, len(table.n), BATCH):
            ids, n = table.ids[begin : begin + BATCH], table.n[begin : begin + BATCH]
            keys = [values[vocabulary_of(f)].take(pa.array(ids[:, k])) for k, f in enumerate(fields(name))]
            yield _batch(schema, number, keys, n)
    for begin in range(0, len(digests), BATCH):
        some = digests[begin : begin + BATCH].view(f"V{DIGEST.itemsize}").tolist()
        yield _batch(schema, LEDGER, [pa.array(some, pa.binary())], np.ones(len(some), np.int64))
    said = pa.array([json.dumps(report).encode()], pa.binary())
    yield _batch(schema, REPORT, [said], np.ones(1, np.int64))


def _encoded(vocabulary: Iterable[str]) -> list[bytes]:
    return [value.encode("utf-8", "surrogatepass") for value in vocabulary]


def _batch(
    schema: pa.Schema, number: int, keys: Sequence[pa.Array], n: npt.NDArray[np.int64]
) -> pa.RecordBatch:
    table = pa.array(np.full(len(n), number, np.int32))
    nothing = [pa.nulls(len(n), pa.binary())] * (len(schema) - 2 - len(keys))
    return pa.RecordBatch.from_arrays([table, *keys, *nothing, pa.array(n)], schema=schema)


class Summed(NamedTuple):
    """What rows say that were summed, each of which is there once."""

    counts: Counts  # but for the number of sentences
    digests: Digests
    reports: list[Report]


def from_rows(batches: Sequence[pa.RecordBatch], tables: Sequence[str]) -> Summed:
    every = pa.Table.from_batches(batches)
    names = key_names(tables)
    found = {number: every.filter(pc.equal(every["table"], number)) for number in range(-2, len(tables))}
    columns = {
        name: [found[number][key] for key, _ in zip(names, fields(name), strict=False)]
        for number, name in enumerate(tables)
    }
    parts: dict[str, list[pa.ChunkedArray]] = {"word": [], "y": []}
    for name in tables:
        for field, column in zip(fields(name), columns[name], strict=True):
            parts.setdefault(vocabulary_of(field), []).append(column)
    values = {key: _distinct(each) for key, each in parts.items()}
    made = {}
    for number, name in enumerate(tables):
        sets = [values[vocabulary_of(field)] for field in fields(name)]
        ids = [_ids(column, each) for column, each in zip(columns[name], sets, strict=True)]
        made[name] = Table.of(ids, found[number]["n"].to_numpy())
    texts = {key: [v.decode("utf-8", "surrogatepass") for v in e.to_pylist()] for key, e in values.items()}
    reports = [json.loads(text) for text in found[REPORT]["k0"].to_pylist()]
    return Summed(Counts(texts, made, 0), _digests(found[LEDGER]), reports)


def _distinct(parts: Sequence[pa.ChunkedArray]) -> pa.Array:
    distinct = pc.unique(pa.chunked_array([chunk for part in parts for chunk in part.chunks], pa.binary()))
    return distinct.take(pc.sort_indices(distinct))


def _ids(column: pa.ChunkedArray, values: pa.Array) -> npt.NDArray[np.int32]:
    ids: npt.NDArray[np.int32] = pc.index_in(column, value_set=values).to_numpy()
    return ids


def _digests(rows: pa.Table) -> Digests:
    data = b"".join(rows["k0"].to_pylist())
    return np.repeat(np.frombuffer(data, DIGEST) if data else NO_DIGESTS, rows["n"].to_numpy())


def packed(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """All rows of a partition as one value, on their way to the driver."""
    every = list(batches)
    if every:
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, every[0].schema) as writer:
            for batch in every:
                writer.write_batch(batch)
        yield pa.RecordBatch.from_arrays([pa.array([sink.getvalue().to_pybytes()], pa.binary())], ["packed"])


def unpacked(value: bytes) -> list[pa.RecordBatch]:
    with pa.ipc.open_stream(value) as reader:
        return list(reader)
