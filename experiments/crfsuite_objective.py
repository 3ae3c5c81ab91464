"""LinearChainCRF beside CRFsuite: the same features, the same penalty, the same objective?

Trains both by L-BFGS on Brown (1000 sentences) and CoNLL-2002 Dutch with Lafferty's features, and labels the
test parts. Needs python-crfsuite. For CPU times that compare, run it with OPENBLAS_NUM_THREADS=1.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from time import process_time
from typing import Any

from corate import LinearChainCRF
from corate.contexts.defaults import LAFFERTY
from corate.contexts.views import view
from corate.evaluation.significance import outcomes
from lab import terminal
from lab.corpora import CONLL_SPLIT, Split, brown, conll2002
from lab.peers import Attributes, CRFsuite, Words
from lab.store import sources_of
from lab.tables import Cell, Table

C2 = 1.0  # CRFsuite's default


@dataclass(frozen=True)
class Result:
    features: int
    iterations: int
    objective: float
    seconds: float
    labels: list[list[str]]


def trained(model: Any, split: Split) -> tuple[float, list[list[str]]]:
    """CPU seconds of training, and the labels of the test part."""
    start = process_time()
    model.fit(split.train.words, split.train.labels)
    return process_time() - start, model.predict(split.test.words)


def ours(split: Split, c2: float) -> Result:
    crf = LinearChainCRF(c2=c2)
    found = trained(crf, split)
    return Result(len(crf.weights_), len(crf.training_log_) - 1, crf.objective_, *found)


def crfsuite(split: Split, c2: float) -> Result:
    sources_of("python-crfsuite")  # says so if it is not installed
    crf = CRFsuite(attributes, c2=c2)
    found = trained(crf, split)
    objective = float(crf.log_.last_iteration["loss"])
    return Result(int(crf.log_.featgen_num_features), crf.iterations_, objective, *found)


def attributes(words: Words) -> Attributes:
    """Lafferty's, as our views have them: `name=value` where there is a value."""
    views = [(name, view(name)) for name in LAFFERTY]
    return [[f"{name}={value}" for name, of in views if (value := of(word))] for word in words]


def compare(title: str, split: Split, c2: float) -> None:
    terminal.progress(f"{title}: LinearChainCRF …")
    here = ours(split, c2)
    terminal.progress(f"{title}: CRFsuite …")
    peer = crfsuite(split, c2)
    same = 100 * outcomes(here.labels, peer.labels).accuracy
    right = [100 * outcomes(split.test.labels, of.labels).accuracy for of in (here, peer)]
    further = f"{100 * (here.objective / peer.objective - 1):+.4f} %"
    rows = {
        "features": [f"{here.features:,}", f"{peer.features:,}"],
        "iterations": [f"{here.iterations}", f"{peer.iterations}"],
        "objective": [f"{here.objective:,.3f}", f"{peer.objective:,.3f}", further],
        "training, CPU s": [
            f"{here.seconds:.1f}",
            f"{peer.seconds:.1f}",
            f"× {here.seconds / peer.seconds:.2f}",
        ],
        "accuracy on the test part, %": [f"{rate:.2f}" for rate in right],
        "tokens with the same label, %": ["–", "–", f"{same:.2f}"],
    }
    heads = ["", "LinearChainCRF", "CRFsuite", "ours / theirs"]
    cells = [(title, [Cell(text) for text in texts]) for title, texts in rows.items()]
    Table(f"{title}, c2 = {c2:g}", heads, cells).print()


def main() -> None:
    parser = terminal.arguments(__doc__, "experiments.crfsuite_objective --data ../shared/data")
    parser.add_argument("--c2", type=float, default=C2, help="penalty (default: %(default)s)")
    options = parser.parse_args()
    if os.environ.get("OPENBLAS_NUM_THREADS") != "1":
        terminal.progress("OPENBLAS_NUM_THREADS is not 1: CPU seconds include threads of NumPy that wait")
    compare("Brown 1000/4000", brown(options.data).splits["1000/4000"], options.c2)
    compare("CoNLL-2002 Dutch", conll2002(options.data).splits[CONLL_SPLIT], options.c2)


if __name__ == "__main__":
    terminal.run(main)
