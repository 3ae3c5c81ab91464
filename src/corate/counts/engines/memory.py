"""Count in memory, chunk by chunk: the text may be larger than memory, the tables may not."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain

import numpy as np

from corate.arrays import Int
from corate.contexts.template import Context
from corate.contexts.values import seen_columns
from corate.counts.counts import Counts, add_up
from corate.counts.engines.base import Counted
from corate.counts.events import count
from corate.counts.ledger import NO_DIGESTS, digests_of
from corate.text.corpus import Corpus


def count_chunks(
    chunks: Iterable[Corpus],
    tables: Sequence[str],
    noted: Sequence[Context] | None = None,
    heads_of: Callable[[Corpus], Int] | None = None,
) -> Counted:
    """Counts and digests of all chunks together; `heads_of`: parents of tokens, of labels on trees."""
    digests = [NO_DIGESTS]

    def each() -> Iterator[Counts]:
        for chunk in chunks:
            yield count(chunk, tables, None if heads_of is None else heads_of(chunk))
            if noted is not None:
                digests.append(digests_of(chunk, seen_columns(chunk, noted)))

    parts = each()
    first = next(parts, None)
    counts = Counts.empty(tables) if first is None else add_up(chain([first], parts))
    return Counted(counts, np.concatenate(digests))
