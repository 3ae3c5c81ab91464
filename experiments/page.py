"""The page of all results: tables whose cells say where their figures come from, for report.html to show."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from experiments import label_bias, parameterizations, pictures
from experiments import test_time_problem as ttp
from experiments.measure import DONE, done
from experiments.models import MODELS, title_of
from experiments.tagging_table import METRICS, PAPERS, duration, ours_of, row_of
from experiments.tagging_table import figure as number
from lab.pictures import COLOURS
from lab.store import Record

TEMPLATE = "report.html"
FIRST = "1000/4000"
HERO = ("ep1", "ecrn", "tagger-fixed", "tagger", "tnt", "crf", "crf-tuned", "crfsuite-0.1", "pw", "hmm")
REFERENCE = "ep1"
TRAINED_SLOWLY = ("crfsuite-0.1", "crfsuite-1")  # the first that was measured stands for an optimiser
SURE = 0.05
GLYPHS = {"o": "●", "o°": "○", "D": "◆", "D°": "◇", "s": "■", "^": "▲", "v": "▼"}
POINTS = {
    "ep": "ep: counted",
    "ttp": "ttp",
    "zero": "CRF from 0",
    "at-ep": "CRF from ep",
    "at-ttp": "CRF from ttp",
}
# Why an order of two methods may differ from the papers'.
REASONS = {
    frozenset(("EP1", "ECRN")): "they differ at unknown words only, where ours have spelling features that "
    "fire or are absent; the papers do not say how theirs count"
}


@dataclass(frozen=True)
class Cell:
    """What a cell shows, where in the results its figure is (a JSON pointer), and a class of the styles."""

    text: str = "–"
    pointer: str = ""
    note: str = ""


EMPTY = Cell()
Row = tuple[str, Sequence[Cell]]  # the key of a model, or a title; and what stands beside it


@dataclass(frozen=True)
class Table:
    """The first head is that of the row titles; `groups` stand above others, each over so many."""

    caption: str
    heads: Sequence[str]
    rows: Sequence[Row]
    groups: Sequence[tuple[str, int]] = field(default_factory=list)


def value_at(results: Record, pointer: str) -> Any:
    """The value at a JSON pointer (RFC 6901)."""
    found: Any = results
    for part in pointer.split("/")[1:]:
        name = part.replace("~1", "/").replace("~0", "~")
        found = found[int(name)] if isinstance(found, list) else found[name]
    return found


def pointer_to(*parts: object) -> str:
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in parts)


class Page:
    """The tables and pictures of one set of results."""

    def __init__(self, results: Record) -> None:
        self.results = results

    def cell(self, form: str | Callable[[Any], str], *parts: object, note: str = "") -> Cell:
        """A figure of the results, or – where there is none."""
        place = pointer_to(*parts)
        try:
            value = value_at(self.results, place)
        except KeyError:
            value = None
        if value is None:
            return EMPTY
        return Cell(form.format(value) if isinstance(form, str) else form(value), place, note)

    # The models and the machine

    def models(self) -> Table:
        """A legend for all pictures; only of models that this run has."""
        shown = set(self.results["label_bias"]["models"])
        for experiment in ("pos", "ner"):
            shown.update(*(split["models"] for split in self.results[experiment]["splits"].values()))
        rows = [
            (key, [Cell(model.says, note="words"), Cell(model.papers or "–")])
            for key, model in MODELS.items()
            if key in shown
        ]
        return Table("What is compared", ["model", "what it is", "in the papers"], rows)

    def machine(self) -> Table:
        names = self.results["machine"]
        rows = [(name, [self.cell("{}", "machine", name)]) for name in names]
        return Table("The machine and the versions", ["what", "which"], rows)

    # Brown and CoNLL-2002

    def tagging(self, experiment: str) -> list[dict[str, Any]]:
        """Of every split what a section shows."""
        found = self.results[experiment]
        parts = []
        for name, split in found["splits"].items():
            title = f"{found['title']} {name}"
            panels = [("Accuracy", "accuracy")]
            panels += [("F1", "f1")] if any(pair["f1"] for pair in split["comparisons"]) else []
            leads = [
                pictures.differences(f"{what}: points above or below EP1", split, REFERENCE, metric)
                for what, metric in panels
            ]
            table = self.split_table(experiment, name, title)
            pairs = self.pair_table(experiment, "splits", name, title=title)
            parts.append(
                {"title": title, "sizes": split["sizes"], "leads": leads, "table": table, "pairs": pairs}
            )
        return parts

    def split_table(self, experiment: str, name: str, title: str) -> Table:
        base = (experiment, "splits", name)
        split = self.results[experiment]["splits"][name]
        methods = {row_of(method): method for method in split["published"]}
        ours = {m: any(of[m] is not None for of in done(split["models"]).values()) for m in METRICS}
        theirs = {m: any(m in of for of in split["published"].values()) for m in METRICS}
        rows = []
        for key in [*split["models"], *(key for key in methods if key not in split["models"])]:
            cells = []
            for metric in METRICS:
                cells += [self._ours(base, key, metric)] if ours[metric] else []
                place = (*base, "published", methods.get(key, ""), metric)
                cells += [self.cell("{:,}", *place, note="published")] if theirs[metric] else []
            rows.append((key, cells))
        heads = [head for m in METRICS for head, has in (("here", ours[m]), ("publ.", theirs[m])) if has]
        groups = [(title, n) for m, title in METRICS.items() if (n := ours[m] + theirs[m])]
        source = ", ".join(dict.fromkeys(of["source"] for of in split["published"].values()))
        return Table(f"{title}, %; published: {source}", ["model", *heads], rows, groups)

    def _ours(self, base: tuple[str, ...], key: str, metric: str) -> Cell:
        models = value_at(self.results, pointer_to(*base, "models"))
        record = models.get(key)
        if record is None:
            return EMPTY
        if record["status"] != DONE:
            reason = ours_of(record, metric)
            return Cell(reason, note="reason") if reason else EMPTY
        rates = [of[metric] for of in done(models).values() if of[metric] is not None]
        is_best = rates and record[metric] == (min(rates) if metric == "seconds" else max(rates))
        note = "best" if is_best else ""
        return self.cell(lambda value: number(metric, value), *base, "models", key, metric, note=note)

    def pair_table(self, *base: str, title: str) -> Table:
        """All pairs: the lead in points, its interval, p of the bootstrap alone and with all, McNemar's."""
        pairs = value_at(self.results, pointer_to(*base, "comparisons"))
        heads = ["points", "95 % interval", "p, sentences"]
        more = ["p, all pairs", "only a right", "only b", "p, McNemar"]
        rows = []
        for i, pair in enumerate(pairs):
            place = (*base, "comparisons", i)
            sure = "sure" if pair["holm"] < SURE else ""
            cells = [*self._lead(place, "accuracy", pair), self.cell(p_value, *place, "holm", note=sure)]
            cells += [self.cell("{:,}", *place, name) for name in ("only_a", "only_b")]
            cells += [self.cell(p_value, *place, "mcnemar")]
            cells += self._lead(place, "f1", pair) if pair["f1"] else []
            rows.append((f"{title_of(pair['a'])} − {title_of(pair['b'])}", cells))
        f1 = ["F1 points", *heads[1:]] if any(pair["f1"] for pair in pairs) else []
        return Table(f"{title}: every pair", ["a − b", *heads, *more, *f1], rows)

    def _lead(self, place: Sequence[object], metric: str, pair: Record) -> list[Cell]:
        interval = f"{100 * pair[metric]['low']:+.2f} to {100 * pair[metric]['high']:+.2f}"
        return [
            self.cell(lambda value: f"{100 * value:+.2f}", *place, metric, "lead"),
            Cell(interval, pointer_to(*place, metric, "low")),
            self.cell(p_value, *place, metric, "p"),
        ]

    def accuracies(self) -> list[str]:
        """Of every split, measured and published, where there are several."""
        splits = self.results["pos"]["splits"]
        sizes = {name: split["sizes"]["tokens"] for name, split in splits.items()}
        measured: dict[str, dict[str, float]] = {}
        published: dict[str, dict[str, float]] = {}
        for name, split in splits.items():
            for key, of in done(split["models"]).items():
                measured.setdefault(key, {})[name] = of["overall"]
            for method, figures in split["published"].items():
                published.setdefault(row_of(method), {})[name] = figures["overall"]
        series = {"Measured here, %": measured, "Published, %": published}
        return [pictures.accuracy_by_split(title, of, sizes) for title, of in series.items()]

    def times(self) -> list[str]:
        splits = self.results["pos"]["splits"]
        together = list(splits.values())
        return [pictures.times(f"Training time, Brown {name}", of, together) for name, of in splits.items()]

    # Data that the experiments make themselves

    def label_bias(self) -> Table:
        found = self.results["label_bias"]
        methods = {label_bias.ROWS.get(method, method): method for method in found["published"]}
        rows = []
        for key in [*found["models"], *(key for key in methods if key not in found["models"])]:
            cells = [self.cell("{:.2f}", "label_bias", "models", key, m) for m in ("overall", "deviation")]
            theirs = ("label_bias", "published", methods.get(key, ""), "overall")
            cells.append(self.cell("{:.1f}", *theirs, note="published"))
            cells += [self.cell("{:.4f}", "label_bias", "rib_rob", key, y) for y in label_bias.ANSWERS]
            rows.append((key, cells))
        heads = ["model", "here, mean", "s.d. of a round", "publ., mean"]
        heads += [f"p({y} | rob)" for y in label_bias.ANSWERS]
        what = "Label bias: right labels in %, and the example rib/rob; published: 000 Tab. 1, 002 Tab. II"
        return Table(what, heads, rows)

    def test_time(self) -> Table:
        found = self.results["test_time_problem"]
        rows = []
        for name, point in found["points"].items():
            base, place = (("test_time_problem", of, name) for of in ("points", "published"))
            theirs = found["published"][name]["prediction"]
            cells = [
                self.cell("{:.5f}", *base, "objective"),
                self.cell("{:.5f}", *place, "objective", note="published"),
                *(self.cell("{:.1e}", *base, f"{what}_deviation") for what in ("unary", "pair")),
                *(self.cell("{:.4f}", *base, "probabilities", y) for y in ("00", "11")),
                Cell(ttp.as_list(point["prediction"])),
                Cell(ttp.as_list(theirs), note="published"),
            ]
            rows.append((POINTS[name], cells))
        misses = [f"eqn {equation} misses by" for equation in (16, 17)]
        heads = ["parameters", "−log likelihood", "publ.", *misses, "p([0,0])", "p([1,1])", "says", "publ."]
        what = "Maxima of the likelihood (the optimum is 2.502012; 2.50202 is what CRF++ printed)"
        return Table(what, heads, rows)

    def equation_10(self) -> Table:
        steps = ("parameterizations", "equation_10", "steps")
        rows = [
            (
                f"after {step['steps']} steps",
                [self.cell(form, *steps, i, key) for key, (_, form) in parameterizations.HEADS.items()],
            )
            for i, step in enumerate(value_at(self.results, pointer_to(*steps)))
        ]
        heads = ["training", *(head for head, _ in parameterizations.HEADS.values())]
        return Table("Equation 10, from the empirical probabilities on", heads, rows)

    def equation_11(self) -> Table:
        base = ("parameterizations", "equation_11")
        rows = [
            (
                " or ".join(chain["sequences"]),
                [self.cell("{:.2f}", *base, i, key) for key in ("equation_11", "ep1")],
            )
            for i, chain in enumerate(value_at(self.results, pointer_to(*base)))
        ]
        return Table("Equation 11: accuracy, %", ["data", "equation 11", "EP1"], rows)


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


def swatch(key: str) -> Markup:
    """The mark of a model before its title."""
    if key not in MODELS:
        return Markup("")
    model = MODELS[key]
    mark = '<span class="swatch" style="color: var(--{})" aria-hidden="true">{}</span>'
    return Markup(mark).format(model.colour, GLYPHS[model.mark])


def render(results: Record) -> str:
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"thousands": "{:,}".format, "duration": duration, "title_of": title_of}
    first = results["pos"]["splits"][FIRST]
    found = done(first["models"])

    def order(experiment: str) -> Iterable[str]:
        splits = results[experiment]["splits"].items()
        return [line for name, split in splits for line in inversions(name, split)]

    return environment.get_template(TEMPLATE).render(
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
        maxima={POINTS[k]: of["probabilities"] for k, of in results["test_time_problem"]["points"].items()},
    )
