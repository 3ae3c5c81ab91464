"""What the papers' tables are said to show, held against ours on Brown and CoNLL-2002."""

from __future__ import annotations

from collections.abc import Iterator

from experiments.claims.claim import Finding, claim, holds, holds_under, not_measured
from experiments.measure import known
from lab.store import Record

NER = "train/testb"
COMPETITIVE = 1.0  # points
ORDER = 10.0  # times


def cells(results: Record, experiment: str, *models: str) -> Iterator[tuple[str, list[Record]]]:
    """The splits on which all of these models have figures."""
    for name, split in results[experiment]["splits"].items():
        found = known(split["models"])
        if all(key in found for key in models):
            yield name, [found[key] for key in models]


def leads(results: Record, experiment: str, a: str, b: str, metric: str = "overall") -> dict[str, float]:
    """a − b, by split."""
    found = {name: (of_a[metric], of_b[metric]) for name, (of_a, of_b) in cells(results, experiment, a, b)}
    return {name: x - y for name, (x, y) in found.items() if x is not None and y is not None}


def said(of: dict[str, float]) -> str:
    return ", ".join(f"{name} {value:+.2f}" for name, value in of.items())


def leads_everywhere(results: Record, a: str, b: str, metric: str = "overall") -> dict[str, float]:
    """On the splits of Brown, and on CoNLL-2002."""
    return leads(results, "pos", a, b, metric) | leads(results, "ner", a, b, metric)


def first(results: Record, *models: str) -> str | None:
    """The first of these models that has a figure on the first split."""
    split = next(iter(results["pos"]["splits"].values()))
    return next((key for key in models if key in known(split["models"])), None)


@claim(
    "000 Tab. 2–6",
    "Empirical training is better than, or competitive to, standard training on overall accuracy and "
    "known words.",
    "pos",
)
def competitive_pos(results: Record) -> Finding:
    default, tuned = first(results, "crf", "crfsuite-1"), first(results, "crf-tuned", "crfsuite-0.1")
    if default is None or tuned is None:
        return not_measured("no CRF was measured within its time limit")
    over, under = (leads(results, "pos", "ep1", key) for key in (default, tuned))
    return holds_under(
        min(over.values()) > -COMPETITIVE, min(under.values()) > -COMPETITIVE,
        f"EP1 above the CRF with its tool's default penalty: {said(over)}; with a tuned one: "
        f"{said(under)} points",
    )  # fmt: skip


@claim("000 abstract", "Empirical training is competitive to piecewise training.", "pos")
def competitive_piecewise(results: Record) -> Finding:
    found = leads(results, "pos", "ep1", "pw")
    return (
        holds(min(found.values()) > -COMPETITIVE, f"EP1 above it by {said(found)}")
        if found
        else not_measured("piecewise training took too long")
    )


@claim(
    "000 abstract; 002; 003",
    "Empirical training reduces the training time radically (published: from weeks to seconds).",
    "pos",
)
def fast_training(results: Record) -> Finding:
    other = first(results, "crf-tuned", "crfsuite-0.1", "crf", "crfsuite-1")
    if other is None:
        return not_measured("no CRF was measured within its time limit")
    times = {name: b["seconds"] / a["seconds"] for name, (a, b) in cells(results, "pos", "ep1", other)}
    found = ", ".join(f"{name} {ratio:,.0f} times" for name, ratio in times.items())
    return holds(min(times.values()) >= ORDER, f"{other} takes as much longer than EP1: {found}")


@claim("000 §4.5", "With more training data the gap between EP and standard training gets smaller.", "pos")
def gap_closes(results: Record) -> Finding:
    for key in ("crf", "crfsuite-1", "crf-tuned"):
        found = leads(results, "pos", "ep1", key)
        if len(found) > 1:
            values = list(found.values())
            return holds(abs(values[-1]) < abs(values[0]), f"EP1 above {key}: {said(found)} points")
    return not_measured("a CRF has a figure on one split only: the others passed the time limit")


@claim("000 Tab. 2–7", "EP2 is at least as accurate as EP1.", "pos")
def ep2_above_ep1(results: Record) -> Finding:
    found = leads_everywhere(results, "ep2", "ep1")
    if not found:
        return not_measured("EP2 was not measured")
    return holds(min(found.values()) >= 0, f"EP2 above EP1: {said(found)} points")


@claim(
    "000 §4.6; 002 Tab. III, IV",
    "On unknown words standard training is better than empirical training.",
    "ner",
)
def unknown_words(results: Record) -> Finding:
    other = first(results, "crf-tuned", "crfsuite-0.1", "crf", "crfsuite-1") or "crf"
    found = leads_everywhere(results, other, "ep1", "unknown")
    return (
        holds(min(found.values()) > 0, f"{other} above EP1: {said(found)} points")
        if found
        else not_measured("no CRF within the time limit")
    )


