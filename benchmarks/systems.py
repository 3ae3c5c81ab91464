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
Figures = dict[str, float]


@dataclass(frozen=True)
class System:
    """`kind` is corate's --model; a peer has none."""

    name: str
    title: str
    kind: str | None = None

    @property
    def tagger(self) -> str:
        return "corate" if self.kind else self.name

    def train(self, files: Sequence[Path], model: Path, cap: int | None = None) -> Finished:
        if self.kind:
            return run([CORATE, "train", "--model", self.kind, "-m", model, *files], cap=cap)
        return run([PYTHON, HERE / "taggers.py", "train", self.name, model, *files], cap=cap)

    def tag(self, model: Path, words: Path, out: Path, cap: int | None = None) -> Finished:
        """Tag in a child that has the model loaded before its clock starts."""
        return run([PYTHON, HERE / "taggers.py", "tag", self.tagger, model, words, out], cap=cap)

    def predict(self, model: Path, words: Path, cap: int | None = None) -> Finished:
        return run([PYTHON, HERE / "taggers.py", "predict", self.tagger, model, words], cap=cap)


CORATES = [System("ep1", "corate EP1", "ep1"), System("ecrn", "corate ECRN", "ecrn")]
PEERS = {
    system.name: system
    for system in (
        System("tnt", "NLTK TnT"),
        System("perceptron", "NLTK perceptron"),
        System("crfsuite", "CRFsuite AP"),
    )
}


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


def measure(system: System, files: Files, cap: int | None) -> Figures:
    """One round."""
    model, out = files.model(system), files.folder / f"{system.name}.tagged"
    trained = system.train([files.train], model, cap)
    tagged = system.tag(model, files.words, out, cap)
    predicted = system.predict(model, files.words, cap)
    command = _corate_tag(model, files.words, out) if system.kind else tagged
    n_tokens = files.sizes["test_tokens"]
    return {
        **run([PYTHON, HERE / "parts.py", "score", files.train, files.test, out]).json(),
        "train_cpu": trained.cpu,
        "train_wall": trained.wall,
        "train_peak": trained.peak,
        "model": model.stat().st_size / 1e6,
        "tag_speed": n_tokens / tagged.json()["seconds"],
        "predict_speed": n_tokens / predicted.json()["seconds"],
        "tag_cpu": command.cpu,
    }


def _corate_tag(model: Path, words: Path, expected: Path) -> Finished:
    """The command itself, which must write what the timed child wrote."""
    out = expected.with_suffix(".command")
    command = run([CORATE, "tag", "-m", model, words], stdout=out)
    if not filecmp.cmp(out, expected, shallow=False):
        raise CorateError(f"{out}: `corate tag` wrote other labels than the child that was timed: {expected}")
    return command
