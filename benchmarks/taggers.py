"""A tagger at work, in a process of its own; `benchmarks.tagging` starts and times these.

    taggers train   NAME MODEL FILE... [--most N]    read labelled files, train a peer, save it
    taggers tag     NAME MODEL WORDS OUT             load; then time reading, tagging and writing of a file
    taggers predict NAME MODEL WORDS                 load and read; then time tagging alone
    taggers threads corate MODEL WORDS               the same by the clock, with one thread and with two

Times of `tag` and `predict` are CPU seconds of the whole process: a second thread would not make them
shorter. Every tagger labels one short sentence before the clock starts: what it derives from its model on
demand is part of loading. A time is the median of several passes over the file.
corate trains by its own command; the peers read and write with the plainest code there is.
"""

from __future__ import annotations

import argparse
import gc
import json
import math
from collections.abc import Callable, Sequence
from itertools import chain
from pathlib import Path
from statistics import median
from time import perf_counter, process_time
from typing import Any

from lab.peers import CRFsuite, Peer, Perceptron, TnT, lafferty, rich
from lab.rows import column, read_rows, write_rows

TagFile = Callable[[Path, Path], None]

OURS = "corate"
WARM_UP = [["The", "dog", "unwordly-barks", "."]]  # known words and an unknown one
PASSES = 5
ENOUGH = 3.0  # seconds after which no further pass is begun

# Of "rich" as in the tutorial; the default c2 = 1 of "Lafferty" would cost it 6 points on Brown 1000/4000.
RICH: dict[str, float | bool] = {
    "c1": 1.0, "c2": 1e-3, "max_iterations": 50, "feature.possible_transitions": True
}  # fmt: skip
PEERS: dict[str, Callable[[], Peer]] = {
    "tnt": TnT,
    "perceptron": Perceptron,
    "crfsuite-lafferty": lambda: CRFsuite(lafferty, c2=0.1),
    "crfsuite-rich": lambda: CRFsuite(rich, **RICH),
}


def train(name: str, model: Path, files: Sequence[Path], most: int | None) -> dict[str, int]:
    """With at most so many iterations, if `most` is given; says after how many that stopped it, 0 if not."""
    peer, found = PEERS[name](), {}
    sentences = list(chain.from_iterable(map(read_rows, files)))
    if isinstance(peer, CRFsuite):
        is_limit = most is not None and most < peer.parameters.get("max_iterations", math.inf)
        if most is not None and is_limit:
            peer.parameters["max_iterations"] = most
        peer.train(sentences)
        found = {"stopped": peer.iterations_ if is_limit and peer.iterations_ == most else 0}
    else:
        peer.train(sentences)
    peer.save(model)
    return found


def load(name: str, model: Path) -> Any:
    """Ready to `predict`."""
    if name == OURS:
        import corate

        tagger: Any = corate.load(model)
    else:
        tagger = PEERS[name]()
        tagger.load(model)
    tagger.predict(WARM_UP)
    return tagger


def corate_files(tagger: Any) -> TagFile:
    """The parts that `corate tag` is made of."""
    from corate import read
    from corate.cli.labeller import Labeller

    gc.disable()  # as the command does

    def tag_file(words: Path, out: Path) -> None:
        reader = read(words, labelled=False)
        labeller = Labeller(tagger, reader, reader.format)
        with out.open("w", encoding="utf-8", newline="") as file:
            file.writelines(labeller(part).text for part in reader.parts())

    return tag_file


def peer_files(tagger: Any) -> TagFile:
    def tag_file(words: Path, out: Path) -> None:
        sentences = column(read_rows(words), 0)
        tagged = zip(sentences, tagger.predict(sentences), strict=True)
        write_rows(out, (zip(words, labels, strict=True) for words, labels in tagged))

    return tag_file


def time_tag(name: str, model: Path, words: Path, out: Path) -> dict[str, float]:
    tag_file = (corate_files if name == OURS else peer_files)(load(name, model))
    return {"seconds": _seconds(lambda: tag_file(words, out))}


def time_predict(name: str, model: Path, words: Path) -> dict[str, float]:
    """`ready`: with the features computed before, for a tagger that takes features."""
    tagger, sentences = load(name, model), column(read_rows(words), 0)
    found = {"seconds": _seconds(lambda: tagger.predict(sentences))}
    if isinstance(tagger, CRFsuite):
        prepared = tagger.prepare(sentences)
        found["ready"] = _seconds(lambda: tagger.label(prepared))
    return found


def time_threads(name: str, model: Path, words: Path) -> dict[str, float]:
    """Wall seconds; passes with one thread and with two take turns, so that a busy moment meets both."""
    tagger, sentences = load(name, model), column(read_rows(words), 0)
    passes: dict[int, list[float]] = {1: [], 2: []}
    for _ in range(PASSES):
        for n_jobs, seconds in passes.items():
            tagger.set_params(n_jobs=n_jobs)
            started = perf_counter()
            tagger.predict(sentences)
            seconds.append(perf_counter() - started)
    return {"one": median(passes[1]), "two": median(passes[2])}


def _seconds(action: Callable[[], object]) -> float:
    """Several passes, because one of a fast tagger takes a few hundredths of a second only."""
    seconds: list[float] = []
    while len(seconds) < PASSES and sum(seconds) < ENOUGH:
        started = process_time()
        action()
        seconds.append(process_time() - started)
    return median(seconds)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    timed: dict[str, Callable[..., dict[str, float]]] = {
        "tag": time_tag, "predict": time_predict, "threads": time_threads
    }  # fmt: skip
    parser.add_argument("action", choices=["train", *timed])
    parser.add_argument("name")
    parser.add_argument("model", type=Path)
    parser.add_argument("files", type=Path, nargs="+")
    parser.add_argument("--most", type=int, help="iterations of CRFsuite")
    options = parser.parse_args()
    if options.action == "train":
        found: Any = train(options.name, options.model, options.files, options.most)
    else:
        found = timed[options.action](options.name, options.model, *options.files)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
