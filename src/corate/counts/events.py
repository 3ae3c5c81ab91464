"""Count the events of a labelled corpus: all of them, or those of some sentences."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import compress

import numpy as np

from corate.arrays import Ids
from corate.contexts.template import Atom
from corate.contexts.values import Encoder, Tokens, Vocabulary, occurring
from corate.contexts.view_ids import WORD
from corate.counts.counts import Counts
from corate.counts.names import FIRST_LABEL, LABEL, LAST_LABEL, atoms_of, looks_outside, n_labels_of
from corate.counts.table import Table, tally_complete
from corate.errors import InputError
from corate.text.corpus import ABSENT, UNLABELLED, Column, Corpus


def count(corpus: Corpus, names: Iterable[str]) -> Counts:
    """Count the events of these tables in a labelled corpus (one that fits into memory; see engines)."""
    return Events(corpus, names).count().compact()


Known = tuple[Vocabulary, Encoder]


class Events:
    """The events of a labelled corpus as columns of ids, ready to be counted: all of them, or a part."""

    def __init__(self, corpus: Corpus, names: Iterable[str], known: Known | None = None) -> None:
        """`known`: the labels and the encoder whose ids events are to have; they know all of them."""
        if corpus.labels is None:
            raise InputError("the corpus has no labels: there is nothing to count")
        self.corpus, self.names = corpus, list(names)
        by_table = [(atom, n_labels_of(name)) for name in self.names for atom in atoms_of(name)]
        atoms = {atom for atom, _ in by_table} | (set() if corpus.keys else {WORD})
        outside = {atom.source for atom, n_labels in by_table if looks_outside(atom, n_labels)}
        if known is not None:
            labels, encoder = known
            self.label, self.encoded = corpus.labels.encode(labels), encoder.encode(corpus, atoms)
            self.vocabularies = {LABEL: labels, **encoder.vocabularies}
            return
        labels, self.label = _sorted_labels(corpus.labels)
        if corpus.keys:  # a feature has no neighbours, and one that is not there no value
            self.encoded = Encoder.learn(corpus, atoms, unlisted=[ABSENT])
        else:
            self.encoded = Encoder.learn(corpus, atoms, outside)
        self.vocabularies = {LABEL: labels, **self.encoded.encoder.vocabularies}

    def count(self, first: int = 0, last: int | None = None) -> Counts:
        """Counts of sentences first … last − 1, with the vocabularies of the whole corpus."""
        part = _Part(self.encoded.tokens(first, last), self.label)
        tables = {name: part.table(name) for name in self.names}
        return Counts(self.vocabularies, tables, part.n_sentences)


class _Part:
    """Some sentences of a corpus, and the columns of theirs that several tables share."""

    def __init__(self, tokens: Tokens, label: Ids) -> None:
        self.tokens, self.offsets = tokens, tokens.offsets
        self.label = label[tokens.begin : tokens.end]
        self._seen_with: dict[tuple[str, int], Table] = {}

    @property
    def n_sentences(self) -> int:
        """Those with a labelled token."""
        labelled = np.append(0, np.cumsum(self.label >= 0))
        return int(np.count_nonzero(np.diff(labelled[self.offsets])))

    def table(self, name: str) -> Table:
        atoms, n_labels = atoms_of(name), n_labels_of(name)
        if name in (FIRST_LABEL, LAST_LABEL):
            ends = self.offsets[1:][np.diff(self.offsets) > 0] - 1
            starts = self.offsets[:-1][np.diff(self.offsets) > 0]
            return tally_complete([self.label[starts if name == FIRST_LABEL else ends]])
        if n_labels == 1 and atoms and len({(atom.column, atom.offset) for atom in atoms}) == 1:
            return self._of_one_token(atoms)
        labels = [self.tokens.moved(self.label, -back) for back in range(n_labels - 1, -1, -1)]
        return tally_complete([*map(self.tokens.ids, atoms), *labels])

    def _of_one_token(self, atoms: Sequence[Atom]) -> Table:
        """Views of one token, from the counts of (its code, label): far fewer rows than tokens."""
        token = atoms[0].column, atoms[0].offset
        if token not in self._seen_with:
            codes = self.tokens.codes(atoms[0]) + np.int32(1)  # 0 is beyond the sentence
            self._seen_with[token] = tally_complete([codes, self.label])
        table = self._seen_with[token]
        columns = [self.tokens.ids_of_codes(atom)[table.field(0)] for atom in atoms]
        return tally_complete([*columns, table.field(1)], table.n)


def _sorted_labels(column: Column) -> tuple[Vocabulary, Ids]:
    """The distinct labels that occur, sorted, and each token's place among them; −1 where it has none."""
    labels = sorted({*compress(column.values, occurring(column).tolist())} - {UNLABELLED})
    return labels, column.encode(labels)
