"""A tagger at work, in a process of its own; `tagging.py` starts and times these.

    taggers.py train   NAME MODEL FILE...      read labelled files, train a peer, save it
    taggers.py tag     NAME MODEL WORDS OUT    load; then time reading, tagging and writing of a file
    taggers.py predict NAME MODEL WORDS        load and read; then time tagging alone

Times are CPU seconds of the whole process: a second thread would not make them shorter. Every tagger labels
one short sentence before the clock starts: what it derives from its model on demand is part of loading. A
time is the median of several passes over the file.
corate trains by its own command; the peers read and write with the plainest code there is.
"""

from __future__ import annotations

import gc
import json
import pickle
import random
import sys
from collections.abc import Callable, Sequence
from itertools import chain
from pathlib import Path
from statistics import median
from time import process_time

from rows import Rows, read_rows, read_words, write_rows

Words = list[list[str]]
Predict = Callable[[Words], list[list[str]]]
TagFile = Callable[[Path, Path], None]

WARM_UP = [["The", "dog", "unwordly-barks", "."]]  # known words and an unknown one

# Lafferty et al. (2001) §5.3: what the spelling features of a word test.
SUFFIXES = ("ing", "ogy", "ed", "s", "ly", "ion", "tion", "ity", "ies")

# Passes of CRFsuite's averaged perceptron, not tuned; fewer than its default of 100, because 3 passes over
# Brown's 32,623 sentences took 218 s when the peers were first measured.
CRFSUITE_PASSES = 10


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


def train_crfsuite(sentences: list[Rows], model: Path) -> None:
    import pycrfsuite

    trainer = pycrfsuite.Trainer("ap", {"max_iterations": CRFSUITE_PASSES}, verbose=False)
    for rows in sentences:
        trainer.append([lafferty(word) for word, _ in rows], [label for _, label in rows])
    trainer.train(str(model))


def lafferty(word: str) -> list[str]:
    """The word, and its spelling: starts with a digit or a capital, holds a hyphen, ends in a suffix."""
    features = ["word=" + word]
    features += ["digit"] if word[0].isdigit() else []
    features += ["capital"] if word[0].isupper() else []
    features += ["hyphen"] if "-" in word else []
    return features + ["suffix=" + suffix for suffix in SUFFIXES if word.endswith(suffix)]


# Loading: a saved model in, a function that labels sentences out ------------------------------------------


def load_corate(model: Path) -> Predict:
    import corate

    predict: Predict = corate.load(model).predict
    return predict


def load_tnt(model: Path) -> Predict:
    with model.open("rb") as file:
        tagger = pickle.load(file)
    return lambda words: [[label for _, label in tagger.tag(sentence)] for sentence in words]


def load_perceptron(model: Path) -> Predict:
    from nltk.tag.perceptron import PerceptronTagger

    tagger = PerceptronTagger.decode_json_obj(json.loads(model.read_text(encoding="utf-8")))
    return lambda words: [[label for _, label in tagger.tag(sentence)] for sentence in words]


def load_crfsuite(model: Path) -> Predict:
    import pycrfsuite

    tagger = pycrfsuite.Tagger()
    tagger.open(str(model))
    return lambda words: [tagger.tag([lafferty(word) for word in sentence]) for sentence in words]


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


def peer_files(predict: Predict) -> TagFile:
    predict(WARM_UP)

    def tag_file(words: Path, out: Path) -> None:
        sentences = read_words(words)
        tagged = zip(sentences, predict(sentences), strict=True)
        write_rows(out, (zip(words, labels, strict=True) for words, labels in tagged))

    return tag_file


PASSES = 5

TRAIN = {"tnt": train_tnt, "perceptron": train_perceptron, "crfsuite": train_crfsuite}
LOAD: dict[str, Callable[[Path], Predict]] = {
    "corate": load_corate,
    "tnt": load_tnt,
    "perceptron": load_perceptron,
    "crfsuite": load_crfsuite,
}


def train(name: str, model: Path, files: Sequence[Path]) -> None:
    TRAIN[name](list(chain.from_iterable(map(read_rows, files))), model)


def time_tag(name: str, model: Path, words: Path, out: Path) -> float:
    tag_file = corate_files(model) if name == "corate" else peer_files(LOAD[name](model))
    return _median_seconds(lambda: tag_file(words, out))


def time_predict(name: str, model: Path, words: Path) -> float:
    predict = LOAD[name](model)
    predict(WARM_UP)
    sentences = read_words(words)
    return _median_seconds(lambda: predict(sentences))


def _median_seconds(action: Callable[[], object]) -> float:
    """Several passes, because one of them takes a few hundredths of a second only."""
    seconds = []
    for _ in range(PASSES):
        started = process_time()
        action()
        seconds.append(process_time() - started)
    return median(seconds)


def main() -> None:
    action, name, *paths = sys.argv[1:]
    model, *files = map(Path, paths)
    if action == "train":
        train(name, model, files)
    elif action == "tag":
        print(json.dumps({"seconds": time_tag(name, model, *files)}))
    else:
        print(json.dumps({"seconds": time_predict(name, model, *files)}))


if __name__ == "__main__":
    main()
