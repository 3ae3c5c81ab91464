"""Count in memory, chunk by chunk: the text may be larger than memory, the tables may not."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain

from corate.counts.count import count
from corate.counts.counts import Counts, add_up
from corate.text.corpus import Corpus


def count_chunks(chunks: Iterable[Corpus], names: Sequence[str]) -> Counts:
    """Counts of all chunks together."""
    return add_up(chain([Counts.empty(names)], (count(chunk, names) for chunk in chunks)))
