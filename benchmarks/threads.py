"""`corate tag --threads 2` beside `--threads 1`, from file to file: python -m benchmarks.threads.

The sample's sentences, repeated, are tagged by both in turn. Wall time is what users wait for; on a machine
with other work it says little, so that CPU time stands beside it: of all processes, and of the parent alone,
which reads and writes. With two cores nobody can be quicker than the larger of the parent's time and half of
all.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import resource
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from corate import Tagger, load_sample
from corate.cli import run
from corate.text.sample import FOLDER


class Run(NamedTuple):
    wall: float
    cpu: float
    parent: float
    digest: str


def tagged(model: Path, text: Path, out: Path, threads: int) -> Run:
    """One run of the command in a process of its own."""
    read_end, write_end = os.pipe()
    started = time.perf_counter()
    child = os.fork()
    if not child:
        os.dup2(os.open(out, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), sys.stdout.fileno())
        code = run(["tag", "-m", str(model), "--label", "2", "--threads", str(threads), str(text)])
        own = resource.getrusage(resource.RUSAGE_SELF)
        os.write(write_end, f"{own.ru_utime + own.ru_stime}".encode())
        os._exit(code)
    _, status, used = os.wait4(child, 0)
    wall = time.perf_counter() - started
    assert status == 0, status
    cpu = used.ru_utime + used.ru_stime
    parent = float(os.read(read_end, 100))
    os.close(read_end)
    os.close(write_end)
    return Run(wall, cpu, parent, hashlib.sha256(out.read_bytes()).hexdigest())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tokens", type=int, default=2_000_000)
    parser.add_argument("--repeats", type=int, default=3)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        model, text, out = (Path(folder) / name for name in ("m", "text.conll", "out"))
        Tagger("fixed").fit(*load_sample()).save(model)
        rows = (FOLDER / "test.conll").read_text()
        n_tokens = sum(bool(row) for row in rows.split("\n"))
        text.write_text(rows * (asked.tokens // n_tokens + 1))
        print("run  threads  wall s  CPU s  of it the parent's")
        ratios, bounds = [], []
        for k in range(asked.repeats):
            one, two = (tagged(model, text, out, threads) for threads in (1, 2))
            assert one.digest == two.digest, "the bytes differ"
            for threads, found in ((1, one), (2, two)):
                print(f"{k + 1:3}  {threads:7}  {found.wall:6.2f}  {found.cpu:5.2f}  {found.parent:19.2f}")
            ratios.append(one.wall / two.wall)
            bounds.append(one.cpu / max(two.parent, two.cpu / 2))
        print(f"wall, one thread over two: {', '.join(f'{r:.2f}' for r in ratios)}; ", end="")
        print(f"median {statistics.median(ratios):.2f}. By CPU on two free cores: ", end="")
        print(f"{', '.join(f'{b:.2f}' for b in bounds)}. Same bytes.")


if __name__ == "__main__":
    main()
