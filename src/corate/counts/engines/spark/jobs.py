"""Jobs whose rows come back partition by partition, in order, with no more on the way than two windows."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

AHEAD = 2  # windows of partitions: the next one is worked at while the last tasks of one end


def run(frame: DataFrame, partitions: Sequence[int] | None = None) -> Iterator[Any]:
    """Rows of all partitions, or of some, in their order."""
    rdd = frame.rdd
    context = rdd.context
    every = range(rdd.getNumPartitions()) if partitions is None else partitions
    width = 2 * context.defaultParallelism
    windows = deque(list(every[begin : begin + width]) for begin in range(0, len(every), width))
    pending: deque[Future[list[Any]]] = deque()
    with ThreadPoolExecutor(AHEAD) as pool:
        try:
            while windows or pending:
                while windows and len(pending) < AHEAD:
                    pending.append(pool.submit(context.runJob, rdd, list, windows.popleft()))
                yield from pending.popleft().result()
        finally:
            for future in pending:
                future.cancel()
