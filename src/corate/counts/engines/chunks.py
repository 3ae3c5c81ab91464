"""What engines that take chunk by chunk have in common: the text on its way, and the count of one chunk."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain

from corate.contexts.values import seen_columns
from corate.counts.engines.base import Counted, Task
from corate.counts.events import count
from corate.counts.ledger import NO_DIGESTS, Digests, digests_of
from corate.counts.names import keys_of_tables
from corate.errors import InputError
from corate.text.corpus import Corpus
from corate.text.passages import Passages
from corate.text.spool import Spool


class Chunked:
    """Sentences that arrive in chunks: a `Source`, but for `count`."""

    def __init__(
        self, chunks: Iterable[Corpus], text: Passages | None = None, folder: str | None = None
    ) -> None:
        """`text`: the sentences, if they are somewhere already; `folder`: for temporary files."""
        self._chunks = of_one_width(chunks)
        self._text = text
        self._folder = folder

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

    def _to_count(self, keep: bool) -> Iterator[Corpus]:
        if self._text is not None:
            return self._text.sentences(0, self._text.n_sentences)
        if not keep:
            return self._chunks
        self._text = spool = Spool(self._folder)
        return spool.kept(self._chunks)


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
