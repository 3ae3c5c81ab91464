"""A real `corate serve` in a process of its own, and requests to it over loopback."""

from __future__ import annotations

import http.client
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

JSON = {"content-type": "application/json"}


class Answer(NamedTuple):
    status: int
    headers: dict[str, str]
    text: str

    @property
    def json(self) -> Any:
        return json.loads(self.text)


class Server:
    """An address, and the process that answers there."""

    def __init__(self, process: subprocess.Popen[str], address: str) -> None:
        self.process, self.address = process, address
        self.host = address.removeprefix("http://").strip("/")

    def request(self, method: str, path: str, body: bytes | None = None, headers: Any = None) -> Answer:
        connection = http.client.HTTPConnection(self.host, timeout=60)
        try:
            connection.request(method, path, body, headers or {})
            response = connection.getresponse()
            found = {name.lower(): value for name, value in response.getheaders()}
            return Answer(response.status, found, response.read().decode())
        finally:
            connection.close()

    def post(self, path: str, **body: Any) -> Answer:
        return self.request("POST", path, json.dumps(body).encode(), JSON)

    def get(self, path: str) -> Any:
        return self.request("GET", path).json

    def saved(self) -> None:
        """Wait until the model files have all that was learned."""
        wait_for(lambda: all(model["unsaved"] == 0 for model in self.get("/api/models")["models"]))

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()


def wait_for(holds: Callable[[], bool], seconds: float = 60.0) -> None:
    """Ask again and again; a condition that never holds is an error, late rather than wrong."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "it never came"
        time.sleep(0.02)


@contextmanager
def serving(*arguments: str | Path, command: str = "serve", **environment: str) -> Iterator[Server]:
    words = [sys.executable, "-m", "corate", command, *map(str, arguments), "--port", "0"]
    process = subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, **environment}
    )
    assert process.stdout is not None
    assert process.stderr is not None
    try:
        line = process.stdout.readline()
        assert line.startswith("http://"), process.stderr.read()
        yield Server(process, line.split("#")[0].strip())
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        process.stdout.close()
        process.stderr.close()
