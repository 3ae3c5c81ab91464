"""What the page's order is worth: annotation errors that are found, and sentences that need not be labelled.

audit    CoNLL-2002 Dutch, training part: 1 % of the entity labels (those that are not O) are changed to
         another label, at random; how many of them are in the first 200 sentences of `corate audit`.
queue    a pool of 2,000 sentences, of which 50 are labelled to begin with; 25 at a time are labelled and
         learned, in the order of `corate suggest` or at random. How many are needed until held-out sentences
         are labelled as well as after half of the pool at random. Long sentences are less certain: words are
         told, too.

    python -m benchmarks.labelling --data FOLDER [--seeds 3]
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Sequence
from pathlib import Path
from statistics import mean

from corate import Tagger
from corate.evaluation.audit import audit
from corate.evaluation.evaluate import evaluate
from corate.evaluation.queue import suggest
from corate.text.tokens import as_corpus
from lab.corpora import Part, brown, conll2002

N_LISTED, CHANGED_SHARE = 200, 0.01
N_POOL, N_START, N_STEP = 2_000, 50, 25
Curve = list[tuple[int, int, float]]  # sentences, words, accuracy or F1


def with_errors(part: Part, chance: random.Random) -> tuple[list[list[str]], list[int]]:
    """Labels of which some were changed, and the sentence of each change."""
    labels = [list(each) for each in part.labels]
    kinds = sorted(part.label_set())
    places = [(s, i) for s, each in enumerate(labels) for i, label in enumerate(each) if label != "O"]
    changed = chance.sample(places, round(CHANGED_SHARE * len(places)))
    for s, i in changed:
        labels[s][i] = chance.choice([kind for kind in kinds if kind != labels[s][i]])
    return labels, [s for s, _ in changed]


def errors_found(part: Part, weights: str, seed: int) -> float:
    labels, changed = with_errors(part, random.Random(seed))
    model = Tagger(weights).fit(part.words, labels)
    listed = {suspect.sentence for suspect in audit(model, as_corpus(part.words, labels))[:N_LISTED]}
    return mean(sentence in listed for sentence in changed)


def quality(model: Tagger, test: Part) -> float:
    result = evaluate(test.labels, model.predict(test.words))
    return result.accuracy if result.f1 is None else result.f1


def labelled_one_by_one(pool: Part, test: Part, share: float, seed: int) -> Curve:
    """Quality after each step of labelling; `share` of the sentences is drawn at random."""
    order = list(range(len(pool.words)))
    random.Random(seed).shuffle(order)
    start, left = order[:N_START], order[N_START:]
    model = Tagger("fixed").fit([pool.words[k] for k in start], [pool.labels[k] for k in start])
    curve = [(N_START, sum(len(pool.words[k]) for k in start), quality(model, test))]
    while left:
        chosen = [
            left[s.sentence] for s in suggest(model, [pool.words[k] for k in left], share, seed)[:N_STEP]
        ]
        left = [k for k in left if k not in {*chosen}]
        model.partial_fit([pool.words[k] for k in chosen], [pool.labels[k] for k in chosen])
        n, words, _ = curve[-1]
        more = sum(len(pool.words[k]) for k in chosen)
        curve.append((n + len(chosen), words + more, quality(model, test)))
    return curve


def needed(curve: Curve, wanted: float) -> tuple[int, int]:
    """Sentences and words until the quality is reached."""
    return next((n, words) for n, words, value in curve if value >= wanted)


def queue(name: str, pool: Part, test: Part, seeds: Sequence[int]) -> None:
    rows = []
    for seed in seeds:
        at_random = labelled_one_by_one(pool, test, 1.0, seed)
        half = next(point for point in at_random if point[0] >= len(pool.words) // 2)
        n, words = needed(labelled_one_by_one(pool, test, 0.1, seed), half[2])
        rows.append((n / half[0], words / half[1]))
        print(
            f"queue  {name} seed {seed}: {100 * half[2]:.2f} after {half[0]} sentences ({half[1]:,} words) "
            f"at random, after {n} ({words:,}) in order: {_ratios(*rows[-1])}",
            flush=True,
        )
    print(f"queue  {name} mean: {_ratios(mean(r[0] for r in rows), mean(r[1] for r in rows))}")


def _ratios(sentences: float, words: float) -> str:
    return f"{sentences:.2f} of the sentences, {words:.2f} of the words"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--seeds", type=int, default=3)
    arguments = parser.parse_args()
    seeds = range(arguments.seeds)
    dutch, english = conll2002(arguments.data), brown(arguments.data)
    (dutch_train,) = (split.train for split in dutch.splits.values())
    for weights in ("fixed", "fitted"):
        found = [errors_found(dutch_train, weights, seed) for seed in seeds]
        told = ", ".join(f"{100 * share:.0f} %" for share in found)
        print(f"audit  Dutch, {weights} weights: {told} of the changed labels", flush=True)
    for name, train, test in (
        ("Brown", english.splits["32623/1000"].train, english.held_out),
        ("Dutch", dutch_train, dutch.held_out),
    ):
        pool = Part(train.words[:N_POOL], train.labels[:N_POOL])
        queue(name, pool, test, seeds)


if __name__ == "__main__":
    main()
