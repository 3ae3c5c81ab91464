"""CRFsuite as a peer: L-BFGS with Lafferty's features, and with those of python-crfsuite's own tutorial."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rows import Rows

Attributes = list[list[str]]  # of every token of a sentence

# Lafferty et al. (2001) §5.3: what the spelling features of a word test.
SUFFIXES = ("ing", "ogy", "ed", "s", "ly", "ion", "tion", "ity", "ies")


def lafferty(words: list[str]) -> Attributes:
    """The word, and its spelling: starts with a digit or a capital, holds a hyphen, ends in a suffix."""
    return [_spelling(word) for word in words]


def _spelling(word: str) -> list[str]:
    features = ["word=" + word]
    features += ["digit"] if word[0].isdigit() else []
    features += ["capital"] if word[0].isupper() else []
    features += ["hyphen"] if "-" in word else []
    return features + ["suffix=" + suffix for suffix in SUFFIXES if word.endswith(suffix)]


def rich(words: list[str]) -> Attributes:
    """`word2features` of python-crfsuite's CoNLL-2002 tutorial without parts of speech."""
    return [_window(words, i) for i in range(len(words))]


def _window(words: list[str], i: int) -> list[str]:
    word = words[i]
    features = [
        "bias",
        "word.lower=" + word.lower(),
        "word[-3:]=" + word[-3:],
        "word[-2:]=" + word[-2:],
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


FEATURES: dict[str, Callable[[list[str]], Attributes]] = {
    "crfsuite-lafferty": lafferty,
    "crfsuite-rich": rich,
}
# Of "rich" as in the tutorial; the default c2 = 1 of "Lafferty" would cost it 6 points on Brown 1000/4000.
PARAMETERS: dict[str, dict[str, float | bool]] = {
    "crfsuite-lafferty": {"c1": 0.0, "c2": 0.1},
    "crfsuite-rich": {"c1": 1.0, "c2": 1e-3, "max_iterations": 50, "feature.possible_transitions": True},
}


def train(name: str, sentences: list[Rows], model: Path, most: int | None) -> dict[str, int]:
    """With at most so many iterations, if `most` is given; says after how many that stopped it, 0 if not."""
    import pycrfsuite

    parameters = dict(PARAMETERS[name])
    is_limit = most is not None and most < parameters.get("max_iterations", math.inf)
    if most is not None and is_limit:
        parameters["max_iterations"] = most
    trainer = pycrfsuite.Trainer("lbfgs", parameters, verbose=False)
    for rows in sentences:
        trainer.append(FEATURES[name]([word for word, _ in rows]), [label for _, label in rows])
    trainer.train(str(model))
    iterations = len(trainer.logparser.iterations)
    return {"iterations": iterations, "stopped": iterations if is_limit and iterations == most else 0}


def load(name: str, model: Path) -> tuple[Callable[[list[str]], Any], Callable[[Any], list[str]]]:
    """Two steps of labelling a sentence: its features, and its labels from them."""
    import pycrfsuite

    tagger = pycrfsuite.Tagger()
    tagger.open(str(model))
    features = FEATURES[name]
    return lambda words: pycrfsuite.ItemSequence(features(words)), tagger.tag
