"""The page of all results: what report.html shows, and what it says of them in figures."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

from markupsafe import Markup

from experiments import label_bias, parameterizations, pictures, structures, test_time_problem, theorem
from experiments.claims import verdicts
from experiments.measure import done, known
from experiments.models import MODELS, title_of
from experiments.published import PAPERS as TEXTS
from experiments.tagging_table import PAPERS, across_table, duration, row_of, split_table
from lab.pictures import COLOURS
from lab.store import Record
from lab.tables import Cell, Table, figure, pointer_to, value_at
from lab.templates import template

TEMPLATE = Path(__file__).with_name("report.html")
FIRST = "1000/4000"
HERO = ("ep1", "ecrn", "separate", "tagger-fixed", "tagger", "tnt", "crf-tuned", "crfsuite-0.1", "pw", "hmm")
REFERENCE = "ep1"
SIMULATED = (label_bias, test_time_problem, parameterizations, theorem)
TRAINED_SLOWLY = ("crfsuite-0.1", "crfsuite-1")  # the first that was measured stands for an optimiser
SURE = 0.05
GLYPHS = {"o": "●", "o°": "○", "D": "◆", "D°": "◇", "s": "■", "^": "▲", "v": "▼", "s°": "□"}
# Why an order of two methods may differ from the papers'.
REASONS = {
    frozenset(("EP1", "ECRN")): "they differ at unknown words only, where ours have spelling features that "
    "fire or are absent; the papers do not say how theirs count"
}


class Page:
    """The tables and pictures of one set of results."""

    def __init__(self, results: Record) -> None:
        self.results = results

    def models(self) -> Table:
        """A legend for all pictures; only of models that this run has."""
        shown = set(self.results["label_bias"]["models"])
        for experiment in ("pos", "ner"):
            shown.update(*(split["models"] for split in self.results[experiment]["splits"].values()))
        rows = [
            (model.title, [Cell(model.says, note="words"), Cell(model.papers or "–")])
            for key, model in MODELS.items()
            if key in shown
        ]
        return Table("What is compared", ["model", "what it is", "in the papers"], rows)

    def machine(self) -> Table:
        on = self.results["machine"]
        rows = [(name, [Cell(what, pointer_to("machine", name))]) for name, what in on.items()]
        return Table("The machine and the versions", ["what", "which"], rows)

    def tagging(self, experiment: str) -> list[dict[str, Any]]:
        """Of every split of a corpus what a section shows."""
        found = self.results[experiment]
        parts = []
        for name, split in found["splits"].items():
            panels = [("Accuracy", "accuracy")]
            panels += [("F1", "f1")] if any(pair["f1"] for pair in split["comparisons"]) else []
            leads = [
                pictures.differences(f"{what}: points above or below EP1", split, REFERENCE, metric)
                for what, metric in panels
            ]
            title = f"{found['title']} {name}"
            pairs = pair_table(found, "splits", name, title=title)
            table = split_table(found, name)
            parts.append(
                {"title": title, "sizes": split["sizes"], "leads": leads, "table": table, "pairs": pairs}
            )
        return parts

    def accuracies(self) -> list[str]:
        """Of every split, measured and published, where there are several."""
        splits = self.results["pos"]["splits"]
        sizes = {name: split["sizes"]["tokens"] for name, split in splits.items()}
        measured: dict[str, dict[str, float]] = {}
        published: dict[str, dict[str, float]] = {}
        for name, split in splits.items():
            for key, of in known(split["models"]).items():
                measured.setdefault(key, {})[name] = of["overall"]
            for method, figures in split["published"].items():
                published.setdefault(row_of(method), {})[name] = figures["overall"]
        series = {"Measured here, %": measured, "Published, %": published}
        return [pictures.accuracy_by_split(title, of, sizes) for title, of in series.items()]

    def times(self) -> list[str]:
        splits = self.results["pos"]["splits"]
        together = list(splits.values())
        return [pictures.times(f"Training time, Brown {name}", of, together) for name, of in splits.items()]


def pair_table(found: Record, *base: str, title: str) -> Table:
    """All pairs: the lead in points, its interval, p of the bootstrap alone and with all, McNemar's."""
    pairs = value_at(found, pointer_to(*base, "comparisons"))
    rows = []
    for i, pair in enumerate(pairs):
        place = (*base, "comparisons", i)
        cells = _lead(found, place, "accuracy", pair)
        cells.append(figure(found, p_value, *place, "holm", note="sure" if pair["holm"] < SURE else ""))
        cells += [figure(found, "{:,}", *place, name) for name in ("only_a", "only_b")]
        cells.append(figure(found, p_value, *place, "mcnemar"))
        cells += _lead(found, place, "f1", pair) if pair["f1"] else []
        rows.append((f"{title_of(pair['a'])} − {title_of(pair['b'])}", cells))
    heads = ["a − b", "points", "95 % interval", "p, sentences", "p, all pairs"]
    heads += ["only a right", "only b", "p, McNemar"]
    heads += ["F1 points", "95 % interval", "p, sentences"] if any(pair["f1"] for pair in pairs) else []
    return Table(f"{title}: every pair", heads, rows)


