"""Count in memory, chunk by chunk: the text may be larger than memory, the tables may not."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from corate.corpus import Corpus
from corate.counts import Counts, count


def count_chunks(chunks: Iterable[Corpus], names: Sequence[str]) -> Counts:
    """Counts of all chunks together.

    Partial sums wait on a stack until one of their own size arrives, as digits do in a binary counter, so
    that every event is merged a logarithmic number of times.
    """
    partial: list[Counts] = []
    for chunk in chunks:
        partial.append(count(chunk, names))
        while len(partial) > 1 and partial[-2].n_events <= 2 * partial[-1].n_events:
            partial.append(partial.pop(-2) + partial.pop())
    return sum(reversed(partial), Counts.empty(names))
