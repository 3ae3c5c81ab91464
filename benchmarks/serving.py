"""`corate serve` under load: how quickly it learns, and whether anything that it acknowledged is ever lost.

latency  500 corrections, one after the other, of a model of Brown 32623; each then tagged.
load     64 connections for a while, tagging, explaining, evaluating, learning and taking back; beside them
         clients that send a byte a second and clients that hang up: statuses, memory, corrections file.
kills    the server is killed (SIGKILL) at random moments while four clients teach it, and started again.
disk     the disk fills up while the server learns, and is emptied again (a tmpfs, if one can be mounted).

    python -m benchmarks.serving --data FOLDER [--seconds 120] [--kills 100] [latency load kills disk]
"""

from __future__ import annotations

import argparse
import json
import os
import random
import socket
import subprocess
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Sequence
from http.client import HTTPException
from pathlib import Path
from statistics import mean, median
from typing import Any

from corate import Tagger, load, load_sample, read_corpus
from corate.web.corrections import beside
from corate.web.openapi import ANSWERS
from lab.corpora import Part, brown
from lab.serving import JSON, Server, serving

N_CORRECTIONS, N_CONNECTIONS, N_ODD = 500, 64, 4
DOCUMENTED = {*map(int, ANSWERS)}


def quantiles(seconds: Sequence[float]) -> str:
    ordered = sorted(seconds)
    last = ordered[int(0.99 * (len(ordered) - 1))]
    return f"median {1000 * median(ordered):.1f} ms, 99 % within {1000 * last:.1f} ms"


def timed(server: Server, path: str, **body: Any) -> float:
    data = json.dumps(body).encode()
    started = time.perf_counter()
    answer = server.request("POST", path, data, JSON)
    took = time.perf_counter() - started
    assert answer.status == 200, answer.text
    return took


def latency(path: Path, part: Part) -> None:
    learned, tagged, cpu = [], [], []
    with serving(path, "--learn") as server:
        for words, labels in zip(part.words[:N_CORRECTIONS], part.labels, strict=False):
            before = cpu_seconds(server.process.pid)
            learned.append(timed(server, "/api/learn", tokens=words, labels=labels, new_labels=True))
            cpu.append(cpu_seconds(server.process.pid) - before)
            tagged.append(timed(server, "/api/tag", tokens=words))
    print(
        f"learning one of {len(learned)} sentences: {quantiles(learned)}; mean CPU {1000 * mean(cpu):.1f} ms"
    )
    print(f"tagging one sentence: {quantiles(tagged)}", flush=True)


class Clients:
    """Threads that ask until they are told to stop."""

    def __init__(self, server: Server, part: Part) -> None:
        self.server, self.part, self.stop = server, part, threading.Event()
        self.statuses: Counter[int] = Counter()
        self.acknowledged: list[int] = []
        self.problems: list[str] = []
        self._lock = threading.Lock()

    def run(self, kind: str, number: int) -> threading.Thread:
        thread = threading.Thread(target=getattr(self, kind), args=(random.Random(number),))
        thread.start()
        return thread

    def mixed(self, chance: random.Random) -> None:
        while not self.stop.is_set():
            s = chance.randrange(len(self.part.words))
            words, labels = self.part.words[s], self.part.labels[s]
            path = chance.choices(["tag", "explain", "evaluate", "learn"], [70, 10, 10, 10])[0]
            body: dict[str, Any] = {"tokens": words}
            if path in ("learn", "evaluate"):
                body["labels"] = labels
            if path == "learn":
                body["new_labels"] = True
            try:
                answer = self.server.request("POST", f"/api/{path}", json.dumps(body).encode(), JSON)
            except (OSError, HTTPException) as error:
                self.problems.append(repr(error))
                continue
            with self._lock:
                self.statuses[answer.status] += 1
                if path == "learn" and answer.status == 200:
                    self.acknowledged.append(answer.json["done"][0]["id"])
            if path == "learn" and answer.status == 200 and chance.random() < 0.1:
                self.server.post("/api/forget", id=answer.json["done"][0]["id"])

    def _head(self, length: int) -> bytes:
        head = f"POST /api/tag HTTP/1.1\r\nHost: {self.server.host}\r\nContent-Type: application/json\r\n"
        return f"{head}Content-Length: {length}\r\n\r\n".encode()

    def slow(self, chance: random.Random) -> None:
        """A byte a second, of headers or of a body."""
        while not self.stop.is_set():
            data = self._head(500)[chance.randrange(2) * 40 :]
            with socket.create_connection(tuple(self.server.host.split(":")), timeout=1) as connection:  # type: ignore[arg-type]
                for byte in data + b" " * 500:
                    if self.stop.wait(1.0):
                        return
                    try:
                        connection.sendall(bytes([byte]))
                    except OSError:
                        break

    def leaving(self, chance: random.Random) -> None:
        """Hangs up in the middle of its request, or before the answer comes."""
        while not self.stop.wait(0.05):
            body = json.dumps({"tokens": self.part.words[chance.randrange(len(self.part.words))]}).encode()
            with socket.create_connection(tuple(self.server.host.split(":")), timeout=5) as connection:  # type: ignore[arg-type]
                connection.sendall((self._head(len(body)) + body)[: chance.choice([30, 120, 10_000])])


