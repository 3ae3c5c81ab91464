"""The trellis of a sentence: the candidates of each word with their forward, backward and Viterbi scores, the
scores of the steps between them, and the best path. For teaching; web/trellis.py shows it on the page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from corate import markup
from corate.arrays import Float
from corate.errors import InputError
from corate.lattice import decode
from corate.lattice.constraints import Constraints
from corate.lattice.passes import passes

if TYPE_CHECKING:
    from corate.models.base import Estimator


@dataclass(frozen=True)
class Cell:
    """A candidate of a word; scores are logarithms, up to the model's constant."""

    label: str
    probability: float
    score: float  # its own
    forward: float  # α: all sequences that lead into it
    backward: float  # β: all that follow
    viterbi: float  # δ: the best sequence that leads into it
    best: bool  # whether it is on the best path


@dataclass(frozen=True)
class Trellis:
    """`columns[i]` has the candidates of word i, `steps[i]` the scores of the steps into them: candidates of
    the word before × its own (of the first word there are none). exp(`log_z`) is the sum over all sequences.

    Examples
    --------
    >>> import corate
    >>> hmm = corate.HMM(smoothing="none").fit([["a", "b"], ["a", "a"]], [["X", "Y"], ["X", "X"]])
    >>> found = hmm.trellis(["a", "b"])
    >>> found.best_path, round(found.log_z, 3)
    (['X', 'Y'], -1.099)
    """

    words: list[str]
    columns: list[list[Cell]]
    steps: list[Float]
    log_z: float

    @property
    def best_path(self) -> list[str]:
        return [cell.label for column in self.columns for cell in column if cell.best]

    def labels(self) -> list[str]:
        """All labels that are a candidate somewhere."""
        return sorted({cell.label for column in self.columns for cell in column})

    def __str__(self) -> str:
        heading = f"log Z = {self.log_z:.3f}, best path {' '.join(self.best_path)}"
        return "\n\n".join([heading, *(self._table(name, of) for name, of in SHOWN.items())])

    def _table(self, name: str, of: Callable[[Cell], float]) -> str:
        labels = self.labels()
        columns = [[name, *labels]]
        for word, column in zip(self.words, self.columns, strict=True):
            cells = {cell.label: f"{of(cell):.3f}{'*' if cell.best else ' '}" for cell in column}
            columns.append([f"{word} ", *(cells.get(label, "") for label in labels)])
        widths = [max(map(len, column)) for column in columns]
        lines = [
            "  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]).rstrip()
            for row in zip(*columns, strict=True)
        ]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        rows = []
        for label in self.labels():
            row: list[object] = [label]
            for column in self.columns:
                cell = next((cell for cell in column if cell.label == label), None)
                row.append("" if cell is None else _cell_html(cell))
            rows.append(row)
        about = f"log Z = {self.log_z:.3f}; α forward, β backward, δ Viterbi, in logarithms; ★ the best path"
        return markup.block(markup.table(["", *self.words], rows), markup.paragraph(about))


SHOWN: dict[str, Callable[[Cell], float]] = {
    "α": lambda cell: cell.forward,
    "β": lambda cell: cell.backward,
    "δ": lambda cell: cell.viterbi,
    "P": lambda cell: cell.probability,
}


def _cell_html(cell: Cell) -> markup.Html:
    star = " ★" if cell.best else ""
    scores = f"α {cell.forward:.2f}<br>β {cell.backward:.2f}<br>δ {cell.viterbi:.2f}"
    probability = markup.shaded(f"{cell.probability:.3f}{star}", cell.probability)
    return markup.Html(f'{probability}<br><small style="opacity:.75">{scores}</small>')


def trellis(model: Estimator, tokens: Sequence[Any], constraints: Constraints | None = None) -> Trellis:
    """The trellis of one sentence, as it is decoded."""
    now = model._now()
    if not len(tokens):
        raise InputError("a sentence without tokens has no trellis")
    ((batch, lattice),) = now._batches([tokens], constraints)
    found, chosen = passes(lattice), {*decode.viterbi(lattice).candidates.tolist()}
    marginals = decode.marginals(lattice)
    columns = [
        [
            Cell(
                now.classes_[int(lattice.labels[c])],
                float(marginals.probabilities[c]),
                float(lattice.scores[c]),
                float(found.forward[c]),
                float(found.backward[c]),
                float(found.viterbi[c]),
                c in chosen,
            )
            for c in range(lattice.candidates(i).start, lattice.candidates(i).stop)
        ]
        for i in range(lattice.n_positions)
    ]
    steps = [lattice.edge(i) if i else np.empty((0, len(columns[0]))) for i in range(lattice.n_positions)]
    words = [str(i + 1) for i in range(len(tokens))] if batch.keys else batch.words.strings()
    return Trellis(words, columns, steps, float(marginals.log_z[0]))
