"""Count in memory, chunk by chunk: the text may be larger than memory, the tables may not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain

import numpy as np

from corate.counts.counts import Counts, add_up
from corate.counts.engines.base import Counted, Task
from corate.counts.engines.chunks import Chunked, count_chunk
from corate.counts.ledger import NO_DIGESTS
from corate.text.corpus import Corpus


class Chunks(Chunked):
    """Sentences that arrive in chunks, each of which is counted when it is there: a `Source`."""

    def count(self, task: Task, keep: bool = False) -> Counted:
        return count_chunks(self._to_count(keep), task)


def whole(corpus: Corpus) -> Chunks:
    """Sentences that are in memory already."""
    return Chunks([], corpus)


def count_chunks(chunks: Iterable[Corpus], task: Task) -> Counted:
    """Counts and digests of all chunks together."""
    digests = [NO_DIGESTS]

    def each() -> Iterator[Counts]:
        for chunk in chunks:
            part = count_chunk(chunk, task)
            digests.append(part.digests)
            yield part.counts

    parts = each()
    first = next(parts, None)
    counts = Counts.empty(task.tables) if first is None else add_up(chain([first], parts))
    return Counted(counts.at_least(task.least) if task.least else counts, np.concatenate(digests))
