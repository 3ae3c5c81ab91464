"""The papers' tables as data, so that every experiment shows them beside its own figures.

Accuracies are in percent, times are training times in seconds. `known` and `unknown` are the papers' non-OOVs
and OOVs: words that training saw, and words that it did not.
"""

from __future__ import annotations

from dataclasses import dataclass

PAPERS = {
    "000": "Zhu et al., Closed Form Maximum Likelihood Estimator of Conditional Random Fields",
    "002": "Zhu et al., Empirical Co-occurrence Rate Networks for Sequence Labeling, ICMLA 2013",
}


@dataclass(frozen=True)
class PublishedTable:
    """`rows[metric][k]` is the figure of `methods[k]`, with the decimals that the paper prints."""

    paper: str
    number: str
    methods: tuple[str, ...]
    rows: dict[str, tuple[float, ...]]

    @property
    def source(self) -> str:
        return f"{self.paper} {self.number}"

    def column(self, method: str) -> dict[str, float]:
        k = self.methods.index(method)
        return {metric: figures[k] for metric, figures in self.rows.items()}


def implied_unknown_rate(column: dict[str, float]) -> float:
    """The share r of unknown words, in percent, from overall = (1 − r) known + r unknown."""
    return 100 * (column["known"] - column["overall"]) / (column["known"] - column["unknown"])


LABEL_BIAS = (
    PublishedTable(
        "000", "Tab. 1", ("EP1", "EP2", "CRF++", "PW", "MEMM"), {"overall": (95.8, 95.9, 95.9, 96.0, 66.6)}
    ),
    PublishedTable("002", "Tab. II", ("ECRN", "CRF++", "PW", "MEMM"), {"overall": (95.8, 95.9, 96.0, 66.6)}),
)

_EP_AND_RIVALS = ("EP1", "EP2", "CRF++", "PW")
_ECRN_AND_RIVAL = ("CRF++", "ECRN")

POS = {
    "1000/4000": (
        PublishedTable(
            "000",
            "Tab. 2",
            _EP_AND_RIVALS,
            {
                "overall": (86.7, 86.8, 82.6, 69.4),
                "known": (94.9, 94.9, 89.7, 75.3),
                "unknown": (55.9, 56.3, 56.2, 47.5),
                "seconds": (0.4, 4, 7_177, 30_705),
            },
        ),
    ),
    "2500/2500": (
        PublishedTable(
            "000",
            "Tab. 3",
            _EP_AND_RIVALS,
            {
                "overall": (90.0, 90.2, 87.6, 75.5),
                "known": (95.5, 95.6, 92.6, 80.0),
                "unknown": (58.2, 58.6, 58.8, 49.5),
                "seconds": (0.6, 13, 33_853, 66_258),
            },
        ),
    ),
    "4000/1000": (
        PublishedTable(
            "000",
            "Tab. 4",
            _EP_AND_RIVALS,
            {
                "overall": (91.7, 91.9, 90.1, 79.25),
                "known": (96.1, 96.2, 94.0, 83.0),
                "unknown": (60.5, 61.4, 62.1, 52.5),
                "seconds": (0.9, 24, 70_298, 138_406),
            },
        ),
    ),
    "17311/16312": (
        PublishedTable(
            "000",
            "Tab. 5",
            _EP_AND_RIVALS,
            {
                "overall": (94.18, 94.2, 93.2, 78.9),
                "known": (96.4, 96.4, 95.3, 80.8),
                "unknown": (60.8, 61.0, 62.3, 50.4),
                "seconds": (2.2, 125, 1_064_385, 1_946_706),
            },
        ),
    ),
    "32623/1000": (
        PublishedTable(
            "000",
            "Tab. 6",
            _EP_AND_RIVALS,
            {
                "overall": (95.6, 95.6, 95.4, 82.9),
                "known": (96.9, 96.8, 96.1, 84.0),
                "unknown": (70.1, 70.4, 71.7, 59.9),
                "seconds": (3.9, 294.9, 4_571_807, 3_791_648),
            },
        ),
        PublishedTable(
            "002",
            "Tab. III",
            _ECRN_AND_RIVAL,
            {
                "overall": (95.4, 95.6),
                "known": (96.1, 96.9),
                "unknown": (71.7, 70.5),
                "seconds": (4_571_807, 3.9),
            },
        ),
    ),
}

NER = (
    PublishedTable(
        "000",
        "Tab. 7",
        _EP_AND_RIVALS,
        {
            "overall": (96.11, 96.14, 96.13, 94.4),
            "known": (98.8, 98.8, 98.2, 97.2),
            "unknown": (72.6, 72.7, 77.4, 69.6),
            "seconds": (1.6, 53, 794, 4_617),
        },
    ),
    PublishedTable(
        "002",
        "Tab. IV",
        _ECRN_AND_RIVAL,
        {"overall": (96.13, 96.23), "known": (98.2, 98.8), "unknown": (77.4, 73.7), "seconds": (794, 1.3)},
    ),
)

# 000 §3.4.3, §4.2, §4.3: what CRF++ printed as its objective when started at ep or at ttp, and the scores of
# labels of [b, c] under ttp, worked out in the text.
TEST_TIME_OBJECTIVE = 2.50202
TTP_SCORES = {"00": 1.25, "11": 5.0}