@claim("000 §4.6; 002 Tab. IV", "On known words empirical training is better than standard training.", "ner")
def known_words(results: Record) -> Finding:
    other = first(results, "crf-tuned", "crfsuite-0.1", "crf", "crfsuite-1") or "crf"
    found = leads_everywhere(results, "ep1", other, "known")
    if not found:
        return not_measured("no CRF within the time limit")
    return holds_under(
        max(found.values()) > 0, min(found.values()) > 0, f"EP1 above {other}: {said(found)} points"
    )


@claim(
    "002 Tab. III, IV",
    "ECRN has the accuracy of EP1 or more (95.6 and 95.6 on Brown, 96.23 and 96.11 on CoNLL-2002).",
    "ner",
)
def ecrn_above_ep1(results: Record) -> Finding:
    found = leads_everywhere(results, "ecrn", "ep1")
    if not found:
        return not_measured("ECRN was not measured")
    return holds(min(found.values()) > -0.1, f"ECRN above EP1: {said(found)} points")


@claim("002 §III-D", "The pair factor that is printed, #(s, s′, o, o′), is the one to use.", "ner")
def printed_pair_factor(results: Record) -> Finding:
    """000 takes label pairs in its experiments; 002 prints word pairs. Which of them labels better?"""
    found = leads_everywhere(results, "ecrn-word", "ecrn")
    if not found:
        return not_measured("word pairs were not measured")
    return holds_under(
        max(found.values()) > 0,
        min(found.values()) > 0,
        f"ECRN with word pairs above label pairs: {said(found)} points",
    )


@claim("003, (ii)", "Separate training is faster than standard and piecewise training.", "pos")
def separate_is_fast(results: Record) -> Finding:
    other = [key for key in ("crf-tuned", "pw", "crf") if next(cells(results, "pos", "separate", key), None)]
    if not other:
        return not_measured("neither was measured within its time limit")
    ratios = {
        f"{key} {name}": b["seconds"] / a["seconds"]
        for key in other
        for name, (a, b) in cells(results, "pos", "separate", key)
    }
    by_words = [
        b["seconds"] / a["seconds"]
        for key in other
        for _, (a, b) in cells(results, "pos", "separate-word", key)
    ]
    found = "with label pairs they take " + ", ".join(
        f"{of:.1f} times as long ({name})" for name, of in ratios.items()
    )
    slow = (
        f"; with word pairs {min(by_words):.2f} times"
        if by_words
        else "; with word pairs it passed the time limit"
    )
    return holds_under(min(ratios.values()) > 1, bool(by_words) and min(by_words) > 1, found + slow)


@claim("003, (iii)", "Separate training is competitive to standard and piecewise training.", "pos")
def separate_is_accurate(results: Record) -> Finding:
    found = {
        f"{key} {name}": lead
        for key in ("crf-tuned", "pw")
        for name, lead in leads(results, "pos", "separate", key).items()
    }
    return (
        holds(min(found.values()) > -COMPETITIVE, f"Separate above {said(found)} points")
        if found
        else not_measured("neither within the time limit")
    )


@claim(
    "003",
    "Estimating the factors by frequencies is normally less accurate than separate training, and faster.",
    "pos",
)
def frequencies_are_quick(results: Record) -> Finding:
    found = leads_everywhere(results, "ep1", "separate")
    if not found:
        return not_measured("separate training was not measured")
    times = [b["seconds"] / a["seconds"] for _, (a, b) in cells(results, "pos", "ep1", "separate")]
    return holds_under(
        min(found.values()) < 0 and min(times) > 1, max(found.values()) < 0,
        f"EP1 above Separate: {said(found)} points; Separate takes {min(times):.0f} to {max(times):.0f} "
        "times as long",
    )  # fmt: skip


@claim(
    "003, NER",
    "Sentences of one word may be left out (MALLET cannot decode them): figures stay.",
    "ner_longer",
)
def one_word_sentences(results: Record) -> Finding:
    longer, whole = (known(results[name]["splits"][NER]["models"]) for name in ("ner_longer", "ner"))
    away = {key: longer[key]["overall"] - whole[key]["overall"] for key in longer if key in whole}
    return holds(max(map(abs, away.values())) < 0.2, f"without them accuracy changes by {said(away)} points")


@claim("000 Tab. 2–7", "The figures: EP1's overall accuracy, within a point of what is printed.", "pos")
def printed_accuracies(results: Record) -> Finding:
    away = {}
    for experiment in ("pos", "pos_order", "ner"):
        for name, split in results[experiment]["splits"].items():
            ours = known(split["models"])["ep1"]["overall"]
            away[f"{experiment} {name}"] = ours - split["published"]["EP1"]["overall"]
    near = [abs(of) < 1 for of in away.values()]
    return holds_under(
        any(near),
        all(near),
        f"EP1 here above the printed one: {said(away)}: another sample of Brown, with other unknown words",
    )
