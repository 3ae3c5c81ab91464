"""Tables of probabilities, to look at: an HMM's P(y′ | y) and P(x | y)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from corate import markup
from corate.arrays import Float
from corate.errors import InputError

if TYPE_CHECKING:
    from corate.models.hmm import Factors

START, STOP = "<start>", "<stop>"
MOST_WORDS = 30  # columns that are shown


class Probabilities(dict[str, dict[str, float]]):
    """P(column | row), as a dict of dicts; `print`, a notebook and `to_frame` show it as a table."""

    def columns(self) -> list[str]:
        return [*dict.fromkeys(name for row in self.values() for name in row)]

    def __str__(self) -> str:
        names = self.columns()[:MOST_WORDS]
        cells = [
            ["", *names],
            *([row, *(f"{p.get(name, 0):.3f}" for name in names)] for row, p in self.items()),
        ]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        lines = ["  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]) for row in cells]
        return "\n".join([*map(str.rstrip, lines), *self._more()])

    def _repr_html_(self) -> str:
        names = self.columns()[:MOST_WORDS]
        shaded = [
            (row, *(markup.shaded(f"{p.get(n, 0):.3f}", p.get(n, 0)) for n in names))
            for row, p in self.items()
        ]
        return markup.block(markup.table(["", *names], shaded), *map(markup.paragraph, self._more()))

    def to_frame(self) -> Any:
        """A pandas DataFrame, 0 where a probability is 0."""
        import pandas as pd

        return pd.DataFrame.from_dict(self, orient="index", columns=self.columns()).fillna(0.0)

    def _more(self) -> list[str]:
        more = len(self.columns()) - MOST_WORDS
        return [f"and {more:,} columns more"] if more > 0 else []


class HMMTables:
    """Part of `HMM`."""

    classes_: list[str]
    _fitted_params: dict[str, Any]

    def factors(self) -> Factors:
        """The model's factors; `HMM` has them."""
        raise NotImplementedError

    def transition_probabilities(self) -> Probabilities:
        """P(y′ | y): a row for each label, and for the start where the model has ends; `<stop>` is the end.

        >>> from corate import HMM
        >>> hmm = HMM(smoothing="none").fit([["a", "b"], ["a", "a"]], [["X", "Y"], ["X", "X"]])
        >>> print(hmm.transition_probabilities())
                     X      Y  <stop>
        <start>  1.000  0.000   0.000
        X        0.333  0.333   0.333
        Y        0.000  0.000   1.000
        """
        factors = self.factors()
        steps, stops = np.exp(factors.transitions), np.exp(factors.stop)
        made = Probabilities()
        if self._fitted_params["ends"]:
            rest = max(
                0.0, 1.0 - float(np.exp(factors.start).sum())
            )  # an empty sentence, where it is smoothed
            made[START] = self._row(np.exp(factors.start)) | {STOP: rest if rest > 1e-12 else 0.0}
        for k, label in enumerate(self.classes_):
            made[label] = self._row(steps[k]) | {STOP: float(stops[k])}
        return made

    def emission_probabilities(self, words: Iterable[str] | None = None) -> Probabilities:
        """P(x | y) of known words (all where none are named): a row for each label, a column for each word.

        >>> from corate import HMM
        >>> hmm = HMM(smoothing="none").fit([["a", "b"], ["a", "a"]], [["X", "Y"], ["X", "X"]])
        >>> print(hmm.emission_probabilities())
               a      b
        X  1.000  0.000
        Y  0.000  1.000
        """
        factors = self.factors()
        named = sorted(factors.index) if words is None else [*words]
        unknown = next((word for word in named if word not in factors.index), None)
        if unknown is not None:
            raise InputError(f"{unknown!r} is unknown: P(x | y) is of the words that training had")
        p = np.exp(factors.emissions(named))
        return Probabilities(
            {y: dict(zip(named, p[:, k].tolist(), strict=True)) for k, y in enumerate(self.classes_)}
        )

    def _row(self, p: Float) -> dict[str, float]:
        return dict(zip(self.classes_, p.tolist(), strict=True))
