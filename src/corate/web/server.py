"""The server: a socket on loopback, uvicorn, and clients that take too long to say what they want."""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import gc
import socket
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from corate.errors import InputError
from corate.web.app import make_app
from corate.web.guard import LOOPBACK
from corate.web.requests import Limits
from corate.web.served import Served

HEADER_SECONDS = 15.0  # in which a connection must say what it wants
IDLE_SECONDS = 15  # that a connection is kept for another request
MOST_CONNECTIONS = 1_000
M_ARENA_MAX = -8  # of glibc's mallopt
SENTENCE = b'{"error": "the request did not come in time"}'
TOO_LATE = (
    b"HTTP/1.1 408 Request Timeout\r\ncontent-type: application/json\r\nconnection: close\r\n"
    b"content-length: %d\r\n\r\n" % len(SENTENCE) + SENTENCE
)


class PatientProtocol(H11Protocol):
    """HTTP/1.1; a connection that takes too long to say what it wants is closed."""

    _late: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._late = self.loop.call_later(HEADER_SECONDS, self._close_late)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if not self._is_waiting():
            self._never_mind()
        elif self._late is None:
            self._late = self.loop.call_later(HEADER_SECONDS, self._close_late)

    def connection_lost(self, exc: Exception | None) -> None:
        self._never_mind()
        super().connection_lost(exc)

    def _is_waiting(self) -> bool:
        """Whether no request is being answered."""
        return self.cycle is None or self.cycle.response_complete

    def _never_mind(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None

    def _close_late(self) -> None:
        if self._is_waiting() and not self.transport.is_closing():
            self.transport.write(TOO_LATE)
            self.transport.close()


def open_models(paths: Sequence[str], learns: bool) -> list[Served]:
    """The models of some files, by names that differ."""
    found: list[Served] = []
    for path in paths:
        stem, names = Path(path).stem, {served.name for served in found}
        name = (
            stem if stem not in names else next(n for k in range(2, 999) if (n := f"{stem}-{k}") not in names)
        )
        try:
            found.append(Served(name, Path(path), learns))
        except OSError as error:
            raise InputError(f"cannot be read: {error.strerror}", path) from error
    return found


def _keep_memory_small() -> None:
    """Every correction makes tables anew, in any thread: one pool for all stays small (glibc)."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).mallopt(M_ARENA_MAX, 1)


def serve(
    models: Sequence[Served],
    host: str | None,
    port: int,
    token: str | None,
    told: Callable[[str], object],
    limits: Limits | None = None,
) -> None:
    """Answer until interrupted; `told` is called with the address once it can be opened."""
    address = host or "127.0.0.1"
    try:
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        listening = socket.create_server((address, port), family=family, backlog=512)
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"cannot listen on {address}, port {port}: {reason}: try another --port") from error
    port = listening.getsockname()[1]
    names = [*LOOPBACK, *([] if host is None else [f"[{host}]" if ":" in host else host])]
    hosts = [f"{name}:{port}" for name in names] + (names if port == 80 else [])
    config = uvicorn.Config(
        make_app(models, hosts, token, limits),
        http=PatientProtocol,
        ws="none",
        lifespan="on",
        log_level="warning",
        access_log=False,
        server_header=False,
        limit_concurrency=MOST_CONNECTIONS,
        timeout_keep_alive=IDLE_SECONDS,
        timeout_graceful_shutdown=5,
    )
    server = uvicorn.Server(config)
    _keep_memory_small()
    gc.enable()  # which short commands do without
    gc.freeze()

    async def run() -> None:
        task = asyncio.ensure_future(server.serve(sockets=[listening]))
        while not server.started and not task.done():
            await asyncio.sleep(0.01)
        if server.started:
            told(f"http://{names[-1] if host else '127.0.0.1'}:{port}/")
        await task

    with contextlib.suppress(KeyboardInterrupt, asyncio.CancelledError):
        asyncio.run(run())
