"""Train a model, label the test part and measure both: one child process a model, under a cap of CPU seconds.

python -m experiments.measure SPLIT MODEL      SPLIT: a JSON file of `write_split`; writes to stdout
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import date
from functools import cache
from pathlib import Path
from time import process_time

import numpy as np

from corate.evaluation.evaluate import evaluate
from corate.evaluation.significance import Outcomes, compare_all, holm, outcomes
from experiments.models import MODELS, Model
from lab import terminal
from lab.children import ONE_THREAD, CapError, run
from lab.corpora import Part, Split, Splits
from lab.store import Record, Store, digest, pack, sources_of, unpack, write_json

DONE, STOPPED, NOT_RUN, KEPT = "done", "stopped", "not run", "kept"
LAYOUT = "1"  # of a record: another one, and nothing that was kept is found
CAP = 60  # CPU seconds of one model on one split
ALL_CAP = 3_600  # the same where nothing is to be left out
KEPT_ONLY = 0  # as a cap: nothing is run, what was kept is shown
SLOW_CELLS = Path(__file__).with_name("slow_cells.json")  # of `report --all`: title, model → figures and date
FIGURES = ("overall", "known", "unknown", "f1", "seconds", "tokens_per_second", "iterations", "cap", "peak")


# In the child ---------------------------------------------------------------------------------------------


def measure(model: Model, split: Split, held_out: Part) -> Record:
    """Training runs from token lists to the first labelled sentence, so that the factors are in it."""
    crf = model.made()
    start = process_time()
    if getattr(crf, "mu_oov", 1) is None:
        crf.fit(split.train.words, split.train.labels, held_out=(held_out.words, held_out.labels))
    else:
        crf.fit(split.train.words, split.train.labels)
    crf.predict(split.test.words[:1])
    trained = process_time()
    predicted = crf.predict(split.test.words)
    tagged = process_time()
    found = evaluate(split.test.labels, predicted, split.test.words, split.train.vocabulary())
    outcome = outcomes(split.test.labels, predicted)
    return {
        "status": DONE,
        "overall": 100 * found.accuracy,
        "known": _percent(found.accuracy_known),
        "unknown": _percent(found.accuracy_unknown),
        "f1": _percent(found.f1),
        "seconds": trained - start,
        "tokens_per_second": split.test.n_tokens / max(tagged - trained, 1e-6),
        "mu_oov": getattr(crf, "mu_oov_", None),
        "iterations": getattr(crf, "iterations_", None),
        "right": pack(outcome.right),
        "spans": None if outcome.spans is None else pack(outcome.spans),
    }


def _percent(rate: float | None) -> float | None:
    return None if rate is None else 100 * rate


def write_split(path: Path, split: Split, held_out: Part) -> None:
    parts = {"train": split.train, "test": split.test, "held_out": held_out}
    path.write_text(json.dumps({name: asdict(part) for name, part in parts.items()}), encoding="utf-8")


def read_split(path: Path) -> tuple[Split, Part]:
    parts = {name: Part(**part) for name, part in json.loads(path.read_text(encoding="utf-8")).items()}
    return Split(parts["train"], parts["test"]), parts["held_out"]


# In the parent --------------------------------------------------------------------------------------------


class Measurements:
    """The models on splits of a corpus, small ones first: what takes long there is not begun later."""

    def __init__(self, title: str, corpus: Splits, store: Store, cap: int) -> None:
        self.title, self.corpus, self.store, self.cap = title, corpus, store, cap
        self.splits: dict[str, Record] = {}

    def add(self, name: str, models: Sequence[str]) -> None:
        split = self.corpus.splits[name]
        lengths = [len(words) for words in split.test.words]
        sizes = {
            "tokens": split.train.n_tokens,
            "labels": len(split.train.label_set()),
            "train_sentences": len(split.train.words),
            "test_sentences": len(lengths),
            "test_tokens": sum(lengths),
            "unknown_rate": 100 * split.unknown_rate(),
        }
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "split.json"
            write_split(path, split, self.corpus.held_out)
            content = digest([path.read_text(encoding="utf-8")])
            records = {key: self._record(f"{self.title} {name}", key, path, content, sizes) for key in models}
        found = {"sizes": sizes, "lengths": lengths, "models": records}
        self.splits[name] = found | {"comparisons": comparisons(records, lengths)}

    def _record(self, title: str, key: str, path: Path, content: str, sizes: Record) -> Record:
        model = MODELS[key]
        place = (f"{title} {key}", LAYOUT, content, model.settings(), sources_of(model.package))
        known = self.store.find(*place)
        if known and (known["status"] == DONE or known["cap"] >= self.cap):
            return known
        record = self._estimate(key, sizes)
        if record is None and self.cap == KEPT_ONLY:
            record = {"status": NOT_RUN, "seconds": None}
        if record is None:
            terminal.progress(f"{title}: {model.title} …")
            record = run_child(path, key, self.cap)
            self.store.keep(record, *place)
        return record if record["status"] == DONE else slow_cells().get(title, {}).get(key, record)

    def _estimate(self, key: str, sizes: Record) -> Record | None:
        """Seconds as on a smaller split, times tokens, times pairs of labels where training visits them."""
        for name, split in reversed(list(self.splits.items())):
            record = split["models"].get(key)
            if record is None or record["status"] == NOT_RUN:
                continue
            seconds = record["seconds"] if record["status"] in (DONE, KEPT) else record["cap"]
            ratio = _work(key, sizes) / _work(key, split["sizes"])
            if seconds * ratio <= self.cap:
                return None
            return {"status": NOT_RUN, "seconds": seconds * ratio, "scaled_from": name}
        return None


def run_child(split: Path, key: str, cap: int) -> Record:
    child: list[str | Path] = [sys.executable, "-m", "experiments.measure", split, key]
    try:
        finished = run(child, cap=cap, step="training and tagging", environment=ONE_THREAD)
    except CapError:
        return {"status": STOPPED, "cap": cap}
    return finished.json() | {"peak": finished.peak}


@cache
def slow_cells() -> dict[str, dict[str, Record]]:
    """What a run without a short limit has measured, by title and model; it says when."""
    found: dict[str, dict[str, Record]] = json.loads(SLOW_CELLS.read_text(encoding="utf-8"))
    return found


def keep_slow_cells(title: str, splits: Mapping[str, Record]) -> None:
    """What took longer than `CAP`, with today's date, beside what was kept before."""
    found = slow_cells()
    for name, split in splits.items():
        for key, of in split["models"].items():
            if of["status"] == STOPPED or (of["status"] == DONE and of["seconds"] > CAP):
                figures = {figure: of[figure] for figure in FIGURES if figure in of}
                status = KEPT if of["status"] == DONE else STOPPED
                dated = {"status": status, "date": date.today().isoformat(), **figures}
                found.setdefault(f"{title} {name}", {})[key] = dated
    write_json(SLOW_CELLS, found)


