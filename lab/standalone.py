"""A standalone cluster of Spark on loopback: a master and workers, each a process of its own.

Whatever was started is ended: every daemon leads a session of its own, in which its executors and their
Python processes stay, and ends by itself after `LONGEST` seconds should nobody be left to end it.
"""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO

import pyspark

from corate.counts.engines.spark.session import LOOPBACK, find_java
from lab.serving import wait_for

LONGEST = 1200  # seconds
EXECUTOR = b"CoarseGrainedExecutorBackend"
DAEMON = "org.apache.spark.deploy."
ENVIRONMENT = {"SPARK_LOCAL_IP": LOOPBACK, "SPARK_DAEMON_MEMORY": "192m"}


class Daemon:
    """A master or a worker, and all that it starts."""

    def __init__(self, name: str, *arguments: str, log: IO[bytes]) -> None:
        home = Path(pyspark.__file__).parent
        words = ["timeout", "-k", "5", f"{LONGEST}", f"{home}/bin/spark-class", DAEMON + name, *arguments]
        environment = {**os.environ, **ENVIRONMENT, "SPARK_HOME": str(home)}
        self._process = subprocess.Popen(
            words, stdout=log, stderr=log, env=environment, start_new_session=True
        )

    def processes(self) -> list[int]:
        """Those of its session that run."""
        found = subprocess.run(
            ["ps", "-s", f"{self._process.pid}", "-o", "pid=,stat="], capture_output=True, text=True
        )
        rows = [line.split() for line in found.stdout.splitlines()]
        return [int(pid) for pid, state in rows if not state.startswith("Z")]

    def executors(self) -> list[int]:
        return [pid for pid in self.processes() if EXECUTOR in _command(pid)]

    def kill(self) -> None:
        def are_gone() -> bool:
            there = self.processes()
            for pid in there:
                kill(pid)
            return not there

        wait_for(are_gone)
        self._process.wait()


class Standalone:
    """The master's address, and the workers."""

    def __init__(self, folder: Path, n_workers: int, memory: str) -> None:
        self._folder, self._memory = folder, memory
        self._port, self._page = _free_port(), _free_port()
        self.address = f"spark://{LOOPBACK}:{self._port}"
        self.log = (folder / "log").open("wb")
        self._master: Daemon | None = None
        self.workers: list[Daemon] = []
        self._n_workers = n_workers

    def start(self) -> None:
        where = ["--host", LOOPBACK, "--port", f"{self._port}", "--webui-port", f"{self._page}"]
        self._master = Daemon("master.Master", *where, log=self.log)
        self.workers.extend(self._worker() for _ in range(self._n_workers))
        wait_for(lambda: self.n_alive() == self._n_workers, 120)

    def _worker(self) -> Daemon:
        where = ["--host", LOOPBACK, "--webui-port", "0", "--work-dir", str(self._folder / "work")]
        return Daemon(
            "worker.Worker", *where, "--cores", "1", "--memory", self._memory, self.address, log=self.log
        )

    def n_alive(self) -> int:
        """Workers that the master knows."""
        page = http.client.HTTPConnection(LOOPBACK, self._page, timeout=10)
        try:
            page.request("GET", "/json/")
            return int(json.loads(page.getresponse().read())["aliveworkers"])
        except (OSError, http.client.HTTPException, ValueError):
            return 0
        finally:
            page.close()

    def restart(self, number: int) -> None:
        self.workers[number].kill()
        self.workers[number] = self._worker()

    def stop(self) -> None:
        with ExitStack() as every:  # each is ended, whatever is wrong with another
            every.callback(self.log.close)
            for daemon in [*([self._master] if self._master else []), *self.workers]:
                every.callback(daemon.kill)


@contextmanager
def standalone(folder: Path, n_workers: int = 3, memory: str = "700m") -> Iterator[Standalone]:
    find_java()
    cluster = Standalone(folder, n_workers, memory)
    before = signal.signal(signal.SIGTERM, _ended)
    try:
        cluster.start()
        yield cluster
    finally:
        cluster.stop()
        signal.signal(signal.SIGTERM, before)


def _ended(number: int, frame: object) -> None:
    raise SystemExit(128 + number)


def kill(pid: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def _command(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def _free_port() -> int:
    with socket.create_server((LOOPBACK, 0)) as taken:
        port: int = taken.getsockname()[1]
        return port