def cpu_seconds(process: int) -> float:
    """Of all its threads, saving included; in steps of 10 ms."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def resident(process: int) -> float:
    """Megabytes."""
    text = Path(f"/proc/{process}/status").read_text()
    return int(text.partition("VmRSS:")[2].split()[0]) / 1024


def load_test(path: Path, part: Part, seconds: float) -> None:
    memory: list[float] = []
    with serving(path, "--learn") as server:
        clients = Clients(server, part)
        threads = [clients.run("mixed", k) for k in range(N_CONNECTIONS)]
        threads += [clients.run(kind, 1000 + k) for kind in ("slow", "leaving") for k in range(N_ODD)]
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            time.sleep(1.0)
            memory.append(resident(server.process.pid))
        clients.stop.set()
        for thread in threads:
            thread.join()
        health = server.get("/healthz")["status"]
    text = beside(path).read_text()
    ids = {json.loads(line[2:]).get("id") for line in text.splitlines() if line.startswith("# {")}
    missing = [number for number in clients.acknowledged if number not in ids]
    strange = {s: n for s, n in clients.statuses.items() if s not in DOCUMENTED}
    third = len(memory) // 3
    early, late = median(memory[third : 2 * third]), median(memory[2 * third :])
    answers = sum(clients.statuses.values())
    print(f"{seconds:.0f} s, {N_CONNECTIONS} connections and {2 * N_ODD} odd ones: {answers:,} answers")
    print(
        f"statuses {dict(clients.statuses)}, not documented {strange}, "
        f"broken connections {len(clients.problems)}, {health}"
    )
    print(
        f"memory {early:.0f} MB in the middle third, {late:.0f} MB in the last "
        f"({100 * (late / early - 1):+.1f} %)"
    )
    print(
        f"{len(clients.acknowledged):,} corrections acknowledged, {len(missing)} of them missing", flush=True
    )


def kills(path: Path, times: int, seed: int = 0) -> None:
    """Every acknowledged correction is in the file, and the model is that of the file's rows."""
    base, chance, acknowledged = load(path), random.Random(seed), list[str]()
    X, Y = load_sample("test")
    for k in range(times):
        with serving(path, "--learn") as server:
            ends = threading.Event()

            def teach(number: int, server: Server = server, ends: threading.Event = ends, k: int = k) -> None:
                for n in range(1_000):
                    word, s = f"w{k}-{number}-{n}", (7 * n + number) % len(X)
                    try:
                        answer = server.post("/api/learn", tokens=[*X[s], word], labels=[*Y[s], "NOUN"])
                        if answer.status == 200:
                            acknowledged.append(word)
                        if answer.status == 200 and n % 3 == 0:
                            acknowledged.remove(word)  # if no answer comes, both are right
                            server.post("/api/forget", id=answer.json["done"][0]["id"])
                    except (OSError, HTTPException, ValueError):
                        return
                    if ends.is_set():
                        return

            threads = [threading.Thread(target=teach, args=(n,)) for n in range(4)]
            for thread in threads:
                thread.start()
            time.sleep(chance.uniform(0.0, 2.5))
            server.kill()
            ends.set()
            for thread in threads:
                thread.join()
    with serving(path, "--learn") as server:
        server.saved()
    found = read_corpus(beside(path), "conll")
    words = {*found.words.values}
    same = load(path).counts_ == base.partial_fit(found).counts_
    missing = sum(word not in words for word in acknowledged)
    print(f"{times} kills: {len(acknowledged):,} acknowledged, {missing} missing", end=", ")
    print(f"{found.n_sentences:,} in the file; the model is that of the file: {same}", flush=True)


def full_disk(model: Path) -> None:
    with tempfile.TemporaryDirectory() as folder:
        size = model.stat().st_size * 3 + (1 << 16)
        mounted = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", folder], capture_output=True
        )
        if mounted.returncode:
            return print("disk: cannot mount a tmpfs here")
        try:
            _fill(model, Path(folder))
        finally:
            subprocess.run(["umount", folder], check=True)
    return None


def _fill(model: Path, folder: Path) -> None:
    path, statuses, acknowledged = folder / "pos.model", Counter[int](), list[str]()
    path.write_bytes(model.read_bytes())
    with serving(path, "--learn") as server:
        filler = folder / "filler"
        for k in range(300):
            if k == 100:
                with filler.open("wb", buffering=0) as file:
                    try:
                        while file.write(b"x" * 512):
                            pass
                    except OSError:
                        pass
            if k == 200:
                filler.unlink()
            answer = server.post("/api/learn", tokens=[f"w{k}", "dog"] * 20, labels=["DET", "NOUN"] * 20)
            statuses[answer.status] += 1
            last = answer.json.get("error", "")
            if answer.status == 200:
                acknowledged.append(f"w{k}")
            elif statuses[answer.status] == 1:
                print("the first refusal:", answer.status, last)
        server.saved()
    words = {*read_corpus(beside(path), "conll").words.values}
    missing = sum(word not in words for word in acknowledged)
    known = load(path).known_words()
    unknown = sum(word not in known for word in acknowledged)
    print(f"a full disk: statuses {dict(statuses)}; {len(acknowledged)} acknowledged", end=", ")
    print(f"{missing} missing in the file, {unknown} in the model", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--seconds", type=float, default=120.0)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("parts", nargs="*", default=["latency", "load", "kills", "disk"])
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        small, large = Path(folder) / "small.model", Path(folder) / "brown.model"
        Tagger("fixed").fit(*load_sample()).save(small)
        if {"latency", "load"} & {*arguments.parts}:
            split = brown(arguments.data).splits["32623/1000"]
            Tagger().fit(split.train.words, split.train.labels).save(large)
        if "latency" in arguments.parts:
            latency(large, split.test)
        if "load" in arguments.parts:
            load_test(large, split.test, arguments.seconds)
        if "disk" in arguments.parts:
            full_disk(small)
        if "kills" in arguments.parts:
            kills(small, arguments.kills)


if __name__ == "__main__":
    main()
