"""A corpus of any size, made from Brown: its vocabulary grows as Heaps' law says.

    V(n) = V₀ (n / n₀)^β,    n₀ tokens and V₀ words of Brown, β between its half and its whole

One copy of Brown after the other, each with its sentences in another order. In a copy, some words stand in
places of others with the same label, so that pairs of words are new, too; and as many of the rare words as
the law asks for become words that were never there, put together from the beginning of one rare word and the
end of another. The same arguments give the same files on every machine.

    python -m benchmarks.grow 100_000_000 FOLDER --data ../shared/data
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from random import Random

from lab.corpora import Part, brown

RARE = 2  # a word that occurs no more often than this may become a new one
SWAPPED = 0.3  # of tokens, which get another word of the same label
END = 3  # letters of a rare word that stay: they tell its label

Words = list[str]


class Grower:
    """Copies of a text, each with words of its own."""

    def __init__(self, part: Part) -> None:
        self.words, self.labels = part.words, part.labels
        flat = list(chain.from_iterable(self.words))
        self.times: dict[str, int] = {}
        for word in flat:
            self.times[word] = self.times.get(word, 0) + 1
        self.n_tokens, self.n_words = len(flat), len(self.times)
        half = len({*flat[: len(flat) // 2]})
        self.exponent = math.log2(self.n_words / half)
        self.rare = sorted(w for w, n in self.times.items() if n <= RARE and len(w) > END and w.isalpha())
        self.by_label: dict[str, Words] = {}
        for words, labels in zip(self.words, self.labels, strict=True):
            for word, label in zip(words, labels, strict=True):
                self.by_label.setdefault(label, []).append(word)
        self.known = set(self.times)

    def n_new(self, copy: int) -> int:
        """How many words the law asks for in this copy, from 1 on."""
        return int(self.n_words * ((copy + 1) ** self.exponent - copy**self.exponent))

    def copies(self) -> Iterator[list[tuple[Words, Words]]]:
        """Sentences of one copy after the other: Brown's own first."""
        yield list(zip(self.words, self.labels, strict=True))
        copy = 1
        while True:
            rng = Random(copy)
            renamed = self._renamed(rng, self.n_new(copy))
            order = list(range(len(self.words)))
            rng.shuffle(order)
            yield [(self._swapped(rng, k, renamed), self.labels[k]) for k in order]
            copy += 1

    def _renamed(self, rng: Random, n: int) -> dict[str, str]:
        """New words for some of the rare ones."""
        found: dict[str, str] = {}
        for word in rng.sample(self.rare, min(n, len(self.rare))):
            other = rng.choice(self.rare)
            new = other[: rng.randint(2, len(other))].lower() + word[-END:]
            new = new.capitalize() if word[0].isupper() else new
            while new in self.known:
                new = new[:-END] + rng.choice("abcdefghilmnoprstu") + new[-END:]
            self.known.add(new)
            found[word] = new
        return found

    def _swapped(self, rng: Random, sentence: int, renamed: dict[str, str]) -> Words:
        words = []
        for word, label in zip(self.words[sentence], self.labels[sentence], strict=True):
            if rng.random() < SWAPPED:
                others = self.by_label[label]
                word = others[int(rng.random() * len(others))]
            words.append(renamed.get(word, word))
        return words


def grow(part: Part, n_tokens: int, folder: Path) -> list[Path]:
    """Files of columns, one for each copy, the last one cut where there are tokens enough."""
    paths: list[Path] = []
    left = n_tokens
    for k, sentences in enumerate(Grower(part).copies()):
        paths.append(folder / f"{k:04}.conll")
        with paths[-1].open("w", encoding="utf-8") as file:
            for words, labels in sentences:
                file.write("\n".join(map("\t".join, zip(words, labels, strict=True))) + "\n\n")
                left -= len(words)
                if left <= 0:
                    return paths
    return paths


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("tokens", type=lambda text: int(text.replace("_", "")))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    train = brown(arguments.data).splits["32623/1000"].train
    print(len(grow(train, arguments.tokens, arguments.folder)), "files")


if __name__ == "__main__":
    main()
