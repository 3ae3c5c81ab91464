"""The papers' tables as data, so that every experiment shows them beside its own figures.

Accuracies are in percent, times are training times in seconds. `known` and `unknown` are the papers' non-OOVs
and OOVs: words that training saw, and words that it did not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

PAPERS = {
    "000": "Zhu et al., Closed Form Maximum Likelihood Estimator of Conditional Random Fields",
    "002": "Zhu et al., Empirical Co-occurrence Rate Networks for Sequence Labeling, ICMLA 2013",
}
METRICS = ("overall", "known", "unknown", "seconds")


@dataclass(frozen=True)
class PublishedTable:
    """Of each method the figures in the order of `METRICS`, with the decimals that the paper prints."""

    source: str
    rows: Mapping[str, tuple[float, ...]]

    def column(self, method: str) -> dict[str, float]:
        return dict(zip(METRICS, self.rows[method], strict=False))


def figures_of(tables: Sequence[PublishedTable]) -> dict[str, dict[str, Any]]:
    """By method; 002 repeats CRF++'s figures of 000."""
    found: dict[str, dict[str, Any]] = {}
    for table in tables:
        for method in table.rows:
            found.setdefault(method, {"source": table.source, **table.column(method)})
    return found


def implied_unknown_rate(column: dict[str, float]) -> float:
    """The share r of unknown words, in percent, from overall = (1 − r) known + r unknown."""
    return 100 * (column["known"] - column["overall"]) / (column["known"] - column["unknown"])


def print_notes(notes: str, papers: Sequence[str] = tuple(PAPERS)) -> None:
    """What a reader must know, and which papers the column heads name."""
    print(notes.strip("\n"))
    for paper in papers:
        print(f"{paper}: {PAPERS[paper]}.")


LABEL_BIAS = (
    PublishedTable(
        "000 Tab. 1", {"EP1": (95.8,), "EP2": (95.9,), "CRF++": (95.9,), "PW": (96.0,), "MEMM": (66.6,)}
    ),
    PublishedTable("002 Tab. II", {"ECRN": (95.8,), "CRF++": (95.9,), "PW": (96.0,), "MEMM": (66.6,)}),
)

_TABLE_2 = {
    "EP1": (86.7, 94.9, 55.9, 0.4),
    "EP2": (86.8, 94.9, 56.3, 4),
    "CRF++": (82.6, 89.7, 56.2, 7_177),
    "PW": (69.4, 75.3, 47.5, 30_705),
}
_TABLE_3 = {
    "EP1": (90.0, 95.5, 58.2, 0.6),
    "EP2": (90.2, 95.6, 58.6, 13),
    "CRF++": (87.6, 92.6, 58.8, 33_853),
    "PW": (75.5, 80.0, 49.5, 66_258),
}
_TABLE_4 = {
    "EP1": (91.7, 96.1, 60.5, 0.9),
    "EP2": (91.9, 96.2, 61.4, 24),
    "CRF++": (90.1, 94.0, 62.1, 70_298),
    "PW": (79.25, 83.0, 52.5, 138_406),
}
_TABLE_5 = {
    "EP1": (94.18, 96.4, 60.8, 2.2),
    "EP2": (94.2, 96.4, 61.0, 125),
    "CRF++": (93.2, 95.3, 62.3, 1_064_385),
    "PW": (78.9, 80.8, 50.4, 1_946_706),
}
_TABLE_6 = {
    "EP1": (95.6, 96.9, 70.1, 3.9),
    "EP2": (95.6, 96.8, 70.4, 294.9),
    "CRF++": (95.4, 96.1, 71.7, 4_571_807),
    "PW": (82.9, 84.0, 59.9, 3_791_648),
}
_TABLE_7 = {
    "EP1": (96.11, 98.8, 72.6, 1.6),
    "EP2": (96.14, 98.8, 72.7, 53),
    "CRF++": (96.13, 98.2, 77.4, 794),
    "PW": (94.4, 97.2, 69.6, 4_617),
}
_TABLE_III = {"CRF++": (95.4, 96.1, 71.7, 4_571_807), "ECRN": (95.6, 96.9, 70.5, 3.9)}
_TABLE_IV = {"CRF++": (96.13, 98.2, 77.4, 794), "ECRN": (96.23, 98.8, 73.7, 1.3)}

POS = {
    "1000/4000": (PublishedTable("000 Tab. 2", _TABLE_2),),
    "2500/2500": (PublishedTable("000 Tab. 3", _TABLE_3),),
    "4000/1000": (PublishedTable("000 Tab. 4", _TABLE_4),),
    "17311/16312": (PublishedTable("000 Tab. 5", _TABLE_5),),
    "32623/1000": (PublishedTable("000 Tab. 6", _TABLE_6), PublishedTable("002 Tab. III", _TABLE_III)),
}
NER = (PublishedTable("000 Tab. 7", _TABLE_7), PublishedTable("002 Tab. IV", _TABLE_IV))

# 000 §3.4.3, §4.2, §4.3: what CRF++ printed as its objective when started at ep or at ttp, and the scores of
# labels of [b, c] under ttp, worked out in the text.
TEST_TIME_OBJECTIVE = 2.50202
TTP_SCORES = {"00": 1.25, "11": 5.0}
