"""What it costs to change a model, beside training it again; and whether the result is the same, as bytes.

Brown 32623/1000. In memory: an update with 100 sentences and tagging again, against training on everything; a
merge of two halves, against counting one; what is lost by pruning. From file to file: five folds by
subtraction (corate eval --folds), against twice corate train and once corate tag, and against the labels of
five honest trainings. CPU seconds, the best of N rounds.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from copy import deepcopy
from functools import partial
from pathlib import Path
from time import process_time
from typing import Any, TypeVar

from corate import Corpus, Tagger, merge
from corate.evaluation.folds import label_folds
from corate.storage import modelfile
from corate.text.tokens import as_corpus
from lab import terminal
from lab.children import run
from lab.corpora import BROWN_SPLITS, Split, brown
from lab.rows import write_rows

N_NEW, N_FOLDS = 100, 5
SPLIT = list(BROWN_SPLITS)[-1]
PRUNED_BELOW = (0, 2, 3, 5)
Result = TypeVar("Result")


def timed(rounds: int, prepare: Callable[[], Any], work: Callable[[Any], Result]) -> tuple[float, Result]:
    """The least CPU time of some rounds, each on something new; and the last result."""
    best = float("inf")
    for _ in range(rounds):
        given = prepare()
        started = process_time()
        result = work(given)
        best = min(best, process_time() - started)
    return best, result


def command(*arguments: str | Path) -> float:
    """CPU seconds of a corate command."""
    return run([sys.executable, "-m", "corate", *arguments]).cpu


def in_bytes(model: Tagger) -> bytes:
    return modelfile.to_bytes(model._contents())


def counts_of(model: Tagger) -> Any:
    return model.counts_, model.ledger_


def report(name: str, mine: float, what: str, other: float, wanted: str) -> None:
    print(f"{name:<52} {mine:8.3f} s   {what:<34} {other:8.3f} s   ratio {mine / other:.3f} ({wanted})")


def copy_in_use(model: Tagger, words: list[list[str]]) -> Tagger:
    """A copy that has labelled something, as a model in use has."""
    copied = deepcopy(model)
    copied.predict(words)
    return copied


def updating(weights: str, whole: Corpus, new: Corpus, words: list[list[str]], rounds: int) -> None:
    """An update is the same as training on all, and forgetting as never having learned."""
    everything = Corpus.join([whole, new])
    training, model = timed(min(rounds, 2), partial(Tagger, weights), lambda made: made.fit(everything))
    first = Tagger(weights).fit(whole)

    def update(changed: Tagger) -> Tagger:
        changed.partial_fit(new).predict(words)
        return changed

    seconds, updated = timed(rounds, partial(copy_in_use, first, words), update)
    title = f"update with {N_NEW} and tag {N_NEW} sentences, {weights}"
    report(title, seconds, "training on all", training, "< 0.05")
    assert counts_of(updated) == counts_of(model), "an update is not the same as training"
    assert counts_of(updated.forget(new)) == counts_of(first), "forgetting is not the same as never learning"
    if weights == "fixed":
        assert in_bytes(updated) == in_bytes(first)
        assert in_bytes(updated.partial_fit(new)) == in_bytes(model)


def merging(whole: Corpus, rounds: int) -> None:
    n, half = whole.n_sentences, whole.n_sentences // 2
    counting, one = timed(rounds, lambda: Tagger("fixed"), lambda made: made.fit(whole.select(0, half)))
    other = Tagger("fixed").fit(whole.select(half, n))
    seconds, both = timed(rounds, lambda: (one, other), lambda pair: merge(*pair))
    report("merge of two halves", seconds, "training on one, fixed weights", counting, "< 1")
    assert in_bytes(both) == in_bytes(Tagger("fixed").fit(whole))
    print("fit(A) + fit(B) = fit(A+B): yes, as bytes of the file")


def folding(split: Split, whole: Corpus) -> None:
    with tempfile.TemporaryDirectory() as folder:
        train, words, saved = (Path(folder) / name for name in ("train.conll", "words.txt", "model"))
        sentences = zip(split.train.words, split.train.labels, strict=True)
        write_rows(train, (zip(*sentence, strict=True) for sentence in sentences))
        words.write_text("".join(" ".join(s) + "\n" for s in split.train.words))
        training = command("train", "--weights", "fixed", train, "-m", saved)
        tagging = command("tag", "-m", saved, words)
        subtracting = command("eval", "--folds", str(N_FOLDS), "--weights", "fixed", train)
    once = f"2 × train ({training:.1f} s) + tag ({tagging:.1f} s)"
    report(f"corate eval --folds {N_FOLDS}", subtracting, once, 2 * training + tagging, "< 1")
    for fold in label_folds(Tagger("fixed"), whole, N_FOLDS):
        parts = [whole.select(0, fold.first), whole.select(fold.last, whole.n_sentences)]
        rest = Tagger("fixed").fit(Corpus.join(parts))
        assert rest.predict(whole.select(fold.first, fold.last)) == fold.labels
    print(f"labels of {N_FOLDS} honest trainings are the same: yes")


def pruning(split: Split, whole: Corpus) -> None:
    fitted = Tagger().fit(whole)
    print(f"\npruned below   accuracy on {SPLIT}   size of the file")
    for below in PRUNED_BELOW:
        pruned = deepcopy(fitted)
        if below:
            pruned.prune(below)
        size, rate = len(in_bytes(pruned)) / 1e6, 100 * pruned.score(split.test.words, split.test.labels)
        print(f"{below or 'nothing':>12}   {rate:21.2f}   {size:.1f} MB")


def main() -> None:
    parser = terminal.arguments(
        __doc__, "benchmarks.changing --data ../shared/data", data="folder with brown/"
    )
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    split = brown(options.data).splits[SPLIT]
    whole = as_corpus(split.train.words, split.train.labels)
    words = split.test.words[:N_NEW]
    new = as_corpus(words, split.test.labels[:N_NEW])
    for weights in ("fitted", "fixed"):
        updating(weights, whole, new, words, options.rounds)
    print("fit(A+B) = fit(A).partial_fit(B), fit(A+B).forget(B) = fit(A): yes; fixed weights: the same bytes")
    merging(whole, options.rounds)
    folding(split, whole)
    pruning(split, whole)


if __name__ == "__main__":
    terminal.run(main)
