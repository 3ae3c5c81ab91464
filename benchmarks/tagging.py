"""corate and its peers on the same files, in one run: accuracy, training, tagging, memory, start-up.

corate is trained and started through its command line. The slow peers, perceptron and crfsuite, run only if
asked for. Prints Markdown, and writes it to a file; progress goes to stderr.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import tables
from children import CapError, run
from systems import (
    CORATE,
    CORATES,
    ECRN,
    PEERS,
    PYTHON,
    TNT,
    Command,
    Figures,
    Files,
    System,
    measure,
    write_split,
)

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "experiments"))

import corpora
import report
from corate import InputError

REPORT = Path(__file__).resolve().parents[1] / "docs" / "benchmark.md"
TITLES = {name: f"Brown {name}" for name in corpora.BROWN_SPLITS}
TITLES[corpora.CONLL_SPLIT] = f"CoNLL-2002 Dutch {corpora.CONLL_SPLIT}"
STARTS = 7  # runs behind a start-up figure, after one that warms the caches
SCALES = (1, 2, 4)


def main() -> None:
    options = arguments()
    if not CORATE.exists():
        raise InputError("no such command: install corate where this Python lives", str(CORATE))
    if not options.out.parent.is_dir():
        raise InputError("no such folder: create it, or give another --out", str(options.out.parent))
    text = ""
    for section in sections(options):
        print(section, flush=True)  # as soon as it is there: a run can take long
        text += section + "\n"
    options.out.write_text(text, encoding="utf-8")


def sections(options: argparse.Namespace) -> Iterator[str]:
    command = ["python", "benchmarks/tagging.py", *sys.argv[1:]]
    yield tables.header(command, options.rounds, os.getloadavg()[0])
    systems = [*CORATES, *(PEERS[name] for name in options.peers)]
    with tempfile.TemporaryDirectory(prefix="corate-benchmark-") as folder:
        for number, name in enumerate(options.split):
            report.progress(f"{TITLES[name]}: writing the files …")
            files = write_split(options.data, name, Path(folder, str(number)))
            rounds, capped = take_turns(systems, files, options)
            yield tables.split_section(TITLES[name], files, rounds, capped)
        has_tnt = TNT.name in rounds
        yield tables.start_section(TITLES[name], start_ups(files, has_tnt))
        if options.scaling:
            yield tables.scaling_section(TITLES[name], scaling(files, has_tnt))


def take_turns(
    systems: Sequence[System], files: Files, options: argparse.Namespace
) -> tuple[dict[str, list[Figures]], dict[str, str]]:
    """The rounds of every tagger, in turn, so that a busy minute meets all; and why some have none."""
    rounds: dict[str, list[Figures]] = {}
    capped: dict[str, str] = {}
    for number in range(options.rounds):
        for system in systems:
            if system.name in capped:
                continue
            report.progress(f"round {number + 1} of {options.rounds}: {system.title} …")
            try:
                rounds.setdefault(system.name, []).append(measure(system, files, options.cap))
            except CapError as error:
                capped[system.name] = str(error)
                rounds.pop(system.name, None)
    return rounds, capped


def start_ups(files: Files, has_tnt: bool) -> dict[str, list[float]]:
    """CPU milliseconds of every run."""
    sentence, out = files.folder / "sentence.conll", files.folder / "sentence.tagged"
    sentence.write_text("The\ndog\nbarks\n.\n\n", encoding="utf-8")
    commands: dict[str, Command] = {
        "python": [PYTHON, "-c", "pass"],
        "help": [CORATE, "--help"],
        "one": [CORATE, "tag", "-m", files.model(ECRN), sentence],
    }
    if has_tnt:
        commands["tnt"] = TNT.tag_command(files.model(TNT), sentence, out)
    found = {}
    for name, command in commands.items():
        report.progress(f"start-up: {name} …")
        found[name] = [1000 * run(command).cpu for _ in range(STARTS + 1)][1:]
    return found


def scaling(files: Files, has_tnt: bool) -> dict[int, dict[str, Figures]]:
    """Cost of training on the same file several times over, by the number of tokens."""
    found: dict[int, dict[str, Figures]] = {}
    for times in SCALES:
        costs = found.setdefault(times * files.sizes["train_tokens"], {})
        for system in [ECRN, *([TNT] if has_tnt else [])]:
            report.progress(f"scaling: {times} × {system.title} …")
            model = files.folder / f"{system.name}.scaling"
            cost = run(system.train_command([files.train] * times, model))
            costs[system.name] = {"cpu": cost.cpu, "peak": cost.peak}
    return found


def arguments() -> argparse.Namespace:
    example = "python benchmarks/tagging.py --data ../shared/data --split 4000/1000 32623/1000"
    parser = report.arguments(__doc__, example, data="folder that holds brown/ and conll2002/")
    splits = f"of {', '.join(TITLES)}; start-up is measured with the last (default: 32623/1000)"
    peers = f"of {','.join(PEERS)}; '' for none (default: tnt)"
    out = "where the report goes besides stdout (default: docs/benchmark.md)"
    scaling_help = "also train on the last split's file 1, 2 and 4 times over"
    add = parser.add_argument
    add("--split", nargs="+", choices=TITLES, default=["32623/1000"], metavar="NAME", help=splits)
    add("--peers", type=_peers, default=[TNT.name], metavar="NAMES", help=peers)
    add("--rounds", type=_positive, default=3, metavar="N", help="rounds behind a figure (default: 3)")
    add("--cap", type=_positive, default=600, metavar="SECONDS", help="CPU for a peer's step (default: 600)")
    add("--scaling", action="store_true", help=scaling_help)
    add("--out", type=Path, default=REPORT, metavar="FILE", help=out)
    return parser.parse_args()


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 1 on")
    return int(text)


def _peers(text: str) -> list[str]:
    names = [name for name in text.split(",") if name]
    for name in names:
        if name not in PEERS:
            raise argparse.ArgumentTypeError(f"no peer {name!r}: choose from {', '.join(PEERS)}")
    return names


if __name__ == "__main__":
    report.run(main)
