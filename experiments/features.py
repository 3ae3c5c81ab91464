"""Features that come with the tokens: those of python-crfsuite's CoNLL-2002 tutorial, and a CRF++ template.

Both look at words and parts of speech. Trains the Tagger on CoNLL-2002 Dutch with each of them, and with
the contexts that it takes by itself for words and a further column; prints the entity F1 on testb.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from corate import Tagger, read
from corate.contexts.files import parse_contexts
from corate.evaluation.evaluate import evaluate
from lab import terminal

Row = tuple[str, str]  # a word and its part of speech
Part = tuple[list[list[Row]], list[list[str]]]

# As CRF++ comes with it for chunks: words and parts of speech around the token, their pairs and triples.
TEMPLATE = [
    *(f"U0{i + 2}:%x[{i},0]" for i in range(-2, 3)),
    *("U05:%x[-1,0]/%x[0,0]", "U06:%x[0,0]/%x[1,0]"),
    *(f"U1{i + 2}:%x[{i},1]" for i in range(-2, 3)),
    *(f"U1{i + 7}:%x[{i},1]/%x[{i + 1},1]" for i in range(-2, 2)),
    *(f"U2{i + 2}:%x[{i},1]/%x[{i + 1},1]/%x[{i + 2},1]" for i in range(-2, 1)),
    "B",
]


def features(rows: Sequence[Row], i: int) -> list[str]:
    """The features of the tutorial: lists of strings, `key=value` or a key alone."""
    word, tag = rows[i]
    found = ["bias", f"word[-3:]={word[-3:]}", f"word[-2:]={word[-2:]}", f"word.isdigit={word.isdigit()}"]
    for offset, mark in ((-1, "-1:"), (0, ""), (1, "+1:")):
        if not 0 <= i + offset < len(rows):
            found.append("BOS" if offset < 0 else "EOS")
            continue
        word, tag = rows[i + offset]
        values = {"lower": word.lower(), "istitle": word.istitle(), "isupper": word.isupper()}
        found += [f"{mark}word.{name}={value}" for name, value in values.items()]
        found += [f"{mark}postag={tag}", f"{mark}postag[:2]={tag[:2]}"]
    return found


def part(path: Path) -> Part:
    sentences = [s for s in read(path, "conll") if len(s)]
    rows = [list(zip(*s.columns, strict=True)) for s in sentences]
    return [[(word, tag) for word, tag in row] for row in rows], [s.labels or [] for s in sentences]


def main() -> None:
    example = "experiments.features --data ../shared/data"
    options = terminal.arguments(__doc__, example, data="folder that holds conll2002/").parse_args()
    folder = options.data / "conll2002"
    (X, y), (test, gold) = part(folder / "ned.train"), part(folder / "ned.testb")
    runs: dict[str, tuple[Tagger, Any, Any]] = {
        "the Tagger's own contexts": (Tagger(), X, test),
        "python-crfsuite's tutorial": (Tagger(), _all_features(X), _all_features(test)),
        "a CRF++ template": (Tagger(contexts=parse_contexts(TEMPLATE, "template")), X, test),
    }
    for title, (tagger, train, asked) in runs.items():
        terminal.progress(f"{title} …")
        f1 = evaluate(gold, tagger.fit(train, y).predict(asked)).f1 or 0.0
        print(f"{title:30s} F1 {100 * f1:.2f}   {len(tagger.context_names())} contexts", flush=True)


def _all_features(sentences: list[list[Row]]) -> list[list[list[str]]]:
    return [[features(rows, i) for i in range(len(rows))] for rows in sentences]


if __name__ == "__main__":
    terminal.run(main)
