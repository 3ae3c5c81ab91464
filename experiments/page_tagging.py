"""The page's sections on Brown and CoNLL-2002: pictures, a table a split, a test of every difference."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

import pictures
from drawing import swatch
from markup import EMPTY, Cell, command, details, figure, figure_at, pointer, table
from measure import DONE
from models import MODELS
from results import Record
from tagging_table import METRICS, PAPERS, duration, ours_of, row_of
from tagging_table import figure as number

HERO = (
    "ep1",
    "ecrn",
    "tagger-fixed",
    "tagger",
    "tnt",
    "crf",
    "crf-tuned",
    "crfsuite-0.1",
    "pw",
    "hmm",
)
REFERENCE = "ep1"
TRAINED_SLOWLY = ("crfsuite-0.1", "crfsuite-1")  # the first that was measured stands for an optimiser
SURE = 0.05

# Why an order of two methods may differ from the papers'.
REASONS = {
    frozenset(
        ("EP1", "ECRN")
    ): "they differ at unknown words only, where ours have spelling features that fire "
    "or are absent; the papers do not say how theirs count",
}


def opening(split: Record) -> list[str]:
    """What a newcomer should take along, in figures of this run."""
    done = pictures.done(split["models"])
    slow = next((key for key in TRAINED_SLOWLY if key in done), None)
    best = max(done, key=lambda key: done[key]["overall"])
    sentences = [
        "A conditional random field labels sequences — words with parts of speech, names in a text — and is "
        "usually trained by an optimiser that goes over the data again and again."
    ]
    counted = done[REFERENCE]
    told = f"This project trains by <strong>counting, once</strong>: {duration(counted['seconds'])}"
    if slow:
        ratio = done[slow]["seconds"] / counted["seconds"]
        told += (
            f" where {MODELS[slow].title} takes {duration(done[slow]['seconds'])}, {_rough(ratio)} times as "
            f"long, for {counted['overall']:.1f} against {done[slow]['overall']:.1f} % right labels"
        )
    sentences.append(told + ".")
    sentences.append(
        f"With many views of a word counted at once, the {MODELS['tagger'].title} labels "
        f"<strong>{done['tagger']['overall']:.1f} %</strong> right after "
        f"{duration(done['tagger']['seconds'])}"
        + (", the most of all models here." if best == "tagger" else f"; {MODELS[best].title} has the most.")
    )
    return sentences


def _rough(value: float) -> str:
    """With two digits: more would not come out again."""
    return f"{float(f'{value:.2g}'):,.0f}"


def pos(results: Record) -> str:
    found = results["pos"]
    splits = found["splits"]
    parts = [
        "<p>Tables 2 to 6 of <em>Closed Form Maximum Likelihood Estimator of Conditional Random "
        "Fields</em> (000) and Table III of <em>Empirical Co-occurrence Rate Networks for Sequence "
        "Labeling</em> (002). A split n/m trains on n sentences and tests on m. The papers’ sample of the "
        "Brown corpus is not known and has more unknown words than ours: compare differences between "
        "methods, not the figures themselves.</p>",
        regularisation(splits),
    ]
    if len(splits) > 1:
        parts.append(accuracy_figure(splits))
    parts.append(
        figure(
            [
                pictures.times(f"Training time, Brown {name}", split, list(splits.values()))
                for name, split in splits.items()
            ],
            "Training time, each step ten times longer. Coloured marks: CPU seconds of one thread on this "
            "machine. Crosses: published, another machine. A dashed line with ? was not run: it is scaled "
            "from a smaller split by the number of tokens (and of pairs of labels, where training visits "
            "them); one with › was stopped there.",
        )
    )
    parts.append(order(splits))
    for name in splits:
        parts.append(split_part(results, "pos", name, f"Brown {name}"))
    parts.append(command("python experiments/pos.py --data DIR --results build/report"))
    return "".join(parts)


def ner(results: Record) -> str:
    ((name, split),) = results["ner"]["splits"].items()
    parts = [
        "<p>Table 7 of 000 and Table IV of 002: the Dutch part of CoNLL-2002, training on "
        "<code>ned.train</code>, testing on <code>ned.testb</code>, words only. Most tokens are outside "
        "of any name and easy, so entity F1 — precision and recall of whole names, as conlleval counts "
        "them — says more than accuracy; the papers give none.</p>",
        figure(
            [
                pictures.time_and_accuracy("Entity F1 and training time", split, list(split["models"]), "f1"),
                pictures.times("Training time", split),
            ],
            "Left: F1 on testb against training time. Right: training time beside the published one "
            "(crosses).",
        ),
        order({name: split}),
        split_part(results, "ner", name, f"CoNLL-2002 Dutch, {name}"),
        command("python experiments/ner.py --data DIR --results build/report"),
    ]
    return "".join(parts)


def regularisation(splits: Record) -> str:
    """Much of the published gap is the penalty of the optimised model; say it in this run's figures."""
    name, split = next(iter(splits.items()))
    done = pictures.done(split["models"])
    strong, weak = "crfsuite-1", "crfsuite-0.1"
    if strong not in done or weak not in done:
        return ""
    rates = {key: f"{done[key]['overall']:.1f}" for key in (strong, weak, REFERENCE)}
    theirs = {method: split["published"][method]["overall"] for method in ("EP1", "CRF++")}
    return (
        '<div class="note"><p><strong>Read the gap to “standard training” with care.</strong> On '
        f"{name} the papers have EP1 at {theirs['EP1']} and CRF++ at {theirs['CRF++']} %. Much of that is "
        f"the penalty on large weights: CRFsuite with its default c2=1 has {rates[strong]} %, with c2=0.1 it "
        f"has {rates[weak]} %, and EP1 has {rates[REFERENCE]} %. With the same features, a tuned optimiser "
        "is not less accurate than counting. It is slower.</p></div>"
    )


