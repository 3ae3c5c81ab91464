"""What is measured besides the comparison of taggers: start-up, larger corpora, more labels, calibration."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks import systems
from benchmarks.systems import CORATE, ECRN, FITTED, FIXED, RICH, TNT, Command, Figures, Files, System, module
from lab.children import ONE_THREAD, run

STARTS = 7  # runs behind a start-up figure, after one that warms the caches
SCALES = (1, 2, 4, 8)
LABEL_NUMBERS = (10, 50, 250, 1000)
BROWN_OWN = 250
CRFSUITE_ITERATIONS = 3  # its speed depends on labels and features, not on how well it is trained

Bins = list[dict[str, float]]


def trained(system: System, files: Files) -> Path:
    """The system's model of the split, trained unless it is there."""
    model = files.model(system)
    if not model.exists():
        run(system.train_command([files.train], model))
    return model


def start_ups(files: Files, has_tnt: bool) -> dict[str, list[float]]:
    """CPU milliseconds of every run."""
    sentence, out = files.folder / "sentence.conll", files.folder / "sentence.tagged"
    sentence.write_text("The\ndog\nbarks\n.\n\n", encoding="utf-8")
    commands: dict[str, Command] = {
        "python": [systems.PYTHON, "-c", "pass"],
        "help": [CORATE, "--help"],
        "one": [CORATE, "tag", "-m", trained(ECRN, files), sentence],
        "one_fitted": [CORATE, "tag", "-m", trained(FITTED, files), sentence],
    }
    if has_tnt:
        commands["tnt"] = TNT.child("tag", trained(TNT, files), sentence, out)
    return {
        name: [1000 * run(command).cpu for _ in range(STARTS + 1)][1:] for name, command in commands.items()
    }


def training_costs(files: Files, systems: Sequence[System], times: int, rounds: int) -> dict[str, Figures]:
    """Training on the same file so many times over; the short ones are repeated."""
    costs = {}
    for system in systems:
        model = files.folder / f"{system.name}.scaling"
        command = system.train_command([files.train] * times, model)
        runs = [run(command) for _ in range(-(-rounds // times))]
        costs[system.name] = {
            "cpu": median(cost.cpu for cost in runs),
            "peak": median(cost.peak for cost in runs),
        }
    return costs


@dataclass(frozen=True)
class LabelSpeed:
    """Sizes of a relabelled corpus, and tokens/s in memory on known words; None where there is no model."""

    sizes: dict[str, float]
    ours: float
    crfsuite: float | None
    crfsuite_ready: float | None


def label_speed(number: int, files: Files, folder: Path, cap: int, with_crfsuite: bool) -> LabelSpeed:
    folder.mkdir()
    child = module("parts", "relabel", files.train, files.test, str(number), folder)
    relabelled = Files(folder, run(child).json())
    n_tokens = relabelled.sizes["test_tokens"]
    ours = _predict(FITTED, trained(FITTED, relabelled), relabelled.words)
    theirs = _crfsuite(number, files, relabelled, cap) if with_crfsuite else None
    seconds = _predict(RICH, theirs, relabelled.words) if theirs else {}
    return LabelSpeed(
        dict(relabelled.sizes),
        n_tokens / ours["seconds"],
        n_tokens / seconds["seconds"] if seconds else None,
        n_tokens / seconds["ready"] if seconds else None,
    )


def _predict(system: System, model: Path, words: Path) -> dict[str, Any]:
    return run(system.child("predict", model, words), environment=ONE_THREAD).json()


def _crfsuite(number: int, brown: Files, relabelled: Files, cap: int) -> Path | None:
    """A model of CRFsuite if there is one already, or if one can be trained within the cap."""
    if number == BROWN_OWN and brown.model(RICH).exists():
        return brown.model(RICH)
    if systems.affordable(relabelled.sizes, cap) < CRFSUITE_ITERATIONS:
        return None
    model = relabelled.model(RICH)
    run(RICH.train_command([relabelled.train], model, CRFSUITE_ITERATIONS))
    return model


def reliability(files: Files) -> dict[str, Bins]:
    """On the held-out part, for fixed and fitted weights."""
    return {
        system.name: run(module("parts", "reliability", trained(system, files), files.held_out)).json()[
            "bins"
        ]
        for system in (FIXED, FITTED)
    }
