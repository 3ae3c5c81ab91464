"""The benchmark's report from made-up figures: whole tables, verdicts, a picture that is the same again."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from benchmarks import parts, tables, tagging, targets
from benchmarks.studies import LabelSpeed
from benchmarks.systems import CORATES, FITTED, FIXED, SYSTEMS, Files, Result
from benchmarks.tables import Section
from lab.children import CapError
from lab.rows import read_rows, write_rows

SIZES = {"train_sentences": 32_623, "train_tokens": 680_271, "labels": 249, "test_tokens": 20_784}
ALL_FIGURES = [*tables.ROWS, "train_work", "stopped"]


def result(title: str) -> Result:
    """Every tagger twice as good and as slow as the one before; NLTK's perceptron was stopped by the cap."""
    rounds = {
        name: [{key: times * 2.0**i for key in ALL_FIGURES if key != "stopped"} for times in (1.0, 1.5)]
        for i, name in enumerate(SYSTEMS)
        if name != "perceptron"
    }
    rounds["crfsuite-lafferty"][0]["stopped"] = rounds["crfsuite-lafferty"][1]["stopped"] = 3.0
    return Result(title, Files(Path("folder"), SIZES), rounds, {"perceptron": CapError("training", 300)})


BINS = [{"n": 10 * i, "probability": i / 10 + 0.05, "right": i / 10 + 0.04} for i in range(10)]
SECTIONS = {
    "split": lambda: tables.split_section(result(targets.BROWN)),
    "accuracy": lambda: tables.accuracy_section(
        {title: {of.name: {"accuracy": 97.4, "f1": 79.0} for of in CORATES} for title in targets.FLOORS}
    ),
    "start-up": lambda: tables.start_section(
        targets.BROWN, {name: [100.0, 200.0] for name in ("python", "help", "one", "one_fitted", "tnt")}
    ),
    "scaling": lambda: tables.scaling_section(
        targets.BROWN,
        {
            n: {FIXED.name: {"cpu": n, "peak": 9.0}, FITTED.name: {"cpu": n + 4.0, "peak": 9.0}}
            for n in (1, 8)
        },
    ),
    "labels": lambda: tables.label_section(
        targets.BROWN,
        [
            LabelSpeed({"labels": n, "labels_a_word": 1.7, "test_tokens": 9}, 1e6 / n, None, None)
            for n in (10, 997)
        ],
    ),
    "calibration": lambda: tables.calibration_section({"Dutch": {FIXED.name: BINS, FITTED.name: BINS}}),
}


@pytest.mark.parametrize("name", SECTIONS)
def test_sections_have_whole_tables(name: str) -> None:
    text = SECTIONS[name]().markdown()
    assert text.startswith("## ")
    assert text.endswith("|\n")
    found = [block.splitlines() for block in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE)]
    assert found
    for lines in found:
        assert set(lines[1]) <= set("| -:")
        assert len({line.count("|") for line in lines}) == 1, lines
        assert len(lines) > 2


def test_what_is_missed_and_what_was_stopped_is_said() -> None:
    section: Section = SECTIONS["split"]()
    text = section.markdown()
    assert "- NLTK perceptron: training not done after 300 s of CPU\n" in text
    assert "- † CRFsuite Lafferty: stopped after iteration 3, " in text
    assert "| entity F1, % | 1.25 | 2.50 | 5.00 | 10.00 | 20.00 | 80.00 | 160.00 † |\n" in text
    missed = [verdict.title for verdict in section.verdicts if verdict.met is False]
    summary = tables.summary(section.verdicts)
    assert missed
    assert all(title in summary for title in missed)
    assert tables.summary([]) == ""
    assert tables.header(["python", "-m", "x"], 2, 1.25).endswith("- `python -m x`\n")


def test_the_picture_is_the_same_again_and_leaves_out_who_was_stopped() -> None:
    results = [result(targets.BROWN), result(targets.DUTCH)]
    text = tagging.picture(results)
    assert tagging.picture(results) == text
    ElementTree.fromstring(text)
    assert text.count("CRFsuite rich") == 2
    assert "CRFsuite Lafferty" not in text


@pytest.mark.parametrize(("number", "labels"), [("10", {"N", "V"}), ("250", {"NN", "NP", "VB"})])
def test_coarser_labels(tmp_path: Path, number: str, labels: set[str]) -> None:
    """Of the test part only sentences of known words stay."""
    train, test = tmp_path / "brown.conll", tmp_path / "test.conll"
    write_rows(train, [[["dog", "NN"], ["Anna", "NP"]], [["barks", "VB"]]])
    write_rows(test, [[["dog", "NN"], ["barks", "VB"]], [["cat", "NN"]]])
    sizes = parts.relabel(str(train), str(test), number, str(tmp_path))
    assert sizes == {"train_tokens": 3, "labels": len(labels), "test_tokens": 2, "labels_a_word": 1.0}
    assert {row[1] for rows in read_rows(tmp_path / "train.conll") for row in rows} == labels
    assert read_rows(tmp_path / "words.conll") == [[["dog"], ["barks"]]]
