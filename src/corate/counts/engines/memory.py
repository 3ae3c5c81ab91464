"""Count in memory, chunk by chunk: the text may be larger than memory, the tables may not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain

import numpy as np

from corate.contexts.values import seen_columns
from corate.counts.counts import Counts, add_up
from corate.counts.engines.base import Counted, Task
from corate.counts.events import count
from corate.counts.ledger import NO_DIGESTS, Digests, digests_of
from corate.counts.names import keys_of_tables
from corate.errors import InputError
from corate.text.corpus import Corpus
from corate.text.passages import Passages
from corate.text.spool import Spool


class Chunks:
    """Sentences that arrive in chunks, each of which is counted when it is there: a `Source`."""

    def __init__(self, chunks: Iterable[Corpus], text: Passages | None = None) -> None:
        self._chunks = of_one_width(chunks)
        self._text = text
        self._folder: str | None = None  # of temporary files

    def first(self) -> Corpus:
        if self._text is not None:
            return next(self._text.sentences(0, self._text.n_sentences), Corpus.join([]))
        found = next(self._chunks, None)
        if found is None:
            return Corpus.join([])
        self._chunks = chain([found], self._chunks)
        return found

    def text(self) -> Passages:
        if self._text is None:
            spool = Spool(self._folder)
            for chunk in self._chunks:
                spool.add(chunk)
            self._text = spool
        return self._text

    def count(self, task: Task, keep: bool = False) -> Counted:
        return count_chunks(self._to_count(keep), task)

    def _to_count(self, keep: bool) -> Iterator[Corpus]:
        if self._text is not None:
            return self._text.sentences(0, self._text.n_sentences)
        if not keep:
            return self._chunks
        self._text = spool = Spool(self._folder)
        return spool.kept(self._chunks)


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


def count_chunk(chunk: Corpus, task: Task) -> Counted:
    """Counts and digests of one chunk, nothing left out."""
    if chunk.keys:
        chunk = chunk.with_keys(keys_of_tables(task.tables))
    counts = count(chunk, task.tables, None if task.heads_of is None else task.heads_of(chunk))
    return Counted(counts, _digests(chunk, task))


def _digests(chunk: Corpus, task: Task) -> Digests:
    return NO_DIGESTS if task.noted is None else digests_of(chunk, seen_columns(chunk, task.noted))


def of_one_width(chunks: Iterable[Corpus]) -> Iterator[Corpus]:
    """Chunks that have sentences, if all have as many columns as the first; those of features may differ."""
    width = 0
    for chunk in filter(len, chunks):
        width = width or len(chunk.columns)
        if len(chunk.columns) != width and not chunk.keys:
            raise InputError(
                f"corpora with {sorted([width, len(chunk.columns)])} columns do not join: "
                "give all the same number of columns"
            )
        yield chunk
