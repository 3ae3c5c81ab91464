"""Taggers of other projects behind `fit`, `predict`, `save` and `load`: CRFsuite, and two of NLTK.

They are imported where they are used, and this module imports nothing that would cost them.
"""

from __future__ import annotations

import json
import pickle
import random
import shutil
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

Words = Sequence[str]
Sentences = Sequence[Words]
Attributes = list[list[str]]  # of every token of a sentence
Pairs = Sequence[Sequence[str]]  # word and label of every token of a sentence

# Lafferty et al. (2001) §5.3: what the spelling features of a word test.
SUFFIXES = ("ing", "ogy", "ed", "s", "ly", "ion", "tion", "ity", "ies")


def lafferty(words: Words) -> Attributes:
    """The word, and its spelling: starts with a digit or a capital, holds a hyphen, ends in a suffix."""
    return [_spelling(word) for word in words]


def _spelling(word: str) -> list[str]:
    fires = {"digit": word[0].isdigit(), "capital": word[0].isupper(), "hyphen": "-" in word}
    suffixes = [f"suffix={suffix}" for suffix in SUFFIXES if word.endswith(suffix)]
    return [f"word={word}", *(name for name, there in fires.items() if there), *suffixes]


def rich(words: Words) -> Attributes:
    """`word2features` of python-crfsuite's CoNLL-2002 tutorial without parts of speech."""
    return [_window(words, i) for i in range(len(words))]


def _window(words: Words, i: int) -> list[str]:
    word = words[i]
    features = [
        "bias",
        f"word.lower={word.lower()}",
        f"word[-3:]={word[-3:]}",
        f"word[-2:]={word[-2:]}",
        f"word.isupper={word.isupper()}",
        f"word.istitle={word.istitle()}",
        f"word.isdigit={word.isdigit()}",
    ]
    features += _neighbour("-1", words[i - 1]) if i > 0 else ["BOS"]
    features += _neighbour("+1", words[i + 1]) if i < len(words) - 1 else ["EOS"]
    return features


def _neighbour(place: str, word: str) -> list[str]:
    return [
        f"{place}:word.lower={word.lower()}",
        f"{place}:word.istitle={word.istitle()}",
        f"{place}:word.isupper={word.isupper()}",
    ]


class Peer(ABC):
    """`train` takes sentences of pairs, word and label, as a file's rows have them."""

    @abstractmethod
    def train(self, sentences: Sequence[Pairs]) -> None: ...

    @abstractmethod
    def save(self, path: Path) -> None: ...

    @abstractmethod
    def load(self, path: Path) -> None: ...

    @abstractmethod
    def predict(self, X: Sentences) -> list[list[str]]: ...

    def fit(self, X: Sentences, y: Sentences) -> Peer:
        self.train([list(zip(words, labels, strict=True)) for words, labels in zip(X, y, strict=True)])
        return self


class CRFsuite(Peer):
    """L-BFGS; `c2` is the coefficient of its L2 penalty, 1 if nothing is said."""

    def __init__(self, features: Callable[[Words], Attributes], **parameters: float | bool) -> None:
        self.features = features
        self.parameters: dict[str, float | bool] = {"c1": 0.0, **parameters}

    def get_params(self) -> dict[str, object]:
        return {"features": self.features.__name__, **self.parameters}

    def train(self, sentences: Sequence[Pairs]) -> None:
        import pycrfsuite

        trainer = pycrfsuite.Trainer("lbfgs", self.parameters, verbose=False)
        for pairs in sentences:
            trainer.append(self.features([word for word, _ in pairs]), [label for _, label in pairs])
        self._folder = tempfile.TemporaryDirectory()
        trainer.train(str(Path(self._folder.name) / "crf.model"))
        self.log_ = trainer.logparser
        self.iterations_ = len(self.log_.iterations)

    def save(self, path: Path) -> None:
        shutil.move(Path(self._folder.name) / "crf.model", path)

    def load(self, path: Path) -> None:
        import pycrfsuite

        self._tagger = pycrfsuite.Tagger()
        self._tagger.open(str(path))
        self._items = pycrfsuite.ItemSequence

    def prepare(self, X: Sentences) -> list[Any]:
        """The first of two steps of `predict`: the features."""
        return [self._items(self.features(words)) for words in X]

    def label(self, prepared: Sequence[Any]) -> list[list[str]]:
        return [self._tagger.tag(items) for items in prepared]

    def predict(self, X: Sentences) -> list[list[str]]:
        if not hasattr(self, "_tagger"):
            self.load(Path(self._folder.name) / "crf.model")
        return [self._tagger.tag(self._items(self.features(words))) for words in X]


class TnT(Peer):
    """NLTK's trigrams of labels, with its own suffix model of unknown words, which is the default."""

    def train(self, sentences: Sequence[Pairs]) -> None:
        from nltk.tag.tnt import TnT as Tagger

        self._tagger: Any = Tagger()
        self._tagger.train(sentences)

    def save(self, path: Path) -> None:
        with path.open("wb") as file:
            pickle.dump(self._tagger, file, pickle.HIGHEST_PROTOCOL)

    def load(self, path: Path) -> None:
        with path.open("rb") as file:
            self._tagger = pickle.load(file)

    def predict(self, X: Sentences) -> list[list[str]]:
        return [[label for _, label in self._tagger.tag(list(words))] for words in X]


class Perceptron(TnT):
    """NLTK's averaged perceptron, which has a format of its own."""

    def train(self, sentences: Sequence[Pairs]) -> None:
        from nltk.tag.perceptron import PerceptronTagger

        random.seed(0)  # it shuffles the sentences after every pass
        self._tagger = PerceptronTagger(load=False)
        self._tagger.train([[(word, label) for word, label in pairs] for pairs in sentences])

    def save(self, path: Path) -> None:
        path.write_text(json.dumps(self._tagger.encode_json_obj()), encoding="utf-8")

    def load(self, path: Path) -> None:
        from nltk.tag.perceptron import PerceptronTagger

        self._tagger = PerceptronTagger.decode_json_obj(json.loads(path.read_text(encoding="utf-8")))
