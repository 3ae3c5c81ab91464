"""corate and its peers on the same files, in one run: accuracy, training, tagging, memory, start-up.

corate is trained and started through its command line. The slow peers, perceptron and crfsuite, run only if asked
for. Prints Markdown, and writes it to a file; progress goes to stderr.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import markdown
from children import CapReached, run
from systems import CORATE, CORATES, PEERS, PYTHON, TNT, Figures, Files, System, measure, write_split

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "experiments"))

import corpora
import report
from corate import InputError

LARGEST = "32623/1000"
TITLES = {name: f"Brown {name}" for name in corpora.BROWN_SPLITS}
TITLES[corpora.CONLL_SPLIT] = f"CoNLL-2002 Dutch {corpora.CONLL_SPLIT}"
STARTS = 7  # runs behind a start-up figure, after one that warms the caches
SCALES = (1, 2, 4)


def main() -> None:
    options = arguments()
    load = os.getloadavg()[0]
    systems = [*CORATES, *(PEERS[name] for name in options.peers)]
    sections = markdown.header(["python", "benchmarks/tagging.py", *sys.argv[1:]], options.rounds, load)
    with tempfile.TemporaryDirectory(prefix="corate-benchmark-") as folder:
        for number, name in enumerate(options.split):
            report.progress(f"{TITLES[name]}: writing the files …")
            files = write_split(options.data, name, Path(folder, str(number)))
            sections += compare(TITLES[name], systems, files, options)
            if name == max(options.split, key=lambda split: _n_train(split)):
                sections += once(TITLES[name], files, options.scaling)
    text = "\n".join(sections) + "\n"
    print(text, end="")
    options.out.write_text(text, encoding="utf-8")