def accuracy_figure(splits: Record) -> str:
    sizes = {name: split["sizes"]["tokens"] for name, split in splits.items()}
    keys = next(iter(splits.values()))["models"]
    measured = {
        key: {n: s["models"][key]["overall"] for n, s in splits.items() if s["models"][key]["status"] == DONE}
        for key in keys
    }
    published: dict[str, dict[str, float]] = {}
    for name, split in splits.items():
        for method, figures in split["published"].items():
            published.setdefault(row_of(method), {})[name] = figures["overall"]
    panels = [
        pictures.accuracy_by_split("Measured here, %", {k: of for k, of in measured.items() if of}, sizes),
        pictures.accuracy_by_split("Published, %", {k: of for k, of in published.items() if of}, sizes),
    ]
    return figure(panels, "Right labels by the size of the training part. The two axes of percent differ.")


def split_part(results: Record, experiment: str, name: str, title: str) -> str:
    split = results[experiment]["splits"][name]
    sizes = split["sizes"]
    facts = (
        f"<p>{sizes['train_sentences']:,} sentences with {sizes['tokens']:,} tokens and {sizes['labels']} "
        f"labels for training; {sizes['test_sentences']:,} sentences with {sizes['test_tokens']:,} tokens "
        f"for testing, {sizes['unknown_rate']:.1f} % of them unknown words.</p>"
    )
    panels = [
        pictures.differences(f"Accuracy: points above or below {MODELS[REFERENCE].title}", split, REFERENCE)
    ]
    if any(pair["f1"] for pair in split["comparisons"]):
        panels.append(
            pictures.differences(
                f"F1: points above or below {MODELS[REFERENCE].title}", split, REFERENCE, "f1"
            )
        )
    caption = (
        "Each model’s lead over EP1 with its 95 % interval, from 10,000 resamples of whole test "
        "sentences. An interval that does not touch the dashed line is a difference that other test "
        "sentences would very likely show as well."
    )
    return (
        f"<h3>{title}</h3>{facts}{split_table(results, experiment, name, title)}{figure(panels, caption)}"
        f"{details('Every pair of models, tested', pair_table(results, (experiment, 'splits', name), title))}"
    )


def split_table(results: Record, experiment: str, name: str, title: str) -> str:
    split = results[experiment]["splits"][name]
    methods = {row_of(method): method for method in split["published"]}
    source = ", ".join(dict.fromkeys(of["source"] for of in split["published"].values()))
    has = {
        metric: (
            any(of["status"] == DONE and of[metric] is not None for of in split["models"].values()),
            any(metric in of for of in split["published"].values()),
        )
        for metric in METRICS
    }
    base = (experiment, "splits", name)
    rows = []
    for key in [*split["models"], *(key for key in methods if key not in split["models"])]:
        cells = []
        for metric, (ours, theirs) in has.items():
            if ours:
                cells.append(_ours(results, base, key, metric))
            if theirs:
                cells.append(_theirs(results, base, methods.get(key, ""), metric))
        rows.append((f"{swatch(key)}{MODELS[key].title}" if key in MODELS else f"{key}", cells))
    groups = [(METRICS[metric], sum(of)) for metric, of in has.items() if any(of)]
    heads = [
        "model",
        *(h for of in has.values() for h, there in zip(("here", "publ."), of, strict=True) if there),
    ]
    return table(f"{title}, %; published: {source}", heads, rows, groups)


