"""The benchmark's report as Markdown."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from statistics import median

from benchmarks import targets
from benchmarks.studies import Bins, LabelSpeed
from benchmarks.systems import CORATES, FITTED, FIXED, RICH, SYSTEMS, TNT, Figures, Result
from benchmarks.targets import Verdict
from lab import machine

# Figures of a tagger: title and format of each row.
ROWS = {
    "accuracy": ("accuracy, %", ".2f"),
    "known": ("– known words", ".2f"),
    "unknown": ("– unknown words", ".2f"),
    "f1": ("entity F1, %", ".2f"),
    "train_cpu": ("training, CPU s", ".2f"),
    "start_cpu": ("– of it start-up and imports", ".2f"),
    "train_wall": ("training, wall s", ".2f"),
    "train_peak": ("training, peak memory, MB", ",.0f"),
    "model": ("model file, MB", ".1f"),
    "tag_speed": ("tagging, file to file, tokens/s", ",.0f"),
    "predict_speed": ("tagging, in memory, tokens/s", ",.0f"),
    "ready_speed": ("– features computed before", ",.0f"),
    "one_thread": ("– by the clock, one thread", ",.0f"),
    "two_threads": ("– by the clock, two threads", ",.0f"),
    "tag_cpu": ("tagging, whole process, CPU s", ".2f"),
}
LEARNED = ("accuracy", "known", "unknown", "f1", "train_cpu", "train_wall")  # mean little if stopped early
MEASURES = """\
Every training and every tagging has a process of its own. The taggers take turns, and a figure is the median
of the rounds; slow peers have one round. The machine is shared: compare the columns of one run, not runs.

Training goes from the text file to the saved model; CPU is user + system, start-up of the process included.
Tokens/s are per CPU second, so that threads do not count, with the model loaded: *file to file* reads, tags
and writes the test file, *in memory* goes from lists of words to lists of labels. corate reads with all its
checks of the input, the peers with the plainest loop there is.

