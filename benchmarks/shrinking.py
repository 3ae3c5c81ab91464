"""What is lost by making a model smaller: `prune --max-size` beside `prune --below N`, which gives the size.

Brown 32623/1000 and CoNLL-2002 Dutch, on the held-out part, on which the formula was chosen, and on the test
part: accuracy of tokens, and F1 of entities for Dutch.
"""

from __future__ import annotations

from copy import deepcopy

from corate import Tagger
from corate.evaluation.evaluate import evaluate
from corate.storage.modelfile import size_of
from lab import terminal
from lab.corpora import BROWN_SPLITS, CONLL_SPLIT, Part, brown, conll2002

BELOW = (2, 3, 5, 10, 30)


def figure(model: Tagger, part: Part) -> str:
    found = evaluate(part.labels, model.predict(part.words), part.words)
    return f"{100 * (found.accuracy if found.f1 is None else found.f1):9.2f}"


def row(title: str, model: Tagger, parts: list[Part]) -> None:
    figures = "".join(figure(model, part) for part in parts)
    print(f"{title:<30} {size_of(model._contents()) / 1e6:8.2f} MB {figures}", flush=True)


def main() -> None:
    parser = terminal.arguments(__doc__, "benchmarks.shrinking --data ../shared/data")
    parser.add_argument("--weights", default="fixed")
    options = parser.parse_args()
    for name, corpus, split in (
        ("Brown", brown(options.data), list(BROWN_SPLITS)[-1]),
        ("Dutch", conll2002(options.data), CONLL_SPLIT),
    ):
        train, parts = corpus.splits[split].train, [corpus.held_out, corpus.splits[split].test]
        whole = Tagger(options.weights).fit(train.words, train.labels)
        print(f"\n{name}, {options.weights} weights{'size':>22}   held out   test")
        row("all events", whole, parts)
        for below in BELOW:
            rare = deepcopy(whole).prune(below)
            row(f"--below {below}", rare, parts)
            n_bytes = size_of(rare._contents())
            row("    --max-size, the same", deepcopy(whole).prune_to_size(n_bytes), parts)


if __name__ == "__main__":
    terminal.run(main)