def _ours(results: Record, base: Sequence[str], key: str, metric: str) -> Cell:
    split = results[base[0]][base[1]][base[2]]
    record = split["models"].get(key)
    if record is None:
        return EMPTY
    if record["status"] != DONE:
        reason = ours_of(record, metric)
        return Cell(reason, note="reason") if reason else EMPTY
    rates = [of[metric] for of in pictures.done(split["models"]).values() if of[metric] is not None]
    best = record[metric] == (min(rates) if metric == "seconds" else max(rates)) if rates else False
    note = "best" if best else ""
    return figure_at(results, lambda value: number(metric, value), *base, "models", key, metric, note=note)


def _theirs(results: Record, base: Sequence[str], method: str, metric: str) -> Cell:
    figures = results[base[0]][base[1]][base[2]]["published"].get(method, {})
    if metric not in figures:
        return EMPTY
    form = "{:,}".format
    return figure_at(results, form, *base, "published", method, metric, note="published")


def pair_table(results: Record, base: Sequence[str], title: str) -> str:
    """All pairs: the lead in points, its interval, p of the bootstrap alone and with all, McNemar's."""
    found = results
    for part in base:
        found = found[part]
    has_f1 = any(pair["f1"] for pair in found["comparisons"])
    heads = [
        "a − b",
        "points",
        "95 % interval",
        "p, sentences",
        "p, all pairs",
        "only a right",
        "only b",
        "p, McNemar",
    ]
    heads += ["F1 points", "95 % interval", "p, sentences"] if has_f1 else []
    rows = []
    for i, pair in enumerate(found["comparisons"]):
        place = (*base, "comparisons", i)
        cells = [
            *_lead(results, place, "accuracy", pair),
            figure_at(results, p_value, *place, "holm", note="sure" if pair["holm"] < SURE else ""),
            figure_at(results, "{:,}".format, *place, "only_a"),
            figure_at(results, "{:,}".format, *place, "only_b"),
            figure_at(results, p_value, *place, "mcnemar"),
        ]
        if pair["f1"]:
            cells += _lead(results, place, "f1", pair)
        rows.append((f"{MODELS[pair['a']].title} − {MODELS[pair['b']].title}", cells))
    return table(f"{title}: every pair", heads, rows)


def _lead(results: Record, place: Sequence[object], metric: str, pair: Record) -> list[Cell]:
    interval = f"{100 * pair[metric]['low']:+.2f} to {100 * pair[metric]['high']:+.2f}"
    return [
        figure_at(results, lambda value: f"{100 * value:+.2f}", *place, metric, "lead"),
        Cell(interval, pointer(*place, metric, "low")),
        figure_at(results, p_value, *place, metric, "p"),
    ]


def p_value(p: float) -> str:
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def order(splits: Record) -> str:
    """Where two methods stand in another order than published, and whether that is more than chance."""
    items = [item for name, split in splits.items() for item in _inversions(name, split)]
    if not items:
        return "<p>The methods that both the papers and this run have stand in the papers’ order.</p>"
    return (
        "<h3>Where the order is not the papers’</h3><p>Of the methods that both the papers and this run "
        "have, these pairs stand the other way round "
        f"here:</p><ul>{''.join(f'<li>{item}</li>' for item in items)}</ul>"
    )


def _inversions(name: str, split: Record) -> Iterator[str]:
    done = pictures.done(split["models"])
    methods = [m for m in split["published"] if PAPERS.get(m) in done]
    pairs = {(pair["a"], pair["b"]): pair for pair in split["comparisons"]}
    for first, second in combinations(methods, 2):
        a, b = PAPERS[first], PAPERS[second]
        theirs = split["published"][first]["overall"] - split["published"][second]["overall"]
        ours = done[a]["overall"] - done[b]["overall"]
        if theirs * ours >= 0:
            continue
        pair = pairs.get((a, b)) or pairs[b, a]
        sure = "more than chance" if pair["holm"] < SURE else "not more than chance"
        reason = REASONS.get(frozenset((first, second)), "")
        yield (
            f"{name}: published {first} {split['published'][first]['overall']}, {second} "
            f"{split['published'][second]['overall']}; here {MODELS[a].title} {done[a]['overall']:.2f}, "
            f"{MODELS[b].title} {done[b]['overall']:.2f} ({sure}, p = "
            f"{p_value(pair['holm'])}){': ' + reason if reason else ''}."
        )
