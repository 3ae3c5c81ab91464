"""What is compared, and how one round of it is measured: train, tag, score, each in a process of its own."""

from __future__ import annotations

import filecmp
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from children import Finished, run
from corate import CorateError

HERE = Path(__file__).resolve().parent
PYTHON = sys.executable
CORATE = Path(sys.executable).with_name("corate")

Command = list[str | Path]
Figures = dict[str, float]


@dataclass(frozen=True)
class System:
    """One tagger, and the modules that its training imports. `kind` is corate's --model; a peer has none."""

    name: str
    title: str
    modules: str
    kind: str | None = None
    options: tuple[str, ...] = ()  # of `corate train`

    def train_command(self, files: Sequence[Path], model: Path) -> Command:
        if self.kind:
            return [CORATE, "train", "--model", self.kind, *self.options, "-m", model, *files]
        return self._child("train", model, *files)

    def tag_command(self, model: Path, words: Path, out: Path) -> Command:
        return self._child("tag", model, words, out)

    def predict_command(self, model: Path, words: Path) -> Command:
        return self._child("predict", model, words)

    def _child(self, action: str, *paths: Path) -> Command:
        return [PYTHON, HERE / "taggers.py", action, "corate" if self.kind else self.name, *paths]


OURS = "corate.cli, corate.empirical, corate.formats"
ECRN = System("ecrn", "corate ECRN", OURS, "ecrn")
PAPERS = [System("ep1", "corate EP1", OURS, "ep1"), ECRN]
CORATES = [
    *PAPERS,
    System("fixed", "corate Tagger, fixed", OURS, "tagger", ("--weights", "fixed")),
    System("fitted", "corate Tagger, fitted", OURS, "tagger"),
]
TNT = System("tnt", "NLTK TnT", "nltk.tag.tnt")
PEERS = {
    "tnt": TNT,
    "perceptron": System("perceptron", "NLTK perceptron", "nltk.tag.perceptron"),
    "crfsuite": System("crfsuite", "CRFsuite AP, Lafferty", "pycrfsuite"),
}
SYSTEMS = {system.name: system for system in (*CORATES, *PEERS.values())}


@dataclass(frozen=True)
class Files:
    """A split on disk."""

    folder: Path
    sizes: dict[str, int]

    @property
    def train(self) -> Path:
        return self.folder / "train.conll"

    @property
    def test(self) -> Path:
        return self.folder / "test.conll"

    @property
    def words(self) -> Path:
        return self.folder / "words.conll"

    def model(self, system: System) -> Path:
        return self.folder / f"{system.name}.model"


def write_split(data: Path, name: str, folder: Path) -> Files:
    folder.mkdir()
    return Files(folder, run([PYTHON, HERE / "parts.py", "write", data, name, folder]).json())


def measure(system: System, files: Files, cap: int) -> Figures:
    """One round: train, tag from file to file, tag in memory, score. The cap is for peers."""
    model, out = files.model(system), files.folder / f"{system.name}.tagged"
    limit = None if system.kind else cap
    started = run([PYTHON, "-c", f"import {system.modules}"])
    trained = run(system.train_command([files.train], model), cap=limit)
    tagged = run(system.tag_command(model, files.words, out), cap=limit)
    predicted = run(system.predict_command(model, files.words), cap=limit)
    whole = _corate_tag(model, files.words, out) if system.kind else tagged
    rates = run([PYTHON, HERE / "parts.py", "score", files.train, files.test, out]).json()
    n_tokens = files.sizes["test_tokens"]
    return {
        **rates,
        "train_cpu": trained.cpu,
        "start_cpu": started.cpu,
        "train_work": trained.cpu - started.cpu,
        "train_wall": trained.wall,
        "train_peak": trained.peak,
        "model": model.stat().st_size / 1e6,
        "tag_speed": n_tokens / tagged.json()["seconds"],
        "predict_speed": n_tokens / predicted.json()["seconds"],
        "tag_cpu": whole.cpu,
    }


def _corate_tag(model: Path, words: Path, expected: Path) -> Finished:
    """The command itself, which must write what the timed child wrote."""
    out = expected.with_suffix(".whole")
    command = run([CORATE, "tag", "-m", model, words], stdout=out)
    if not filecmp.cmp(out, expected, shallow=False):
        raise CorateError(f"{out}: `corate tag` wrote other labels than the child that was timed: {expected}")
    return command
