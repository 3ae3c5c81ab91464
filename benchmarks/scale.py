"""Engines that count: memory beside disk, from one million tokens to a hundred.

Corpora are grown from Brown (benchmarks/grow.py). `corate train --weights fixed` runs as a child of its own,
once in memory and once with --engine disk --memory 1G: CPU and wall seconds, peak resident memory of the
whole process, and whether both files are the same, byte for byte.

With --same: the Tagger with fixed and fitted weights, ECRN and HMM on Brown 32623 and on CoNLL-2002 Dutch,
trained by both engines in 1, 7 and 64 chunks.
"""

from __future__ import annotations

import argparse
import filecmp
import sys
import tempfile
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import corate
from corate.counts.engines.disk import Disk
from corate.counts.engines.memory import Chunks
from corate.storage.modelfile import to_bytes
from corate.text.corpus import Corpus
from corate.text.tokens import as_corpus
from lab import terminal
from lab.children import ONE_THREAD, Finished, run
from lab.corpora import CONLL_SPLIT, Part, brown, conll2002
from lab.store import Record
from lab.tables import Cell, Table

SIZES = (1_000_000, 10_000_000, 100_000_000)
N_CHUNKS = (1, 7, 64)
MODELS: dict[str, Callable[[], Any]] = {
    "Tagger, fixed": lambda: corate.Tagger(weights="fixed"),
    "Tagger, fitted": corate.Tagger,
    "ECRN": lambda: corate.EmpiricalCRF("signature"),
    "HMM": corate.HMM,
}


def train(corpus: Path, model: Path, *arguments: str) -> Finished:
    given = ["train", "--weights", "fixed", *arguments]
    done = run([sys.executable, "-m", "corate", *given, corpus, "-m", model], environment=ONE_THREAD)
    terminal.progress(f"{' '.join(given)}: {done.cpu:.1f} s of CPU, {done.wall:.1f} s, {done.peak:,.0f} MB")
    return done


def costs(done: Finished, model: Path, n_tokens: int) -> Record:
    return {
        "cpu": done.cpu,
        "wall": done.wall,
        "peak": done.peak,
        "tokens_per_cpu": n_tokens / done.cpu,
        "bytes": model.stat().st_size,
    }


def measure(corpus: Path, n_tokens: int, folder: Path, memory: bool) -> Record:
    on_disk, in_memory = folder / "disk.model", folder / "memory.model"
    found: Record = {
        "disk": costs(train(corpus, on_disk, "--engine", "disk", "--memory", "1G"), on_disk, n_tokens)
    }
    if memory:
        found["memory"] = costs(train(corpus, in_memory), in_memory, n_tokens)
        found["same"] = filecmp.cmp(on_disk, in_memory, shallow=False)
        found["ratio"] = found["disk"]["cpu"] / found["memory"]["cpu"]
        in_memory.unlink()
    on_disk.unlink()
    return found


def collect(options: argparse.Namespace) -> Record:
    if options.same:
        return {"same": {title: same(part, title, options) for title, part in corpora(options.data)}}
    found: Record = {}
    with tempfile.TemporaryDirectory(dir=options.temp) as name:
        for n in options.tokens or SIZES:
            corpus = Path(options.corpora or name) / f"{n}"
            if not corpus.is_dir():
                terminal.progress(f"growing {n:,} tokens")
                run([sys.executable, "-m", "benchmarks.grow", f"{n}", corpus, "--data", options.data])
            terminal.progress(f"training on {n:,} tokens")
            found[f"{n:,}"] = measure(corpus, n, Path(name), n <= options.most_in_memory)
    return found


def corpora(data: Path) -> Iterator[tuple[str, Part]]:
    yield "Brown 32623", brown(data).splits["32623/1000"].train
    yield "Dutch names", conll2002(data).splits[CONLL_SPLIT].train


def same(part: Part, title: str, options: argparse.Namespace) -> Record:
    """For each model, in how many chunks disk and memory made the same bytes."""
    corpus, found = as_corpus(part.words, part.labels), {}
    for name, model in MODELS.items():
        if options.model not in (None, name):
            continue
        terminal.progress(f"{title}, {name}")
        expected = to_bytes(model().fit(corpus)._contents())
        found[name] = [n for n in N_CHUNKS if _all_same(corpus, model, n, expected)]
    return found


def _all_same(corpus: Corpus, model: Callable[[], Any], n_chunks: int, expected: bytes) -> bool:
    bounds = [corpus.n_sentences * k // n_chunks for k in range(n_chunks + 1)]
    chunks = [corpus.select(first, last) for first, last in pairwise(bounds)]
    by_memory = model().fit_chunks(chunks, engine=Chunks)
    with tempfile.TemporaryDirectory() as name, Disk(Path(name) / "work") as disk:
        by_disk = model().fit_chunks(chunks, engine=disk)
        return all(to_bytes(made._contents()) == expected for made in (by_memory, by_disk))


def tables(found: Record) -> list[Table]:
    if "same" in found:
        rows = [
            (f"{title}, {name}", [Cell(", ".join(map(str, chunks)) or "none")])
            for title, models in found["same"].items()
            for name, chunks in models.items()
        ]
        return [Table("Memory and disk make the same bytes", ["", "in so many chunks"], rows)]
    heads = [
        "tokens",
        "engine",
        "CPU s",
        "tokens / CPU s",
        "wall s",
        "peak MB",
        "model MB",
        "same bytes",
        "CPU ratio",
    ]
    rows = []
    for size, one in found.items():
        for engine in ("memory", "disk"):
            if engine in one:
                rows.append((size, _cells(engine, one)))
    return [Table("Memory and disk, Tagger with fixed weights", heads, rows)]


def _cells(engine: str, one: Record) -> list[Cell]:
    got = one[engine]
    compared = (
        [("yes" if one["same"] else "no"), f"{one['ratio']:.2f}"]
        if engine == "disk" and "same" in one
        else ["", ""]
    )
    numbers = [
        f"{got['cpu']:.1f}",
        f"{got['tokens_per_cpu']:,.0f}",
        f"{got['wall']:.0f}",
        f"{got['peak']:,.0f}",
    ]
    return [*map(Cell, [engine, *numbers, f"{got['bytes'] / 1e6:,.0f}", *compared])]


def main() -> None:
    parser = terminal.arguments(__doc__, "benchmarks.scale --data ../shared/data")
    parser.add_argument("--tokens", type=int, action="append", help="size of a corpus; repeatable")
    parser.add_argument(
        "--most-in-memory", type=int, default=SIZES[-1], help="larger ones are counted on disk alone"
    )
    parser.add_argument("--corpora", type=Path, help="where grown corpora are kept, or are already")
    parser.add_argument("--temp", type=Path, help="folder for models and grown corpora")
    parser.add_argument("--same", action="store_true", help="compare bytes only")
    parser.add_argument("--model", choices=[*MODELS], help="with --same: this one alone")
    wanted = "Wanted: at most 1.5 GB with --memory 1G, 2.5 times the CPU at a million tokens; tokens/s alike."
    terminal.show(parser, collect, tables, wanted)


if __name__ == "__main__":
    terminal.run(main)
