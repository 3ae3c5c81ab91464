"""corate and its peers on the same files, in one run: accuracy, training, tagging, memory, start-up.

corate is trained and started through its command line. Prints Markdown, and writes it to a file with a plot
beside it; progress goes to stderr. A run of everything takes about half an hour, --quick about five minutes.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks import studies, systems, tables, targets
from benchmarks.systems import CORATE, CORATES, FITTED, FIXED, PEERS, RICH, TNT, Figures, Files, Result
from benchmarks.tables import Section
from corate import InputError
from lab import corpora, pictures, terminal
from lab.children import ROOT, CapError

REPORT = ROOT / "docs" / "benchmark.md"
TITLES = {name: f"Brown {name}" for name in corpora.BROWN_SPLITS}
TITLES[corpora.CONLL_SPLIT] = f"CoNLL-2002 Dutch {corpora.CONLL_SPLIT}"
SMALL, LARGE, DUTCH = "1000/4000", "32623/1000", corpora.CONLL_SPLIT
PLOTTED = (SMALL, LARGE, DUTCH)
ALL = "all"
PARTS = ("splits", "accuracy", "start-up", "scaling", "labels", "calibration")


class Benchmark:
    """Splits are written when first needed; results and models stay for the parts that come later."""

    def __init__(self, options: argparse.Namespace, folder: Path) -> None:
        self.options = options
        self.folder = folder
        self.written: dict[str, Files] = {}
        self.results: dict[str, Result] = {}

    def sections(self) -> Iterator[Section]:
        for part in PARTS:
            if part in self.options.part:
                yield from getattr(self, part.replace("-", "_"))()

    def files(self, name: str) -> Files:
        if name not in self.written:
            terminal.progress(f"{TITLES[name]}: writing the files …")
            folder = self.folder / f"split{len(self.written)}"
            self.written[name] = systems.write_split(self.options.data, name, folder)
        return self.written[name]

    def splits(self) -> Iterator[Section]:
        for name in self.options.split:
            self.results[name] = self._take_turns(name)
            yield tables.split_section(self.results[name])

    def _take_turns(self, name: str) -> Result:
        """Every tagger in turn, so that a busy minute meets all."""
        result = Result(TITLES[name], self.files(name), {}, {})
        for number in range(self.options.rounds):
            for system in [*CORATES, *(PEERS[peer] for peer in self.options.peers)]:
                if system.name in result.capped or (system.slow and number > 0):
                    continue
                terminal.progress(f"{TITLES[name]}, round {number + 1}: {system.title} …")
                try:
                    figures = systems.measure(system, result.files, self.options.cap)
                    result.rounds.setdefault(system.name, []).append(figures)
                except CapError as error:
                    result.capped[system.name] = error
                    result.rounds.pop(system.name, None)
        return result

    def accuracy(self) -> Iterator[Section]:
        """The splits that were not compared are trained and scored here, without peers."""
        found: dict[str, dict[str, Figures]] = {}
        for name, title in TITLES.items():
            by_system = found.setdefault(title, {})
            for system in CORATES:
                if name in self.results:
                    by_system[system.name] = self.results[name].medians(system.name)
                else:
                    terminal.progress(f"accuracy on {title}: {system.title} …")
                    by_system[system.name] = systems.measure_accuracy(system, self.files(name))
        yield tables.accuracy_section(found)

    def start_up(self) -> Iterator[Section]:
        terminal.progress("start-up …")
        starts = studies.start_ups(self.files(LARGE), TNT.name in self.options.peers)
        yield tables.start_section(TITLES[LARGE], starts)

    def scaling(self) -> Iterator[Section]:
        costs = {}
        files = self.files(LARGE)
        for times in studies.SCALES:
            terminal.progress(f"scaling: {times} × the corpus …")
            tokens = times * files.sizes["train_tokens"]
            costs[tokens] = studies.training_costs(files, (FIXED, FITTED), times, self.options.rounds)
        yield tables.scaling_section(TITLES[LARGE], costs)

    def labels(self) -> Iterator[Section]:
        speeds = []
        files, with_crfsuite = self.files(LARGE), RICH.name in self.options.peers
        for number in studies.LABEL_NUMBERS:
            terminal.progress(f"about {number} labels …")
            folder = self.folder / f"labels{number}"
            speeds.append(studies.label_speed(number, files, folder, self.options.cap, with_crfsuite))
        yield tables.label_section(TITLES[LARGE], speeds)

    def calibration(self) -> Iterator[Section]:
        terminal.progress("calibration …")
        held_out = {"Brown, held out": LARGE, "CoNLL-2002 Dutch testa": DUTCH}
        found = {title: studies.reliability(self.files(name)) for title, name in held_out.items()}
        yield tables.calibration_section(found)

    def plotted(self) -> list[Result]:
        return [self.results[name] for name in PLOTTED if name in self.results]


def picture(results: list[Result]) -> str:
    """Accuracy against training time: a panel a split, a point a tagger.

    One that was stopped early has no place: it would have been better, and slower.
    """
    figure = pictures.new(4.6 * len(results), 4.2)
    for axes, result in zip(figure.subplots(1, len(results), squeeze=False)[0], results, strict=True):
        key = targets.measure_of(result.title)
        points = []
        for name in result.rounds:
            system, figures = systems.SYSTEMS[name], result.medians(name)
            if not figures.get("stopped"):
                colour = {"tagger": "red", None: "grey"}.get(system.kind, "blue")
                short = system.title.removeprefix("corate ").removeprefix("NLTK ")
                points.append(pictures.Point(short, figures["train_cpu"], figures[key], colour))
        title = result.title.removesuffix(f" {DUTCH}")
        axes.set_title(f"{title}: {'entity F1' if key == 'f1' else 'accuracy'}, %")
        pictures.time_and_rate(axes, points, "training, CPU seconds")
    return pictures.svg(figure)


def main() -> None:
    options = arguments()
    if not CORATE.exists():
        raise InputError("no such command: install corate where this Python lives", str(CORATE))
    if options.out and not options.out.parent.is_dir():
        raise InputError("no such folder: create it, or give another --out", str(options.out.parent))
    command = ["python", "-m", "benchmarks.tagging", *sys.argv[1:]]
    header = tables.header(command, options.rounds, os.getloadavg()[0])
    print(header, flush=True)
    sections = []
    with tempfile.TemporaryDirectory(prefix="corate-benchmark-") as folder:
        benchmark = Benchmark(options, Path(folder))
        for section in benchmark.sections():
            print(section.markdown(), flush=True)  # as soon as it is there: a run can take long
            sections.append(section)
    summary = tables.summary([verdict for section in sections for verdict in section.verdicts])
    print(summary)
    if options.out:
        write_report(options.out, [header, summary, *map(Section.markdown, sections)], benchmark.plotted())


def write_report(out: Path, texts: list[str], results: list[Result]) -> None:
    if results:
        plot = out.with_suffix(".svg")
        plot.write_text(picture(results), encoding="utf-8")
        texts.insert(2, f"![Accuracy against training time]({plot.name})\n")
    out.write_text("\n".join(texts), encoding="utf-8")


def arguments() -> argparse.Namespace:
    parser = terminal.arguments(
        __doc__, "benchmarks.tagging --data ../shared/data --split 4000/1000 --part splits"
    )

    def names(option: str, choices: list[str], default: list[str], what: str) -> None:
        said = f"{what}: {', '.join(choices)} (default: {' '.join(default)})"
        parser.add_argument(option, nargs="+", choices=choices, default=default, metavar="NAME", help=said)

    names("--split", [*TITLES, ALL], list(PLOTTED), "where taggers are compared")
    names("--part", list(PARTS), list(PARTS), "what is measured")
    add = parser.add_argument
    of_peers = f"of {','.join(PEERS)}; '' for none (default: all)"
    add("--peers", type=_peers, default=list(PEERS), metavar="NAMES", help=of_peers)
    add("--quick", action="store_true", help=f"compare with {TNT.title} on {LARGE}, and nothing else")
    add("--rounds", type=_positive, default=3, metavar="N", help="rounds behind a figure (default: 3)")
    add("--cap", type=_positive, default=300, metavar="SECONDS", help="CPU for a peer's step (default: 300)")
    add("--out", type=Path, metavar="FILE", help="the report (default: docs/benchmark.md; none if --quick)")
    options = parser.parse_args()
    options.data = options.data.resolve()  # for children, which start at the root
    if options.out is None and not options.quick:
        options.out = REPORT
    if options.quick:
        options.split, options.peers, options.part = [LARGE], [TNT.name], ["splits", "start-up"]
    if ALL in options.split:
        options.split = list(TITLES)
    return options


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
    terminal.run(main)