def _lead(found: Record, place: Sequence[object], metric: str, pair: Record) -> list[Cell]:
    low, high = (f"{100 * pair[metric][end]:+.2f}" for end in ("low", "high"))
    return [
        figure(found, lambda value: f"{100 * value:+.2f}", *place, metric, "lead"),
        figure(found, lambda _: f"{low} to {high}", *place, metric, "low"),
        figure(found, p_value, *place, metric, "p"),
    ]


def p_value(p: float) -> str:
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def inversions(name: str, split: Record) -> Iterator[str]:
    """Where two methods stand in another order than published, and whether that is more than chance."""
    found, theirs = done(split["models"]), split["published"]
    pairs = {frozenset((pair["a"], pair["b"])): pair for pair in split["comparisons"]}
    for first, second in combinations([m for m in theirs if PAPERS.get(m) in found], 2):
        a, b = PAPERS[first], PAPERS[second]
        published = theirs[first]["overall"] - theirs[second]["overall"]
        if published * (found[a]["overall"] - found[b]["overall"]) >= 0:
            continue
        p = pairs[frozenset((a, b))]["holm"]
        reason = REASONS.get(frozenset((first, second)), "")
        said = ", ".join(f"{method} {theirs[method]['overall']}" for method in (first, second))
        here = ", ".join(f"{title_of(key)} {found[key]['overall']:.2f}" for key in (a, b))
        chance = f"{'' if p < SURE else 'not '}more than chance, p = {p_value(p)}"
        yield f"{name}: published {said}; here {here} ({chance}){': ' + reason if reason else ''}."


def swatch(title: str) -> Markup:
    """The mark of a model before its title."""
    model = next((model for model in MODELS.values() if model.title == title), None)
    mark = Markup('<span class="swatch" style="color: var(--{})" aria-hidden="true">{}</span>')
    return mark.format(model.colour, GLYPHS[model.mark]) if model else Markup("")


def render(results: Record) -> str:
    first = results["pos"]["splits"][FIRST]
    found = done(first["models"])

    def order(experiment: str) -> Iterable[str]:
        splits = results[experiment]["splits"].items()
        return [line for name, split in splits for line in inversions(name, split)]

    page = template(TEMPLATE, thousands="{:,}".format, duration=duration, title_of=title_of)
    return page.render(
        page=Page(results),
        results=results,
        pictures=pictures,
        colours=COLOURS,
        swatch=swatch,
        order=order,
        hero=HERO,
        first=first,
        first_name=FIRST,
        found=found,
        slow=next((key for key in TRAINED_SLOWLY if key in found), None),
        best=max(found, key=lambda key: found[key]["overall"]),
        rib_rob={title_of(key): of for key, of in results["label_bias"]["rib_rob"].items()},
        maxima={
            test_time_problem.POINTS[key]: point["probabilities"]
            for key, point in results["test_time_problem"]["points"].items()
        },
        pair_table=pair_table,
        across_table=across_table,
        structures=structures,
        claims=verdicts.table(results["claims"]),
        counts=results["claims"]["counts"],
        texts=TEXTS,
        tables={of.__name__.rpartition(".")[2]: of.tables for of in SIMULATED},
    )
