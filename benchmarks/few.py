"""From the first twenty sentences on: the Tagger and its peers on random subsets of the training data.

Names in Dutch (words; words and tags), Brown, tags and relations of two treebanks; the Tagger with its own
contexts and with the features of CRFsuite's tutorial; CRFsuite with these features, L-BFGS, c1 0.1, c2 0.01.
The mean over subsets, with the spread (highest − lowest), on the test files; F1 of spans for names, accuracy
for others. Every cell is one training after another in this process.
"""

from __future__ import annotations

import argparse
import random
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from statistics import mean
from typing import Any

from corate import HMM, MaxEntClassifier, Tagger, read
from corate.evaluation.evaluate import evaluate
from lab import terminal
from lab.corpora import brown
from lab.peers import TnT
from lab.store import Record
from lab.tables import Cell, Table

SIZES = (20, 50, 100, 200, 500, 1_000, 2_000)
TREEBANKS = {"English": "en_partut", "Hungarian": "hu_szeged"}
Sentence = tuple[list[Any], list[str]]  # tokens, words or (word, tag), and labels
Task = tuple[list[Sentence], list[Sentence]]  # to train on, and to test on
Labels = list[list[str]]


def features(tokens: Sequence[Any]) -> list[dict[str, str | bool]]:
    """What sklearn-crfsuite's tutorial looks at: the word, its end and shape, the tag, neighbours."""
    return [
        {**_own(tokens, i), **_beside(tokens, i, -1), **_beside(tokens, i, 1)} for i in range(len(tokens))
    ]


def _own(tokens: Sequence[Any], i: int) -> dict[str, str | bool]:
    word = _word(tokens[i])
    ends: dict[str, str | bool] = {"bias": "1", "word[-3:]": word[-3:], "word[-2:]": word[-2:]}
    return {**ends, "word.isdigit": word.isdigit(), **_seen(tokens[i], "")}


def _beside(tokens: Sequence[Any], i: int, step: int) -> dict[str, str | bool]:
    if not 0 <= i + step < len(tokens):
        return {"BOS" if step < 0 else "EOS": "1"}
    return _seen(tokens[i + step], f"{step:+d}:")


def _seen(token: Any, name: str) -> dict[str, str | bool]:
    word = _word(token)
    found: dict[str, str | bool] = {
        f"{name}word.lower": word.lower(),
        f"{name}word.istitle": word.istitle(),
        f"{name}word.isupper": word.isupper(),
    }
    if not isinstance(token, str):
        found |= {f"{name}postag": token[1], f"{name}postag[:2]": token[1][:2]}
    return found


def _word(token: Any) -> str:
    return token if isinstance(token, str) else token[0]


def tasks(data: Path, names: Sequence[str]) -> dict[str, Callable[[], Task]]:
    every: dict[str, Callable[[], Task]] = {
        "Dutch names, words": partial(_dutch, data, False),
        "Dutch names, words and tags": partial(_dutch, data, True),
        "Brown": partial(_brown, data),
    }
    for language, name in TREEBANKS.items():
        every[f"{language} tags"] = partial(_treebank, data, name, "upos")
        every[f"{language} relations"] = partial(_treebank, data, name, "deprel")
    return {name: make for name, make in every.items() if not names or any(n in name for n in names)}


def _dutch(data: Path, with_tags: bool) -> Task:
    files = (data / "conll2002" / f"ned.{name}" for name in ("train", "testb"))
    train, test = ([_tokens(s, with_tags) for s in read(file, "conll") if len(s)] for file in files)
    return train, test


def _treebank(data: Path, name: str, label: str) -> Task:
    files = (data / "ud" / f"{name}-ud-{part}.conllu" for part in ("train", "test"))
    train, test = ([_tokens(s, label == "deprel") for s in read(f, "conllu", label=label)] for f in files)
    return train, test


def _brown(data: Path) -> Task:
    split = brown(data).splits["2500/2500"]
    train, test = (list(zip(p.words, p.labels, strict=True)) for p in (split.train, split.test))
    return train, test


def _tokens(sentence: Any, with_tags: bool) -> Sentence:
    columns = sentence.columns[:2] if with_tags else sentence.columns[:1]
    return (list(zip(*columns, strict=True)) if with_tags else columns[0]), sentence.labels or []


