"""What is compared, and how one round of it is measured: train, tag, score, each in a process of its own."""

from __future__ import annotations

import filecmp
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from corate import CorateError
from lab.children import ONE_THREAD, CapError, Finished, run

PYTHON = sys.executable
CORATE = Path(sys.executable).with_name("corate")

# Pairs of labels that CRFsuite's L-BFGS visits in a second, roughly: an iteration visits them all at every
# token. It decides how many iterations are tried on a corpus that is too large for all.
PAIRS_PER_SECOND = 2.5e8

TRAINING = "training"

Command = list[str | Path]
Figures = dict[str, float]


def module(name: str, *arguments: str | Path) -> Command:
    """A module of this package as a child."""
    return [PYTHON, "-m", f"benchmarks.{name}", *arguments]


@dataclass(frozen=True)
class System:
    """One tagger, and what its training imports. `kind` is corate's --model; a peer has none."""

    name: str
    title: str
    imports: str
    kind: str | None = None
    options: tuple[str, ...] = ()  # of `corate train`
    slow: bool = False  # one round is enough

    def train_command(self, files: Sequence[Path], model: Path, most: int | None = None) -> Command:
        """`most` iterations, for CRFsuite."""
        if self.kind:
            return [CORATE, "train", "--model", self.kind, *self.options, "-m", model, *files]
        command = self.child("train", model, *files)
        return command if most is None else [*command, "--most", str(most)]

    def child(self, action: str, *paths: Path) -> Command:
        return [*module("taggers", action), "corate" if self.kind else self.name, *paths]


OURS = "import corate.cli; from corate import EmpiricalCRF, read"
EP1 = System("ep1", "corate EP1", OURS, "ep1")
ECRN = System("ecrn", "corate ECRN", OURS, "ecrn")
FIXED = System("fixed", "corate Tagger, fixed", OURS, "tagger", ("--weights", "fixed"))
FITTED = System("fitted", "corate Tagger, fitted", OURS, "tagger", ("--weights", "fitted"))
CORATES = [EP1, ECRN, FIXED, FITTED]
TNT = System("tnt", "NLTK TnT", "import nltk.tag.tnt")
PERCEPTRON = System("perceptron", "NLTK perceptron", "import nltk.tag.perceptron", slow=True)
RICH = System("crfsuite-rich", "CRFsuite rich", "import pycrfsuite", slow=True)
LAFFERTY = System("crfsuite-lafferty", "CRFsuite Lafferty", "import pycrfsuite", slow=True)
PEERS = {system.name: system for system in (TNT, PERCEPTRON, RICH, LAFFERTY)}
SYSTEMS = {system.name: system for system in (*CORATES, *PEERS.values())}


@dataclass
class Files:
    """A split on disk."""

    folder: Path
    sizes: dict[str, int]

    def __post_init__(self) -> None:
        self.train, self.test, self.words, self.held_out = (
            self.folder / f"{name}.conll" for name in ("train", "test", "words", "held_out")
        )

    def model(self, system: System) -> Path:
        return self.folder / f"{system.name}.model"


@dataclass(frozen=True)
class Result:
    """The rounds of every system on one split, and what stopped those that have none."""

    title: str
    files: Files
    rounds: dict[str, list[Figures]]
    capped: dict[str, CapError]

    @property
    def training_caps(self) -> dict[str, int]:
        """CPU seconds after which the training of a system was stopped."""
        return {name: error.cap for name, error in self.capped.items() if error.step == TRAINING}

    def medians(self, name: str) -> Figures:
        rounds = self.rounds[name]
        return {key: median(figures[key] for figures in rounds) for key in rounds[0]}


def write_split(data: Path, name: str, folder: Path) -> Files:
    folder.mkdir()
    return Files(folder, run(module("parts", "write", data, name, folder)).json())


def affordable(sizes: dict[str, int], cap: int) -> int:
    """Iterations of CRFsuite that should end within the cap."""
    return max(1, int(cap * PAIRS_PER_SECOND / (sizes["train_tokens"] * sizes["labels"] ** 2)))


def measure(system: System, files: Files, cap: int) -> Figures:
    """One round: train, tag from file to file, tag in memory, score. The cap is for peers."""
    model, out = files.model(system), files.folder / f"{system.name}.tagged"
    limit = None if system.kind else cap
    most = affordable(files.sizes, cap) if system in (RICH, LAFFERTY) else None
    started = run([PYTHON, "-c", system.imports])
    trained = run(system.train_command([files.train], model, most), cap=limit, step=TRAINING)
    tagged = run(system.child("tag", model, files.words, out), cap=limit, environment=ONE_THREAD)
    predicted = run(system.child("predict", model, files.words), cap=limit, environment=ONE_THREAD).json()
    whole = _corate_tag(model, files.words, out) if system.kind else tagged
    n_tokens = files.sizes["test_tokens"]
    found = {
        **score(files, out),
        **training_figures(trained, started),
        "model": model.stat().st_size / 1e6,
        "tag_speed": n_tokens / tagged.json()["seconds"],
        "predict_speed": n_tokens / predicted["seconds"],
        "tag_cpu": whole.cpu,
    }
    if "ready" in predicted:
        found["ready_speed"] = n_tokens / predicted["ready"]
        found["stopped"] = trained.json()["stopped"]
    if system.kind:
        threads = run(system.child("threads", model, files.words), environment=ONE_THREAD).json()
        found |= {"one_thread": n_tokens / threads["one"], "two_threads": n_tokens / threads["two"]}
    return found


def measure_accuracy(system: System, files: Files) -> Figures:
    """Train corate, tag once, score."""
    model, out = files.model(system), files.folder / f"{system.name}.tagged"
    trained = run(system.train_command([files.train], model))
    run([CORATE, "tag", "-m", model, files.words], stdout=out)
    return {**score(files, out), "train_cpu": trained.cpu}


def score(files: Files, tagged: Path) -> Figures:
    return run(module("parts", "score", files.train, files.test, tagged)).json()


def training_figures(trained: Finished, started: Finished) -> Figures:
    return {
        "train_cpu": trained.cpu,
        "start_cpu": started.cpu,
        "train_work": trained.cpu - started.cpu,
        "train_wall": trained.wall,
        "train_peak": trained.peak,
    }


def _corate_tag(model: Path, words: Path, expected: Path) -> Finished:
    """The command itself, which must write what the timed child wrote."""
    out = expected.with_suffix(".whole")
    command = run([CORATE, "tag", "-m", model, words], stdout=out)
    if not filecmp.cmp(out, expected, shallow=False):
        raise CorateError(f"{out}: `corate tag` wrote other labels than the child that was timed: {expected}")
    return command
