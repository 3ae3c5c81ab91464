"""What it costs to change a model, beside training it again; and whether the result is the same, as bytes.

changing.py --data DIR [--rounds N]

Brown 32623/1000. In memory: an update with 100 sentences and tagging again, against training on everything; a
merge of two halves, against counting one; what is lost by pruning. From file to file: five folds by
subtraction (corate eval --folds), against twice corate train and once corate tag, and against the labels of
five honest trainings. CPU seconds, the best of N rounds.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable
from copy import deepcopy
from functools import partial
from pathlib import Path
from time import process_time
from typing import Any, TypeVar

from corate.text.tokens import as_corpus

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "experiments"))

from corate import Corpus, Tagger, merge
from corate.evaluation.folds import label_folds
from corate.storage import modelfile
from corpora import BROWN_SPLITS, brown

N_NEW, N_FOLDS = 100, 5
SPLIT = list(BROWN_SPLITS)[-1]
Result = TypeVar("Result")


def timed(rounds: int, prepare: Callable[[], Any], run: Callable[[Any], Result]) -> tuple[float, Result]:
    """The least CPU time of some rounds, each on something new; and the last result."""
    best = float("inf")
    for _ in range(rounds):
        given = prepare()
        started = process_time()
        result = run(given)
        best = min(best, process_time() - started)
    return best, result


def command(*arguments: str) -> float:
    """CPU seconds of a corate command, with all that it starts."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-m", "corate", *arguments], check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def in_bytes(model: Tagger) -> bytes:
    return modelfile.to_bytes(model._contents())


def counts_of(model: Tagger) -> Any:
    return model.counts_, model.ledger_


def report(name: str, mine: float, what: str, other: float, wanted: str) -> None:
    print(f"{name:<52} {mine:8.3f} s   {what:<34} {other:8.3f} s   ratio {mine / other:.3f} ({wanted})")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True, help="folder with brown/")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    split = brown(options.data).splits[SPLIT]
    whole = as_corpus(split.train.words, split.train.labels)
    n = whole.n_sentences
    test, gold, rounds = split.test.words, split.test.labels, options.rounds
    new = as_corpus(test[:N_NEW], gold[:N_NEW])
    everything = Corpus.join([whole, new])

    for weights in ("fitted", "fixed"):
        training, model = timed(min(rounds, 2), partial(Tagger, weights), lambda m: m.fit(everything))
        first = Tagger(weights).fit(whole)

        def update(changed: Tagger) -> Tagger:
            changed.partial_fit(new).predict(test[:N_NEW])
            return changed

        updating, updated = timed(rounds, partial(copy_in_use, first, test), update)
        report(
            f"update with {N_NEW} and tag {N_NEW} sentences, {weights}",
            updating,
            "training on all",
            training,
            "< 0.05",
        )
        assert counts_of(updated) == counts_of(model), "an update is not the same as training"
        assert counts_of(updated.forget(new)) == counts_of(first), (
            "forgetting is not the same as never learning"
        )
        if weights == "fixed":
            assert in_bytes(updated) == in_bytes(first)
            assert in_bytes(updated.partial_fit(new)) == in_bytes(model)

    print("fit(A+B) = fit(A).partial_fit(B), fit(A+B).forget(B) = fit(A): yes; fixed weights: the same bytes")
    half = n // 2
    counting, one = timed(rounds, lambda: Tagger("fixed"), lambda m: m.fit(whole.select(0, half)))
    other = Tagger("fixed").fit(whole.select(half, n))
    merging, both = timed(rounds, lambda: (one, other), lambda pair: merge(*pair))
    report("merge of two halves", merging, "training on one, fixed weights", counting, "< 1")
    assert in_bytes(both) == in_bytes(first)
    print("fit(A) + fit(B) = fit(A+B): yes, as bytes of the file")

    with tempfile.TemporaryDirectory() as folder:
        train, words, saved = (Path(folder) / name for name in ("train.conll", "words.txt", "model"))
        sentences = list(zip(split.train.words, split.train.labels, strict=True))
        train.write_text(
            "\n".join("".join(f"{w}\t{y}\n" for w, y in zip(*s, strict=True)) for s in sentences)
        )
        words.write_text("".join(" ".join(s) + "\n" for s in split.train.words))
        training = command("train", "--weights", "fixed", str(train), "-m", str(saved))
        tagging = command("tag", "-m", str(saved), str(words))
        subtracting = command("eval", "--folds", str(N_FOLDS), "--weights", "fixed", str(train))
    once = f"2 × train ({training:.1f} s) + tag ({tagging:.1f} s)"
    report(f"corate eval --folds {N_FOLDS}", subtracting, once, 2 * training + tagging, "< 1")
    folds = list(label_folds(Tagger("fixed").fit(whole), whole, N_FOLDS))
    for fold in folds:
        rest = Tagger("fixed").fit(Corpus.join([whole.select(0, fold.first), whole.select(fold.last, n)]))
        assert rest.predict(whole.select(fold.first, fold.last)) == fold.labels
    print(f"labels of {N_FOLDS} honest trainings are the same: yes")

    fitted = Tagger().fit(whole)
    print(f"\npruned below   accuracy on {SPLIT}   size of the file")
    for below in (0, 2, 3, 5):
        pruned = deepcopy(fitted)
        if below:
            pruned.prune(below)
        size = len(in_bytes(pruned)) / 1e6
        print(f"{below or 'nothing':>12}   {100 * pruned.score(test, gold):21.2f}   {size:.1f} MB")


def copy_in_use(model: Tagger, test: list[list[str]]) -> Tagger:
    """A copy that has labelled something, as a model in use has."""
    copied = deepcopy(model)
    copied.predict(test[:N_NEW])
    return copied


if __name__ == "__main__":
    main()
