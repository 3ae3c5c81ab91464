"""The seam through which every counted model is trained, whoever counts.

    chunks ──engine──► Source ──count──► Counted ──► the model; what it learns besides asks text by place

An engine makes a `Source` of sentences that arrive in chunks. Equal sentences in the same order give equal
counts, equal digests and equal passages by every engine, however they are cut into chunks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple, Protocol

from corate.arrays import Int
from corate.contexts.template import Context
from corate.counts.counts import Counts
from corate.counts.ledger import Digests
from corate.text.corpus import Corpus
from corate.text.passages import Passages

HeadsOf = Callable[[Corpus], Int]


class Counted(NamedTuple):
    """What is known of sentences when they have been counted."""

    counts: Counts
    digests: Digests  # of those with a label, for the ledger; none if it is not kept


class Task(NamedTuple):
    """What is to be counted."""

    tables: Sequence[str]
    noted: Sequence[Context] | None = (
        None  # whose columns, beside the words, the ledger is to know; None: none
    )
    heads_of: HeadsOf | None = None  # parents of tokens, where labels hang on trees
    least: int = 0  # events of contexts that occur less often are left out, as `Counts.at_least` does


class Source(Protocol):
    """Labelled sentences, wherever they are, and someone who counts them."""

    def first(self) -> Corpus:
        """Some sentences from the beginning, which show what tokens look like; none where there are none."""

    def count(self, task: Task, keep: bool = False) -> Counted:
        """Count all of them, once. `keep`: `text` will be asked for afterwards."""

    def text(self) -> Passages:
        """The sentences by place. Asked before `count`, it reads all of them first; tokens that are given by
        features then have columns for the keys of all."""


Engine = Callable[[Iterable[Corpus]], Source]
