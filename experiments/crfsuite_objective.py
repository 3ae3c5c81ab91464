"""LinearChainCRF beside CRFsuite: the same features, the same penalty, the same objective?

Trains both by L-BFGS on Brown (1000 sentences) and CoNLL-2002 Dutch with Lafferty's features, and labels the
test parts. Needs python-crfsuite. For CPU times that compare, run it with OPENBLAS_NUM_THREADS=1.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import process_time

import terminal
from corate import InputError, LinearChainCRF
from corate.contexts.defaults import LAFFERTY
from corate.contexts.views import view
from corpora import CONLL_SPLIT, Split, brown, conll2002

C2 = 1.0  # CRFsuite's default

ROWS = {
    "features": "features",
    "iterations": "iterations",
    "objective": "objective",
    "seconds": "training, CPU s",
    "accuracy": "accuracy on the test part, %",
    "agreement": "tokens with the same label, %",
}


@dataclass(frozen=True)
class Result:
    features: int
    iterations: int
    objective: float
    seconds: float
    labels: list[list[str]]


def ours(split: Split, c2: float) -> Result:
    start = process_time()
    crf = LinearChainCRF(c2=c2).fit(split.train.words, split.train.labels)
    seconds = process_time() - start
    labels = crf.predict(split.test.words)
    return Result(len(crf.weights_), len(crf.training_log_) - 1, crf.objective_, seconds, labels)


def crfsuite(split: Split, c2: float) -> Result:
    try:
        import pycrfsuite
    except ImportError:
        raise InputError("python-crfsuite is not installed: pip install 'corate[peers]'") from None

    start = process_time()
    trainer = pycrfsuite.Trainer(verbose=False)
    trainer.set_params({"c1": 0.0, "c2": c2})
    for words, labels in zip(split.train.words, split.train.labels, strict=True):
        trainer.append(attributes(words), labels)
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "model")
        trainer.train(path)
        seconds = process_time() - start
        tagger = pycrfsuite.Tagger()
        tagger.open(path)
        found = [tagger.tag(attributes(words)) for words in split.test.words]
    log = trainer.logparser
    n_features = int(log.featgen_num_features)
    return Result(n_features, len(log.iterations), float(log.last_iteration["loss"]), seconds, found)


def attributes(words: Iterable[str]) -> list[list[str]]:
    """Lafferty's, as CRFsuite takes them: `name=value` where there is a value."""
    views = [(name, view(name)) for name in LAFFERTY]
    return [[f"{name}={value}" for name, of in views if (value := of(word))] for word in words]


def share(a: Sequence[Sequence[str]], b: Sequence[Sequence[str]]) -> float:
    """Percentage of equal labels."""
    pairs = [x == y for left, right in zip(a, b, strict=True) for x, y in zip(left, right, strict=True)]
    return 100 * sum(pairs) / len(pairs)


def compare(title: str, split: Split, c2: float) -> None:
    terminal.progress(f"{title}: LinearChainCRF …")
    here = ours(split, c2)
    terminal.progress(f"{title}: CRFsuite …")
    peer = crfsuite(split, c2)
    columns = []
    for name, found in (("LinearChainCRF", here), ("CRFsuite", peer)):
        cells = {
            "features": f"{found.features:,}",
            "iterations": f"{found.iterations}",
            "objective": f"{found.objective:,.3f}",
            "seconds": f"{found.seconds:.1f}",
            "accuracy": f"{share(split.test.labels, found.labels):.2f}",
        }
        columns.append(terminal.Column(name, terminal.HERE, cells))
    ratio = {
        "objective": f"{100 * (here.objective / peer.objective - 1):+.4f} %",
        "seconds": f"× {here.seconds / peer.seconds:.2f}",
        "agreement": f"{share(here.labels, peer.labels):.2f}",
    }
    columns.append(terminal.Column("ours / theirs", terminal.HERE, ratio))
    terminal.print_table(f"{title}, c2 = {c2:g}", ROWS, columns)


def main() -> None:
    example = "OPENBLAS_NUM_THREADS=1 python experiments/crfsuite_objective.py --data ../shared/data"
    parser = terminal.arguments(__doc__, example, data="folder that holds brown/ and conll2002/")
    parser.add_argument("--c2", type=float, default=C2, help="penalty (default: %(default)s)")
    options = parser.parse_args()
    if os.environ.get("OPENBLAS_NUM_THREADS") != "1":
        terminal.progress("OPENBLAS_NUM_THREADS is not 1: CPU seconds include threads of NumPy that wait")
    compare("Brown 1000/4000", brown(options.data).splits["1000/4000"], options.c2)
    compare("CoNLL-2002 Dutch", conll2002(options.data).splits[CONLL_SPLIT], options.c2)


if __name__ == "__main__":
    terminal.run(main)