def _work(key: str, sizes: Record) -> float:
    return float(sizes["tokens"] * (sizes["labels"] ** 2 if MODELS[key].per_pair else 1))


def comparisons(records: Mapping[str, Record], lengths: list[int]) -> list[Record]:
    """Every pair of the models that were measured; `holm` is p of the bootstrap, all pairs at once."""
    systems = {key: outcomes_of(record, lengths) for key, record in done(records).items()}
    pairs = compare_all(systems) if len(systems) > 1 else {}
    adjusted = holm([found.accuracy.p for found in pairs.values()])
    return [
        {"a": a, "b": b, **found.to_json(), "holm": p}
        for ((a, b), found), p in zip(pairs.items(), adjusted, strict=True)
    ]


def done(records: Mapping[str, Record]) -> dict[str, Record]:
    """Those of this run: every answer is there, and they can be compared sentence by sentence."""
    return {key: record for key, record in records.items() if record["status"] == DONE}


def known(records: Mapping[str, Record]) -> dict[str, Record]:
    """Those that have figures, of this run or kept from another."""
    return {key: record for key, record in records.items() if record["status"] in (DONE, KEPT)}


def outcomes_of(record: Record, lengths: list[int]) -> Outcomes:
    spans = None if record["spans"] is None else unpack(record["spans"])
    return Outcomes(unpack(record["right"]), np.array(lengths, np.int64), spans)


def main() -> None:
    path, key = sys.argv[1:]
    split, held_out = read_split(Path(path))
    print(json.dumps(measure(MODELS[key], split, held_out)))


if __name__ == "__main__":
    terminal.run(main)
