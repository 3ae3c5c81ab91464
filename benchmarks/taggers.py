"""A tagger at work, in a process of its own; `tagging.py` starts and times these.

    taggers.py train   NAME MODEL FILE... [--most N]    read labelled files, train a peer, save it
    taggers.py tag     NAME MODEL WORDS OUT             load; then time reading, tagging and writing of a file
    taggers.py predict NAME MODEL WORDS                 load and read; then time tagging alone
    taggers.py threads corate MODEL WORDS               the same by the clock, with one thread and with two

Times of `tag` and `predict` are CPU seconds of the whole process: a second thread would not make them
shorter. Every tagger labels one short sentence before the clock starts: what it derives from its model on
demand is part of loading. A time is the median of several passes over the file.
corate trains by its own command; the peers read and write with the plainest code there is.
"""

from __future__ import annotations

import argparse
import gc
import json
import pickle
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from statistics import median
from time import perf_counter, process_time
from typing import Any

import crfsuite
from rows import Rows, read_rows, read_words, write_rows

Words = list[list[str]]
TagFile = Callable[[Path, Path], None]

WARM_UP = [["The", "dog", "unwordly-barks", "."]]  # known words and an unknown one
PASSES = 5
ENOUGH = 3.0  # seconds after which no further pass is begun


# Training: the labelled rows of all files in, a saved model out -------------------------------------------


def train_tnt(sentences: list[Rows], model: Path) -> None:
    """With its own suffix model of unknown words, which is the default."""
    from nltk.tag.tnt import TnT

    tagger = TnT()
    tagger.train(sentences)
    with model.open("wb") as file:
        pickle.dump(tagger, file, pickle.HIGHEST_PROTOCOL)


def train_perceptron(sentences: list[Rows], model: Path) -> None:
    from nltk.tag.perceptron import PerceptronTagger

    random.seed(0)  # it shuffles the sentences after every pass
    tagger = PerceptronTagger(load=False)
    tagger.train([[(word, label) for word, label in rows] for rows in sentences])
    model.write_text(json.dumps(tagger.encode_json_obj()), encoding="utf-8")


def train(name: str, model: Path, files: Sequence[Path], most: int | None) -> dict[str, int]:
    sentences = list(chain.from_iterable(map(read_rows, files)))
    if name in crfsuite.FEATURES:
        return crfsuite.train(name, sentences, model, most)
    {"tnt": train_tnt, "perceptron": train_perceptron}[name](sentences, model)
    return {}


# Loading: a saved model in, a function that labels sentences out ------------------------------------------


@dataclass(frozen=True)
class Loaded:
    """Lists of words in, lists of labels out, as a user has it; and CRFsuite's two steps of that."""

    predict: Callable[[Words], list[list[str]]]
    prepare: Callable[[Words], Any] | None = None
    label: Callable[[Any], list[list[str]]] | None = None


def load_corate(model: Path) -> Loaded:
    import corate

    return Loaded(corate.load(model).predict)


def load_tnt(model: Path) -> Loaded:
    with model.open("rb") as file:
        tagger = pickle.load(file)
    return Loaded(lambda words: [[label for _, label in tagger.tag(sentence)] for sentence in words])


def load_perceptron(model: Path) -> Loaded:
    from nltk.tag.perceptron import PerceptronTagger

    tagger = PerceptronTagger.decode_json_obj(json.loads(model.read_text(encoding="utf-8")))
    return Loaded(lambda words: [[label for _, label in tagger.tag(sentence)] for sentence in words])


def load_crfsuite(name: str, model: Path) -> Loaded:
    features, tag = crfsuite.load(name, model)
    return Loaded(
        predict=lambda words: [tag(features(sentence)) for sentence in words],
        prepare=lambda words: [features(sentence) for sentence in words],
        label=lambda prepared: [tag(items) for items in prepared],
    )


def load(name: str, model: Path) -> Loaded:
    if name in crfsuite.FEATURES:
        return load_crfsuite(name, model)
    return {"corate": load_corate, "tnt": load_tnt, "perceptron": load_perceptron}[name](model)


# From file to file ----------------------------------------------------------------------------------------


def corate_files(model: Path) -> TagFile:
    """The parts that `corate tag` is made of."""
    from corate import load, read
    from corate.cli.tag import Labeller

    gc.disable()  # as the command does
    crf = load(model)
    crf.predict(WARM_UP)

    def tag_file(words: Path, out: Path) -> None:
        reader = read(words, labelled=False)
        labeller = Labeller(crf, reader.format, reader.source)
        with out.open("w", encoding="utf-8", newline="") as file:
            file.writelines(labeller(list(reader)))

    return tag_file


def peer_files(predict: Callable[[Words], list[list[str]]]) -> TagFile:
    predict(WARM_UP)

    def tag_file(words: Path, out: Path) -> None:
        sentences = read_words(words)
        tagged = zip(sentences, predict(sentences), strict=True)
        write_rows(out, (zip(words, labels, strict=True) for words, labels in tagged))

    return tag_file


# Times ----------------------------------------------------------------------------------------------------


def time_tag(name: str, model: Path, words: Path, out: Path) -> dict[str, float]:
    tag_file = corate_files(model) if name == "corate" else peer_files(load(name, model).predict)
    return {"seconds": _seconds(lambda: tag_file(words, out))}


def time_predict(name: str, model: Path, words: Path) -> dict[str, float]:
    """`ready`: with the features computed before, for a tagger that takes features."""
    loaded = load(name, model)
    loaded.predict(WARM_UP)
    sentences = read_words(words)
    found = {"seconds": _seconds(lambda: loaded.predict(sentences))}
    if loaded.prepare and loaded.label:
        label, prepared = loaded.label, loaded.prepare(sentences)
        found["ready"] = _seconds(lambda: label(prepared))
    return found


def time_threads(model: Path, words: Path) -> dict[str, float]:
    """Wall seconds; passes with one thread and with two take turns, so that a busy moment meets both."""
    import corate

    crf = corate.load(model)
    crf.predict(WARM_UP)
    sentences = read_words(words)
    passes: dict[int, list[float]] = {1: [], 2: []}
    for _ in range(PASSES):
        for n_jobs, seconds in passes.items():
            crf.set_params(n_jobs=n_jobs)
            started = perf_counter()
            crf.predict(sentences)
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
    parser.add_argument("action", choices=["train", "tag", "predict", "threads"])
    parser.add_argument("name")
    parser.add_argument("model", type=Path)
    parser.add_argument("files", type=Path, nargs="+")
    parser.add_argument("--most", type=int, help="iterations of CRFsuite")
    options = parser.parse_args()
    name, model, files = options.name, options.model, options.files
    if options.action == "train":
        found: dict[str, Any] = train(name, model, files, options.most)
    elif options.action == "tag":
        found = time_tag(name, model, *files)
    elif options.action == "predict":
        found = time_predict(name, model, *files)
    else:
        found = time_threads(model, *files)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
