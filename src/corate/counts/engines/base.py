"""The seam through which every counted model counts, whoever does it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol

from corate.contexts.template import Context
from corate.counts.counts import Counts
from corate.counts.ledger import Digests
from corate.text.corpus import Corpus


class Counted(NamedTuple):
    """What is known of sentences when they have been counted."""

    counts: Counts
    digests: Digests  # of those with a label, for the ledger; none if it is not kept


class Engine(Protocol):
    """Counts labelled sentences that arrive in chunks. Equal sentences give equal counts, by every engine."""

    def __call__(
        self, chunks: Iterable[Corpus], tables: Sequence[str], noted: Sequence[Context] | None = None
    ) -> Counted:
        """`noted`: the contexts whose columns, beside the words, the ledger is to know; None: no ledger."""
