"""Work that is spread over processes, its results in order.

    parts ──► n threads, each with a process of its own ──► results, in the order of the parts

Reading and writing text is Python's work, which threads do not share. The processes are forked: the model is
there without being loaded again. They end with their parent, whatever ends it: nobody else holds the other
end of their pipe.
"""

from __future__ import annotations

import multiprocessing
import signal
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from multiprocessing.connection import Connection
from queue import SimpleQueue
from typing import Any, TypeVar

from corate.errors import CorateError, InputError

Part = TypeVar("Part")
Result = TypeVar("Result")

AHEAD = 2  # parts for each process that are read before their turn


def can_fork() -> bool:
    return "fork" in multiprocessing.get_all_start_methods()


def in_order(work: Callable[[Part], Result], parts: Iterable[Part], n: int) -> Iterator[Result]:
    """The results of all parts, by n processes. What is wrong with a part is raised in its turn."""
    processes, connections = _forked(work, n)
    idle: SimpleQueue[Connection] = SimpleQueue()
    for connection in connections:
        idle.put(connection)

    def ask(part: Part) -> Any:
        connection = idle.get()
        try:
            connection.send(part)
            return connection.recv()
        except (EOFError, OSError):
            raise InputError("a process that labels text has ended (no memory?): try --threads 1") from None
        finally:
            idle.put(connection)

    waiting: deque[Future[Any]] = deque()
    pool = ThreadPoolExecutor(n)
    try:
        for part in parts:
            waiting.append(pool.submit(ask, part))
            if len(waiting) > AHEAD * n:
                yield _result(waiting.popleft())
        while waiting:
            yield _result(waiting.popleft())
    finally:
        for future in waiting:
            future.cancel()
        pool.shutdown()
        for process, connection in zip(processes, connections, strict=True):
            connection.close()
            process.join()


def _result(future: Future[Any]) -> Any:
    fine, found = future.result()
    if fine:
        return found
    kind, message = found
    raise MemoryError if kind == "MemoryError" else InputError(message)


def _forked(work: Callable[[Any], Any], n: int) -> tuple[list[Any], list[Connection]]:
    """Processes that answer, and our ends of the pipes to them."""
    context = multiprocessing.get_context("fork")
    processes: list[Any] = []
    ours: list[Connection] = []
    for _ in range(n):
        mine, its = context.Pipe()
        ours.append(mine)
        processes.append(context.Process(target=_serve, args=(work, its, tuple(ours)), daemon=True))
        processes[-1].start()
        its.close()
    return processes, ours


def _serve(work: Callable[[Any], Any], connection: Connection, others: tuple[Connection, ...]) -> None:
    """In a process of its own: answer until the other end is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    for other in others:
        other.close()
    with suppress(EOFError, OSError):
        while True:
            part = connection.recv()
            try:
                answer: tuple[bool, Any] = True, work(part)
            except (CorateError, MemoryError) as error:
                answer = False, (type(error).__name__, str(error))
            connection.send(answer)
