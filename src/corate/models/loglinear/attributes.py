"""Attributes: the values of context templates, numbered; what log-linear models look at.

    contexts    word     ending         pair:word-1,word
    "singing"   word=singing  ending=ing     …            the attributes of one position

A view that is silent about a word (`ending` of "cat"), and a feature that a token lacks, is no attribute of
it. A joint context is one where one of its parts speaks. Training numbers the values that occur; others are
unseen and leave no trace.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from corate.arrays import Ids, Int, offsets_of, places_among
from corate.contexts.template import Atom, Context
from corate.contexts.values import OUTSIDE, SILENT, Encoder, Vocabulary, column_of, missing_column
from corate.text.corpus import Corpus
from corate.text.features import YES


@dataclass(frozen=True)
class Sparse:
    """For each position (or edge) the attributes that it has: ids[offsets[i]:offsets[i + 1]]."""

    offsets: Int
    ids: Ids

    @classmethod
    def none(cls, n_positions: int) -> Sparse:
        return cls(np.zeros(n_positions + 1, np.int64), np.empty(0, np.int32))

    @classmethod
    def of(cls, rows: npt.NDArray[np.integer]) -> Sparse:
        """From positions × contexts; −1 is no attribute."""
        there = rows >= 0
        return cls(offsets_of(there.sum(axis=1)), rows[there].astype(np.int32))

    @property
    def owners(self) -> Int:
        """The position of each id."""
        return np.repeat(np.arange(len(self.offsets) - 1), np.diff(self.offsets))

    def select(self, positions: npt.NDArray[np.integer]) -> Sparse:
        """The rows of these positions."""
        lengths = np.diff(self.offsets)[positions]
        offsets = offsets_of(lengths)
        places = np.repeat(self.offsets[:-1][positions] - offsets[:-1], lengths) + np.arange(offsets[-1])
        return Sparse(offsets, self.ids[places])

    def spread(self, places: Int, n: int) -> Sparse:
        """The same rows at these places among n, the others empty."""
        lengths = np.zeros(n, np.int64)
        lengths[places] = np.diff(self.offsets)
        return Sparse(offsets_of(lengths), self.ids)


class Attributes:
    """The values of some contexts that training saw, each with a number."""

    def __init__(
        self,
        contexts: Sequence[Context],
        vocabularies: Mapping[str, list[str]],
        tables: Sequence[Ids],
    ) -> None:
        self.contexts = list(contexts)
        self.encoder = Encoder(vocabularies)
        self.tables = list(tables)  # of each context: distinct rows of ids, one for each of its atoms
        self.offsets = offsets_of(np.array([len(table) for table in tables], np.int64))
        self._keys = [self.encoder.keys(c, list(t.T)) for c, t in zip(self.contexts, tables, strict=True)]

    @property
    def vocabularies(self) -> Mapping[str, Vocabulary]:
        return self.encoder.vocabularies

    def __len__(self) -> int:
        return int(self.offsets[-1])

    @classmethod
    def of(cls, corpus: Corpus, contexts: Sequence[Context]) -> tuple[Attributes, Sparse]:
        """Number the values of a corpus; and those of each of its positions."""
        atoms = _atoms(corpus, contexts)
        encoded = Encoder.learn(corpus, atoms, outside={atom.source for atom in atoms if atom.offset})
        tokens, encoder = encoded.tokens(), encoded.encoder
        tables, columns = [], []
        for context in contexts:
            places, ids = tokens.speaking(context, SILENT)
            _, first, number = np.unique(encoder.keys(context, ids), return_index=True, return_inverse=True)
            tables.append(np.stack([column[first] for column in ids], axis=1))
            columns.append(_spread(number.reshape(-1), places, corpus.n_tokens))
        made = cls(contexts, encoder.vocabularies, tables)
        return made, made._sparse(columns, corpus.n_tokens)

    def encode(self, corpus: Corpus) -> Sparse:
        """The attributes of each position; unseen ones are left out."""
        tokens = self.encoder.encode(corpus, _atoms(corpus, self.contexts)).tokens()
        columns = []
        for context, keys in zip(self.contexts, self._keys, strict=True):
            places, ids = tokens.speaking(context, SILENT)
            wanted = self.encoder.keys(context, ids)
            columns.append(_spread(places_among(keys, wanted), places, corpus.n_tokens))
        return self._sparse(columns, corpus.n_tokens)

    def name(self, attribute: int) -> str:
        """For people: `word=dog`, `word-1,word=the/dog`."""
        k = int(np.searchsorted(self.offsets, attribute, side="right")) - 1
        row = self.tables[k][attribute - int(self.offsets[k])].tolist()
        parts = [self.vocabularies[a.source][i] for a, i in zip(self.contexts[k].atoms, row, strict=True)]
        return f"{self.contexts[k]}={'/'.join('' if part == OUTSIDE else part for part in parts)}"

    def item(self, attribute: int) -> str:
        """As CRFsuite calls it: `word:dog` for a feature that has a value, `upper` for one that is true."""
        k = int(np.searchsorted(self.offsets, attribute, side="right")) - 1
        (atom, *others), name = self.contexts[k].atoms, self.name(attribute)
        if atom.key is None or others:
            return name
        value = name.removeprefix(f"{self.contexts[k]}=")
        return atom.key if value == YES else f"{atom.key}:{value}"

    def names(self) -> list[str]:
        return [self.name(attribute) for attribute in range(len(self))]

    def _sparse(self, columns: Sequence[Int], n_tokens: int) -> Sparse:
        if not columns:
            return Sparse.none(n_tokens)
        rows = np.stack(columns, axis=1)
        return Sparse.of(np.where(rows >= 0, rows + self.offsets[:-1], -1))


def _atoms(corpus: Corpus, contexts: Sequence[Context]) -> list[Atom]:
    """What the contexts look at, if the corpus has it."""
    atoms = [atom for context in contexts for atom in context.atoms]
    missing = next((atom for atom in sorted(atoms, key=str) if column_of(corpus, atom) is None), None)
    if missing is not None:
        raise missing_column(missing, corpus)
    return atoms


def _spread(numbers: Int, places: Int, n: int) -> Int:
    """Numbers at these places among n, −1 elsewhere."""
    spread = np.full(n, -1, np.int64)
    spread[places] = numbers
    return spread
