"""Count on one disk: tables that do not fit into memory, by DuckDB, which sums with spilling.

    chunk ──count in memory──► a run on disk ─┐
    chunk ──count in memory──► a run on disk ─┼─► one vocabulary after the other, one table after the other:
    …                                         ┘   SELECT key, sum(n) … GROUP BY key ORDER BY key

    with Disk("work", memory=1 << 30) as engine:
        Tagger(weights="fixed").fit_chunks(chunks, engine=engine).save("big.model")

The tables that come out are mapped from files without a name: they are there as long as the model is, and
take no more memory than what is looked at. Beside what DuckDB is allowed, memory holds a chunk while it is
counted, and the vocabularies. Runs survive a kill (runs.py), and `resume` goes on behind the last whole one.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from corate.arrays import KEY_BITS, Ids, Int, blocks, pack, unpack
from corate.contexts.values import Vocabulary
from corate.counts.counts import Counts, labels_that_are_left
from corate.counts.engines.base import Counted, Task
from corate.counts.engines.chunks import Chunked, count_chunk
from corate.counts.engines.runs import RunFolder, fingerprint_of, lock_folder
from corate.counts.ledger import NO_DIGESTS
from corate.counts.names import atoms_of, fields, vocabulary_of
from corate.counts.table import Table
from corate.errors import InputError
from corate.text.corpus import Corpus

LEAST_MEMORY = 256 << 20
DUCKDB_SHARE = 0.4  # of the memory: the rest is for a chunk that is counted, and for vocabularies
MOST_WAITING = 500_000  # rows of several runs that DuckDB is given at a time
MOST_ROWS = 2_000_000  # that are summed at a time
SAMPLED = 1_000  # every so manieth key tells where to cut

Mask = npt.NDArray[np.bool_]


class Progress(NamedTuple):
    """How far a training is."""

    n_tokens: int  # counted so far
    n_new: int  # of them by this process
    tables: int  # summed so far,
    n_tables: int  # of so many
    spilled: int  # bytes on disk


class Disk:
    """The engine. It works in a folder of its own, which it removes at the end of the `with` block; after an
    error, too, but with `resume` it stays, to go on with."""

    def __init__(
        self,
        folder: Path | str,
        memory: int = 1 << 30,
        resume: bool = False,
        report: Callable[[Progress], object] | None = None,
    ) -> None:
        """`memory`: bytes, for all that is done here."""
        _duckdb()
        if memory < LEAST_MEMORY:
            raise InputError(f"{memory:,} bytes of memory for the disk engine: give {LEAST_MEMORY:,} or more")
        self.folder, self.memory, self.resume = Path(folder), memory, resume
        self.report = report or (lambda progress: None)
        self._lock: int | None = None

    def __enter__(self) -> Disk:
        with _one_sentence(self):
            self._lock = lock_folder(self.folder)
        return self

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> None:
        if error is None or not self.resume or not any(self.folder.glob("*.run")):
            shutil.rmtree(self.folder, ignore_errors=True)
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def __call__(self, chunks: Iterable[Corpus]) -> DiskChunks:
        if self._lock is None:
            raise InputError("the disk engine is used in a with block, at whose end its files are removed")
        return DiskChunks(chunks, self)


class DiskChunks(Chunked):
    """Sentences that arrive in chunks, and whose counts go to disk: a `Source`."""

    def __init__(self, chunks: Iterable[Corpus], engine: Disk) -> None:
        self._engine = engine
        super().__init__(chunks, folder=str(engine.folder))

    def count(self, task: Task, keep: bool = False) -> Counted:
        engine = self._engine
        with _one_sentence(engine):
            folder = RunFolder(engine.folder, task, engine.resume)
            n_new = self._count_chunks(folder, task, keep)
            return _Sums(folder, task, engine, n_new).counted()

    def _count_chunks(self, folder: RunFolder, task: Task, keep: bool) -> int:
        """A run for every chunk that has none yet; how many tokens were new."""
        n_new = n_chunks = 0
        for k, chunk in enumerate(self._to_count(keep)):
            mark, n_chunks = fingerprint_of(chunk), k + 1
            if not folder.known(k, mark):
                folder.add(count_chunk(chunk, task), mark, chunk.n_tokens)
                n_new += chunk.n_tokens
            done = folder.runs[: k + 1]
            spilled = sum(run.n_bytes for run in done)
            self._engine.report(
                Progress(sum(run.n_tokens for run in done), n_new, 0, len(task.tables), spilled)
            )
        folder.check_all_known(n_chunks)
        return n_new


class _Sums:
    """The runs added up, table by table."""

    def __init__(self, folder: RunFolder, task: Task, engine: Disk, n_new: int) -> None:
        self.runs, self.task, self.engine, self.n_new = folder.runs, task, engine, n_new
        self.spill = folder.folder / "duckdb"
        self._ids, self._n = (
            _Growing(np.dtype(np.int32), folder.folder),
            _Growing(np.dtype(np.int64), folder.folder),
        )
        self._maps = _Growing(np.dtype(np.int32), folder.folder)
        self._places: dict[tuple[int, str], int] = {}  # where the map of a run's vocabulary begins

    def counted(self) -> Counted:
        n_sentences = sum(run.n_sentences for run in self.runs)
        digests = np.concatenate([NO_DIGESTS, *(run.digests() for run in self.runs)])
        if not self.runs:
            return Counted(Counts.empty(self.task.tables), digests)
        vocabularies = {key: self._vocabulary(key) for key in self.runs[0].keys}
        shapes = self._summed(vocabularies)
        ids, n = self._ids.mapped(), self._n.mapped()
        tables: dict[str, Table] = {}
        row = cell = 0
        for name, n_rows in shapes.items():
            width = len(fields(name))
            tables[name] = Table(ids[cell : cell + n_rows * width].reshape(-1, width), n[row : row + n_rows])
            row, cell = row + n_rows, cell + n_rows * width
        counts = Counts(vocabularies, tables, n_sentences)
        return Counted(_compacted(labels_that_are_left(counts)) if self.task.least else counts, digests)

    def _vocabulary(self, key: str) -> Vocabulary:
        """The values of all runs, sorted; and for each run the places of its own among them."""
        every: set[str] = set()
        for run in self.runs:
            every.update(run.vocabulary(key))
        values = sorted(every)
        del every
        index = dict(zip(values, range(len(values)), strict=True))
        for k, run in enumerate(self.runs):
            own = run.vocabulary(key)
            self._places[k, key] = self._maps.n
            self._maps.add(np.fromiter(map(index.__getitem__, own), np.int32, len(own)))
        return values

    def _summed(self, vocabularies: dict[str, Vocabulary]) -> dict[str, int]:
        """Sum each table into the files; how many rows it has."""
        maps, n_rows = self._maps.mapped(), {}
        with contextlib.closing(_connect(self.engine, self.spill)) as database:
            for k, name in enumerate(self.task.tables):
                least = self.task.least if atoms_of(name) else 0
                widths = [
                    max(1, (len(vocabularies[vocabulary_of(f)]) - 1).bit_length()) for f in fields(name)
                ]
                parts = _Parts(database, _shares(widths))
                for r, run in enumerate(self.runs):
                    columns, n = run.table(k, len(widths))
                    places = (self._places[r, vocabulary_of(field)] for field in fields(name))
                    parts.add(
                        [maps[place:][column] for place, column in zip(places, columns, strict=True)], n
                    )
                n_rows[name] = sum(self._write(rows, n) for rows, n in parts.sums(least))
                self._report(k + 1)
        return n_rows

    def _write(self, rows: Ids, n: Int) -> int:
        self._ids.add(rows)
        self._n.add(n)
        return len(n)

    def _report(self, tables: int) -> None:
        n_tokens = sum(run.n_tokens for run in self.runs)
        spilled = sum(run.n_bytes for run in self.runs) + self._ids.n * 4 + self._n.n * 8
        self.engine.report(Progress(n_tokens, self.n_new, tables, len(self.task.tables), spilled))


class _Parts:
    """One table of all runs in DuckDB: rows packed into as few integers as hold them, which order alike."""

    def __init__(self, database: Any, shares: Sequence[Sequence[int]]) -> None:
        self._database, self._shares = database, shares
        self._keys = [f"k{j}" for j in range(len(shares))]
        self._n_rows, self._sample = 0, [np.empty(0, np.int64)]
        self._empty()
        columns = ", ".join(f"{key} BIGINT" for key in self._keys)
        database.execute(f"CREATE OR REPLACE TABLE parts ({columns}, n UINTEGER)")

    def add(self, columns: Sequence[Ids], n: npt.NDArray[np.integer]) -> None:
        first = 0
        for key, widths in zip(self._keys, self._shares, strict=True):
            own = [np.ascontiguousarray(c, np.int32) for c in columns[first : first + len(widths)]]
            self._waiting[key].append(pack(own, widths))
            first += len(widths)
        self._waiting["n"].append(n.astype(np.uint32))
        self._sample.append(self._waiting["k0"][-1][::SAMPLED])
        self._n_rows += len(n)
        self._n_waiting += len(n)
        if self._n_waiting >= MOST_WAITING:
            self._insert()

    def _insert(self) -> None:
        self._database.register("rows", {key: np.concatenate(each) for key, each in self._waiting.items()})
        self._database.execute("INSERT INTO parts SELECT * FROM rows")
        self._database.unregister("rows")
        self._empty()

    def _empty(self) -> None:
        self._waiting: dict[str, list[npt.NDArray[Any]]] = {key: [] for key in [*self._keys, "n"]}
        self._n_waiting = 0

    def sums(self, least: int) -> Iterator[tuple[Ids, Int]]:
        """Rows in their order, each once, with their sums; those below `least` left out. Some at a time."""
        if self._n_waiting:
            self._insert()
        keys = ", ".join(self._keys)
        query = f"SELECT {keys}, sum(n)::BIGINT AS n FROM parts WHERE k0 >= ? AND k0 < ? GROUP BY {keys} "
        query += f"HAVING sum(n) >= {int(least)} ORDER BY {keys}"
        for low, high in zip(*self._cuts(), strict=True):
            found = self._database.execute(query, [low, high]).fetchnumpy()
            yield self._rows([found[key] for key in self._keys]), found["n"]
        self._database.execute("DROP TABLE parts")

    def _cuts(self) -> tuple[list[int], list[int]]:
        """Where to cut the keys, so that there are not too many rows between."""
        sample = np.sort(np.concatenate(self._sample))
        n_cuts = self._n_rows // MOST_ROWS
        cuts = (
            np.unique(sample[np.arange(1, n_cuts + 1) * len(sample) // (n_cuts + 1)]).tolist()
            if n_cuts
            else []
        )
        return [0, *cuts], [*cuts, (1 << KEY_BITS) - 1]

    def _rows(self, keys: Sequence[Int]) -> Ids:
        rows = np.empty((len(keys[0]), sum(map(len, self._shares))), np.int32)
        first = 0
        for key, widths in zip(keys, self._shares, strict=True):
            part = np.empty((len(key), len(widths)), np.int32)
            unpack(np.ascontiguousarray(key, np.int64), widths, part)
            rows[:, first : first + len(widths)] = part
            first += len(widths)
        return rows


class _Growing:
    """Numbers that are written to a file without a name, and mapped from it."""

    def __init__(self, dtype: np.dtype[Any], folder: Path) -> None:
        self._dtype, self.n = dtype, 0
        self._file: IO[bytes] = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115 - closed with this
        weakref.finalize(self, self._file.close)

    def add(self, numbers: npt.NDArray[Any]) -> None:
        self._file.write(np.ascontiguousarray(numbers, self._dtype).reshape(-1).data)
        self.n += numbers.size

    def mapped(self) -> npt.NDArray[Any]:
        self._file.flush()
        if not self.n:
            return np.empty(0, self._dtype)
        return np.memmap(self._file, self._dtype, "r+", shape=(self.n,))


def _compacted(counts: Counts) -> Counts:
    """As `Counts.compact`, in the files: ids of values that no event has any more are given away."""
    used = {key: np.zeros(len(values), bool) for key, values in counts.vocabularies.items()}
    for name, table in counts.tables.items():
        for rows in blocks(table.ids):
            for k, field in enumerate(fields(name)):
                used[vocabulary_of(field)][rows[:, k]] = True
    if all(mask.all() for mask in used.values()):
        return counts
    maps = {key: (np.cumsum(mask) - 1).astype(np.int32) for key, mask in used.items()}
    for name, table in counts.tables.items():
        for rows in blocks(table.ids):
            for k, field in enumerate(fields(name)):
                rows[:, k] = maps[vocabulary_of(field)][rows[:, k]]
    kept = {
        k: [v for v, there in zip(vs, used[k].tolist(), strict=True) if there]
        for k, vs in counts.vocabularies.items()
    }
    return Counts(kept, counts.tables, counts.n_sentences)


def _shares(widths: Sequence[int]) -> list[list[int]]:
    """Fields one after the other, as many of them together as fit into one integer."""
    shares: list[list[int]] = [[]]
    for width in widths:
        if sum(shares[-1]) + width >= KEY_BITS:
            shares.append([])
        shares[-1].append(width)
    return shares


def _duckdb() -> Any:
    try:
        import duckdb
    except ImportError:
        raise InputError("the disk engine needs DuckDB: pip install 'corate[disk]'") from None
    return duckdb


def _connect(engine: Disk, spill: Path) -> Any:
    megabytes = max(100, int(engine.memory * DUCKDB_SHARE) >> 20)
    settings = {"memory_limit": f"{megabytes}MiB", "temp_directory": str(spill), "threads": "1"}
    return _duckdb().connect(":memory:", config={**settings, "preserve_insertion_order": "false"})


@contextlib.contextmanager
def _one_sentence(engine: Disk) -> Iterator[None]:
    """What goes wrong on disk or in DuckDB, in one sentence."""
    duckdb = _duckdb()
    try:
        yield
    except duckdb.InterruptException:
        raise KeyboardInterrupt from None
    except duckdb.OutOfMemoryException as error:
        raise InputError(
            f"{engine.memory >> 20:,} MB of memory are too few for the sums: give more"
        ) from error
    except duckdb.Error as error:
        raise InputError(str(error).splitlines()[0], str(engine.folder)) from error
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror or error}", str(engine.folder)) from error
