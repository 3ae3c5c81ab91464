"""The corpora and splits of the experiments. They are read from a folder and are no part of the project.

Brown (brown/c[a-r]NN, as NLTK distributes it):
  1. labels are upper-cased, -TL and -NC removed;
  2. sentences that end in . ? or ! are kept, shuffled (random.Random(0)), and the first 34,623 taken;
  3. the first 1,000 are held out, the next 5,000 give 1000/4000, 2500/2500 and 4000/1000, and all 33,623
     give 17311/16312 and 32623/1000: the first part trains, the second tests.
   A second protocol does not shuffle: the first 34,623 in the order of the corpus.
CoNLL-2002 Dutch (conll2002/ned.*): train trains, testa is held out, testb tests; POS tags are not used. 003
leaves out sentences of one word.

As a module (`python -m lab.corpora`) it prints the sizes of every split.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from corate import InputError, read
from lab import terminal
from lab.tables import Cell, Table

# Sizes of training part and test part.
BROWN_SPLITS = {
    "1000/4000": (1_000, 4_000),
    "2500/2500": (2_500, 2_500),
    "4000/1000": (4_000, 1_000),
    "17311/16312": (17_311, 16_312),
    "32623/1000": (32_623, 1_000),
}
CONLL_SPLIT = "train/testb"

# 000 §4.5: 34,623 sentences, 1,000 of them held out. Which 34,623 of Brown's the papers had is not known.
BROWN_SENTENCES, BROWN_HELD_OUT = 34_623, 1_000

LabelledSentence = tuple[list[str], list[str]]


@dataclass(frozen=True)
class Part:
    """Sentences as `fit` and `predict` take them."""

    words: list[list[str]]
    labels: list[list[str]]

    @classmethod
    def of(cls, sentences: Iterable[LabelledSentence]) -> Part:
        pairs = list(sentences)
        return cls([words for words, _ in pairs], [labels for _, labels in pairs])

    @property
    def n_tokens(self) -> int:
        return sum(map(len, self.words))

    def vocabulary(self) -> set[str]:
        return {word for words in self.words for word in words}

    def label_set(self) -> set[str]:
        return {label for labels in self.labels for label in labels}


@dataclass(frozen=True)
class Split:
    train: Part
    test: Part

    def unknown_rate(self) -> float:
        """Share of the test tokens whose word training did not see."""
        known = self.train.vocabulary()
        return sum(word not in known for words in self.test.words for word in words) / self.test.n_tokens


@dataclass(frozen=True)
class Splits:
    """A corpus' splits by name, and the sentences on which anything may be chosen."""

    held_out: Part
    splits: dict[str, Split]


def brown(data: Path, shuffled: bool = True) -> Splits:
    kept = [sentence for sentence in _brown_sentences(data) if _is_complete(sentence)]
    if shuffled:
        random.Random(0).shuffle(kept)
    held_out, rest = kept[:BROWN_HELD_OUT], kept[BROWN_HELD_OUT:BROWN_SENTENCES]
    splits = {
        name: Split(Part.of(rest[:n_train]), Part.of(rest[n_train : n_train + n_test]))
        for name, (n_train, n_test) in BROWN_SPLITS.items()
    }
    return Splits(Part.of(held_out), splits)


def conll2002(data: Path) -> Splits:
    folder = _folder(data, "conll2002")
    train, held_out, test = (
        Part.of((s.words, s.labels or []) for s in read(folder / f"ned.{name}", "conll") if len(s))
        for name in ("train", "testa", "testb")
    )
    return Splits(held_out, {CONLL_SPLIT: Split(train, test)})


def brown_in_order(data: Path) -> Splits:
    return brown(data, shuffled=False)


def conll2002_longer(data: Path) -> Splits:
    """Without sentences of one word, as 003 has it."""
    every = conll2002(data)
    splits = {name: Split(_longer(split.train), _longer(split.test)) for name, split in every.splits.items()}
    return Splits(_longer(every.held_out), splits)


def _longer(part: Part) -> Part:
    both = zip(part.words, part.labels, strict=True)
    return Part.of((words, labels) for words, labels in both if len(words) > 1)


def _brown_sentences(data: Path) -> Iterable[LabelledSentence]:
    folder = _folder(data, "brown")
    files = sorted(folder.glob("c[a-r][0-9][0-9]"))
    if not files:
        raise InputError("no file of the Brown corpus here: they are called ca01 to cr09", str(folder))
    for path in files:
        for sentence in read(path, "wordtag", encoding="latin-1"):
            if sentence.labels:
                yield sentence.words, [_brown_label(label) for label in sentence.labels]


def _brown_label(label: str) -> str:
    """Without the marks of titles and cited words; -HL (headlines) stays, for the papers' 252 labels."""
    return label.upper().replace("-TL", "").replace("-NC", "")


def _is_complete(sentence: LabelledSentence) -> bool:
    words, labels = sentence
    return words[-1] in (".", "?", "!") and labels[-1].startswith(".")


def _folder(data: Path, name: str) -> Path:
    folder = data / name
    if not folder.is_dir():
        raise InputError(
            "no such folder: give the one that holds brown/ and conll2002/ as --data", str(folder)
        )
    return folder


SIZES: dict[str, Callable[[Split], str]] = {
    "training sentences": lambda split: f"{len(split.train.words):,}",
    "training tokens": lambda split: f"{split.train.n_tokens:,}",
    "labels in training": lambda split: f"{len(split.train.label_set())}",
    "test sentences": lambda split: f"{len(split.test.words):,}",
    "test tokens": lambda split: f"{split.test.n_tokens:,}",
    "unknown words in test, %": lambda split: f"{100 * split.unknown_rate():.2f}",
}


def main() -> None:
    options = terminal.arguments(__doc__, "lab.corpora --data ../shared/data").parse_args()
    corpora = {
        "Brown": brown,
        "Brown in corpus order": brown_in_order,
        "CoNLL-2002 Dutch": conll2002,
        "CoNLL-2002 Dutch, sentences of two words or more": conll2002_longer,
    }
    for title, load in corpora.items():
        corpus = load(options.data)
        held_out = f"{len(corpus.held_out.words):,} sentences, {corpus.held_out.n_tokens:,} tokens"
        rows = [(what, [Cell(of(split)) for split in corpus.splits.values()]) for what, of in SIZES.items()]
        Table(f"{title} (held out: {held_out})", ["", *corpus.splits], rows).print()


if __name__ == "__main__":
    terminal.run(main)