class CRFsuite:
    """The tutorial's features, ready made."""

    def fit(self, X: Any, y: Labels) -> CRFsuite:
        import pycrfsuite

        trainer = pycrfsuite.Trainer("lbfgs", {"c1": 0.1, "c2": 0.01}, verbose=False)
        for tokens, labels in zip(X, y, strict=True):
            trainer.append(pycrfsuite.ItemSequence(tokens), labels)
        self._tagger, self._folder = pycrfsuite.Tagger(), tempfile.TemporaryDirectory()
        trainer.train(f"{self._folder.name}/crf")
        self._tagger.open(f"{self._folder.name}/crf")
        return self

    def predict(self, X: Any) -> Labels:
        import pycrfsuite

        return self.predict_ready([pycrfsuite.ItemSequence(tokens) for tokens in X])

    def predict_ready(self, X: Any) -> Labels:
        return [self._tagger.tag(tokens) for tokens in X]


# Of each model what it is shown: tokens, words or features.
MODELS: dict[str, tuple[Callable[[], Any], Callable[[Any], Any]]] = {
    "Tagger": (Tagger, list),
    "Tagger, fixed": (lambda: Tagger("fixed"), list),
    "Tagger, features": (Tagger, features),
    "CRFsuite, features": (CRFsuite, features),
    "HMM": (HMM, lambda tokens: [*map(_word, tokens)]),
    "MaxEnt": (MaxEntClassifier, lambda tokens: [*map(_word, tokens)]),
    "TnT": (TnT, lambda tokens: [*map(_word, tokens)]),
}


def measure(options: argparse.Namespace) -> Record:
    found: Record = {}
    for name, make in tasks(options.data, options.task).items():
        train, test = make()
        gold, words = [labels for _, labels in test], [[*map(_word, tokens)] for tokens, _ in test]
        shown = {view: [view(tokens) for tokens, _ in test] for _, view in MODELS.values()}
        for n in (n for n in options.sizes if n <= len(train)):
            cell: dict[str, list[float]] = {model: [] for model in options.models}
            for subset in range(options.subsets):
                chosen = random.Random(1_000_003 * subset + n).sample(train, n)
                for model in options.models:
                    made, view = MODELS[model]
                    fitted = made().fit([view(tokens) for tokens, _ in chosen], [y for _, y in chosen])
                    result = evaluate(gold, fitted.predict(shown[view]), words, set())
                    spans = result.spans.f1 if name.startswith("Dutch") and result.spans else None
                    cell[model].append(100 * (result.accuracy if spans is None else spans))
            found.setdefault(name, {})[str(n)] = cell
            means = ", ".join(f"{model} {mean(values):.1f}" for model, values in cell.items())
            terminal.progress(f"{name}, {n}: {means}")
    return found


def tables(found: Record) -> list[Table]:
    made = []
    for name, sizes in found.items():
        models = list(next(iter(sizes.values())))
        rows = [
            (
                model,
                [Cell(f"{mean(c[model]):.1f} ±{max(c[model]) - min(c[model]):.1f}") for c in sizes.values()],
            )
            for model in models
        ]
        made.append(Table(name, ["sentences", *sizes], rows))
    return [*made, _against(found)]


def _against(found: Record) -> Table:
    """How often the Tagger's mean is at least CRFsuite's, and the worst cell."""
    rows = []
    for model in ("Tagger", "Tagger, features"):
        cells = [
            (mean(cell[model]) - mean(cell["CRFsuite, features"]), f"{name}, {n}")
            for name, sizes in found.items()
            for n, cell in sizes.items()
            if {model, "CRFsuite, features"} <= {*cell}
        ]
        if cells:
            won, (least, where) = sum(d >= 0 for d, _ in cells), min(cells)
            rows.append((model, [Cell(f"{won} of {len(cells)}"), Cell(f"{least:+.1f} ({where})")]))
    return Table("Against CRFsuite", ["", "at least level", "worst"], rows)


def main() -> None:
    parser = terminal.arguments(
        __doc__, "benchmarks.few --data ../shared/data --task Dutch", data="folder of the corpora"
    )
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, metavar="N")
    parser.add_argument("--subsets", type=int, default=3, metavar="N", help="of each size (default: 3)")
    parser.add_argument(
        "--task", nargs="*", default=(), metavar="WORD", help="tasks with such a word in the name"
    )
    parser.add_argument("--models", nargs="+", default=[*MODELS], choices=[*MODELS], metavar="MODEL")
    terminal.show(parser, measure, tables, "Mean ± (highest − lowest) over subsets.")


if __name__ == "__main__":
    terminal.run(main)
