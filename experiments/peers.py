"""Taggers of other projects behind `fit` and `predict`: CRFsuite, and NLTK's TnT."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "benchmarks"))

import crfsuite

Sentences = Sequence[Sequence[str]]


class CRFsuite:
    """L-BFGS with Lafferty's features; c2 is the coefficient of its L2 penalty, 1 if nothing is said."""

    def __init__(self, c2: float) -> None:
        self.c2 = c2

    def fit(self, X: Sentences, y: Sentences) -> CRFsuite:
        import pycrfsuite

        trainer = pycrfsuite.Trainer("lbfgs", {"c1": 0.0, "c2": self.c2}, verbose=False)
        for words, labels in zip(X, y, strict=True):
            trainer.append(crfsuite.lafferty(list(words)), list(labels))
        with tempfile.TemporaryDirectory() as folder:
            model = Path(folder) / "crf.model"
            trainer.train(str(model))
            self._tagger = pycrfsuite.Tagger()
            self._tagger.open_inmemory(model.read_bytes())
        self.iterations_ = len(trainer.logparser.iterations)
        return self

    def get_params(self) -> dict[str, float]:
        return {"c2": self.c2}

    def predict(self, X: Sentences) -> list[list[str]]:
        return [self._tagger.tag(crfsuite.lafferty(list(words))) for words in X]


class TnT:
    """Trigrams of labels and a suffix model of unknown words."""

    def fit(self, X: Sentences, y: Sentences) -> TnT:
        from nltk.tag.tnt import TnT as Tagger

        self._tagger: Any = Tagger()
        self._tagger.train(
            [list(zip(words, labels, strict=True)) for words, labels in zip(X, y, strict=True)]
        )
        return self

    def predict(self, X: Sentences) -> list[list[str]]:
        return [[label for _, label in self._tagger.tag(list(words))] for words in X]