TnT is NLTK's default, with its suffix model of unknown words; it is saved by pickle, having no format of its
own. NLTK imports SciPy and scikit-learn where they are installed, and that is part of its start-up.
CRFsuite is trained by L-BFGS: *rich* has the features and parameters of python-crfsuite's CoNLL-2002
tutorial without parts of speech (c1 = 1, c2 = 0.001, all transitions, 50 iterations), *Lafferty* the word and
its spelling (c2 = 0.1; with its default, c2 = 1, it is 6 points worse on Brown 1000/4000)."""


@dataclass(frozen=True)
class Section:
    text: str
    verdicts: list[Verdict] = field(default_factory=list)

    def markdown(self) -> str:
        return "\n".join(part for part in (self.text, verdict_table(self.verdicts)) if part)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def verdict_table(verdicts: Sequence[Verdict]) -> str:
    return table(targets.HEAD, (verdict.cells for verdict in verdicts)) if verdicts else ""


def header(command: Sequence[str], rounds: int, load: float) -> str:
    on = machine.describe()
    lines = [
        "# Benchmark: corate and its peers in one run\n",
        f"{MEASURES}\n",
        f"- {date.today().isoformat()}; rounds: {rounds}; load average at the start: {load:.1f}",
        f"- {on['cores']} cores, {on['processor']}; {on['system']}; Python {on['Python']}",
        "- " + ", ".join(f"{name} {on[name]}" for name in machine.PACKAGES),
        f"- `{shlex.join(command)}`\n",
    ]
    return "\n".join(lines)


def summary(verdicts: Sequence[Verdict]) -> str:
    """Those that were judged in this run, and what they missed."""
    judged = [verdict for verdict in verdicts if verdict.met is not None]
    missed = [verdict for verdict in judged if not verdict.met]
    text = f"## Targets: {len(judged) - len(missed)} of {len(judged)} met\n" if judged else ""
    if missed:
        text += "\nMissed:\n\n" + verdict_table(missed)
    return text


def split_section(result: Result) -> Section:
    size = result.files.sizes
    columns = {SYSTEMS[name].title: result.medians(name) for name in result.rounds}
    parts = [
        f"## {result.title}\n\n"
        f"To train on: {size['train_sentences']:,} sentences, {size['train_tokens']:,} tokens, "
        f"{size['labels']} labels. To tag: {size['test_tokens']:,} tokens.\n",
        figure_table(columns),
        notes(columns, result),
    ]
    return Section("\n".join(part for part in parts if part), targets.ratio_verdicts(result))


def notes(columns: Mapping[str, Figures], result: Result) -> str:
    lines = [f"- {SYSTEMS[name].title}: {error}\n" for name, error in result.capped.items()]
    lines += [
        f"- † {title}: stopped after iteration {figures['stopped']:.0f}, too early to be accurate. On Brown "
        "1000/4000 the rich one tagged as fast, within the noise, after 1 iteration as after 50.\n"
        for title, figures in columns.items()
        if figures.get("stopped")
    ]
    return "".join(lines)


def figure_table(columns: Mapping[str, Figures]) -> str:
    rows = [
        [title, *(_cell(figures, key, form) for figures in columns.values())]
        for key, (title, form) in ROWS.items()
        if any(key in figures for figures in columns.values())
    ]
    return table(["", *columns], rows)


def _cell(figures: Figures, key: str, form: str) -> str:
    if key not in figures:
        return "–"
    mark = " †" if figures.get("stopped") and key in LEARNED else ""
    return format(figures[key], form) + mark


def accuracy_section(found: Mapping[str, Mapping[str, Figures]]) -> Section:
    """Figures by split and system."""
    rows = []
    for title, by_system in found.items():
        measure = targets.measure_of(title)
        cells = [f"{by_system[system.name][measure]:.2f}" for system in CORATES]
        rows.append([f"{title}, entity F1" if measure == "f1" else title, *cells])
    head = ["", *(system.title for system in CORATES)]
    return Section("## Accuracy on every split\n\n" + table(head, rows), targets.accuracy_verdicts(found))


def start_section(title: str, starts: Mapping[str, list[float]]) -> Section:
    others = [f"`python -c pass` {median(starts['python']):.0f} ms"]
    if TNT.name in starts:
        others.append(f"{TNT.title} on the same sentence {median(starts[TNT.name]):,.0f} ms")
    text = (
        f"## Start-up\n\nCPU of a whole process, with models of {title}. "
        f"For comparison: {', '.join(others)}.\n"
    )
    return Section(text, targets.start_verdicts(starts))


def scaling_section(title: str, costs: Mapping[int, Mapping[str, Figures]]) -> Section:
    names = list(next(iter(costs.values())))
    head = ["tokens"]
    for name in names:
        head += [f"{SYSTEMS[name].title}, CPU s", "peak memory, MB"]
    rows = []
    for tokens, by_name in costs.items():
        cells = [f"{tokens:,}"]
        for name in names:
            cells += [f"{by_name[name]['cpu']:.2f}", f"{by_name[name]['peak']:,.0f}"]
        rows.append([*cells, f"{targets.fitting(by_name):.2f}"])
    text = (
        f"## Training on a corpus that grows\n\nThe file of {title} once, twice, … over. "
        "Fitting of the weights is the difference of fitted and fixed.\n\n"
        + table([*head, "fitting of the weights, CPU s"], rows)
    )
    return Section(text, targets.scaling_verdicts(costs))


def label_section(title: str, speeds: Sequence[LabelSpeed]) -> Section:
    head = ["labels", "labels a token", f"{FITTED.title}, tokens/s", f"{RICH.title}, tokens/s"]
    rows = []
    for speed in speeds:
        figures = (speed.ours, speed.crfsuite, speed.crfsuite_ready)
        cells = [f"{speed.sizes['labels']:.0f}", f"{speed.sizes['labels_a_word']:.2f}"]
        rows.append([*cells, *("–" if figure is None else f"{figure:,.0f}" for figure in figures)])
    text = (
        f"## Tagging with more and more labels\n\nThe sentences of {title}'s test part that have known words "
        f"only: {speeds[0].sizes['test_tokens']:,.0f} tokens, in memory, one thread. Coarser labels are the "
        "first letters of Brown's, finer ones Brown's and a number that follows from the word. *Labels a "
        "token*: those that its word had in training.\n\n" + table([*head, "features ready"], rows)
    )
    return Section(text, targets.label_verdicts(speeds))


def calibration_section(found: Mapping[str, Mapping[str, Bins]]) -> Section:
    """Bins by corpus and system."""
    text = "## Are the probabilities right?\n\nTokens by the probability of the label they were given.\n"
    verdicts = []
    for title, by_system in found.items():
        head = [title]
        for system in (FITTED, FIXED):
            head += [f"{system.title}: tokens", "probability, %", "right, %"]
        rows = []
        for number, pair in enumerate(zip(by_system[FITTED.name], by_system[FIXED.name], strict=True)):
            cells = [f"{number / 10:.1f}–{(number + 1) / 10:.1f}"]
            for b in pair:
                cells.append(f"{b['n']:,}")
                cells += [f"{100 * b[key]:.1f}" if b["n"] else "–" for key in ("probability", "right")]
            rows.append(cells)
        text += "\n" + table(head, rows)
        verdicts += targets.calibration_verdicts(title, by_system)
    return Section(text, verdicts)
