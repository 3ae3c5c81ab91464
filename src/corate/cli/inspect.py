"""corate inspect: what a model knows, for people and for programs."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from corate.cli.common import console, megabytes, plural, table
from corate.errors import InputError, spoken

if TYPE_CHECKING:
    from rich.console import Console

    from corate.models.counted import CountedModel
    from corate.models.loglinear.base import FittedModel


@click.command(short_help="Show what a model knows.")
@click.argument("model_path", metavar="MODEL")
@click.option("--word", metavar="WORD", help="What the model knows about one word.")
@click.option("--top", default=10, show_default=True, type=click.IntRange(1), help="Rows of each table.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object with everything, for programs.")
def inspect(model_path: str, word: str | None, top: int, as_json: bool) -> None:
    """Show what is in a model: its labels, contexts and sizes, and its strongest rates or weights.

    A rate of 1 means that two labels follow each other as often as by chance; 5, five times as often.

    \b
    Example:
      corate inspect pos.model
      corate inspect pos.model --word bank
    """
    from corate.models.registry import load

    crf = load(model_path)
    if hasattr(crf, "plan_"):
        if as_json:
            click.echo(json.dumps(_network_facts(crf, model_path), ensure_ascii=False))
            return
        sizes = {name: len(crf.values(name)) for name in crf.columns_}
        console().print(f"{model_path}  RateNetwork, {megabytes(model_path)}", style="bold")
        console().print(f"{plural(crf.counts_.n_sentences, 'row')}, {crf.plan_.describe(sizes)}")
        for a, b in crf.edges_:
            console().print(f"{a} – {b}")
        _print_about(console(), crf.about_)
        return
    if not hasattr(crf, "counts_"):
        _inspect_fitted(crf, model_path, word, top, as_json)
        return
    facts = _word_facts(crf, word) if word is not None else _facts(crf, model_path)
    if as_json:
        click.echo(json.dumps(facts, ensure_ascii=False))
    elif word is not None:
        _print_word(console(), facts, top)
    else:
        _print(console(), facts, model_path, top)


def _network_facts(network: Any, path: str) -> dict[str, Any]:
    return {
        "model": type(network).__name__,
        "parameters": {k: v for k, v in network.get_params().items() if k not in ("graph", "n_jobs")},
        "about": network.about_,
        "rows": network.counts_.n_sentences,
        "columns": {name: len(network.values(name)) for name in network.columns_},
        "edges": [list(edge) for edge in network.edges_],
        "bytes": Path(path).stat().st_size,
    }


def _print_about(out: Console, about: dict[str, str] | None) -> None:
    if about is not None:
        said = " ".join(about["note"].split("\n"))
        out.print(f"note: {said} (corate {about['corate']}, {about['written']})")


def _inspect_fitted(model: FittedModel, path: str, word: str | None, top: int, as_json: bool) -> None:
    if word is not None:
        raise InputError(
            f"{spoken(model)} has weights and no counts of words: corate explain shows the "
            "weights that speak for the labels of a sentence"
        )
    states, transitions, pairs = model.features_.sizes
    hidden = ("contexts", "n_jobs", "initial")
    facts: dict[str, Any] = {
        "model": type(model).__name__,
        "parameters": {k: v for k, v in model.get_params().items() if k not in hidden},
        "about": model.about_,
        "objective": model.objective_,
        "search": model.ended_,
        "words": len(model.known_words()),
        "labels": model.classes_,
        "contexts": model.context_names(),
        "features": {"states": states, "transitions": transitions, "pairs": pairs},
        "bytes": Path(path).stat().st_size,
        "weights": _strongest(model, None if as_json else top),
    }
    if as_json:
        click.echo(json.dumps(facts, ensure_ascii=False))
        return
    out = console()
    out.print(f"{path}  {facts['model']}, {megabytes(path)}", style="bold")
    out.print(f"{plural(facts['words'], 'distinct word')}, {plural(len(model.classes_), 'label')}")
    _print_about(out, model.about_)
    out.print("parameters: " + ", ".join(f"{k}={v}" for k, v in facts["parameters"].items()))
    out.print("contexts: " + " · ".join(facts["contexts"]))
    out.print(
        f"features: {states:,} of labels, {transitions:,} of label pairs, {pairs:,} of both with a context"
    )
    ended = {
        "limit": "no convergence, the limit of iterations ended the search",
        "interrupted": "interrupted",
    }
    out.print(f"objective: {model.objective_:,.4f} ({ended.get(model.ended_, 'converged')})")
    strongest = table("feature", "weight", title="\nStrongest weights")
    for row in facts["weights"]:
        strongest.add_row(row["feature"], f"{row['weight']:+.3f}")
    out.print(strongest)


def _strongest(model: FittedModel, top: int | None) -> list[dict[str, Any]]:
    named = model.named_weights()
    rows = sorted(named.items(), key=lambda item: -abs(item[1]))[:top]
    return [{"feature": _feature(name), "weight": weight} for name, weight in rows]


def _feature(name: tuple[str, ...]) -> str:
    attribute, *labels = name
    return " with ".join(filter(None, [attribute, " before ".join(labels)]))


def _facts(model: CountedModel, path: str) -> dict[str, Any]:
    from corate.counts.names import LABEL, WORD_LABEL

    counts = model.counts_
    labels = counts.tables[WORD_LABEL if counts.words else LABEL]  # a model of features has no words
    tokens = dict.fromkeys(counts.labels, 0)
    types = dict.fromkeys(counts.labels, 0)
    for (*word, y), n in zip(labels.ids.tolist(), labels.n.tolist(), strict=True):
        tokens[counts.labels[y]] += n
        types[counts.labels[y]] += len(word)
    return {
        "model": type(model).__name__,
        "parameters": {k: v for k, v in model.get_params().items() if k not in ("contexts", "n_jobs")},
        "about": model.about_,
        "learned": model._learned(),
        "weights": model.about_weights(),
        "pruned": model.pruned_,
        "sentences": counts.n_sentences,
        "tokens": counts.n_tokens,
        "words": len(counts.words),
        "events": {name: len(table.n) for name, table in counts.tables.items()},
        "contexts": model.context_names(),
        "bytes": Path(path).stat().st_size,
        "labels": {label: {"tokens": tokens[label], "words": types[label]} for label in counts.labels},
        "label_pairs": _label_pairs(model),
    }


def _label_pairs(model: CountedModel) -> list[dict[str, Any]]:
    """All label pairs that occurred, the highest rates first."""
    from corate.counts.names import LABEL_PAIR

    labels, rate = model.counts_.labels, model.label_log_rates()
    pairs = model.counts_.tables[LABEL_PAIR]
    rows = [
        {"label": labels[a], "next": labels[b], "rate": math.exp(rate[a, b]), "times": n}
        for (a, b), n in zip(pairs.ids.tolist(), pairs.n.tolist(), strict=True)
    ]
    return sorted(rows, key=lambda row: -row["rate"])


def _word_facts(model: CountedModel, word: str) -> dict[str, Any]:
    from corate.contexts.template import Context

    contexts = map(Context.parse, model.context_names())
    return {
        "word": word,
        "known": word in set(model.counts_.words),
        "contexts": [context.describe(word) for context in contexts if context.is_word_alone],
        "entries": [entry._asdict() for entry in model.word_entries(word)],
    }


def _print(out: Console, facts: dict[str, Any], path: str, top: int) -> None:
    out.print(f"{path}  {facts['model']}, {megabytes(path)}", style="bold")
    out.print(
        f"{plural(facts['sentences'], 'sentence')}, {plural(facts['tokens'], 'token')}, "
        f"{plural(facts['words'], 'distinct word')}, {plural(len(facts['labels']), 'label')}"
    )
    _print_about(out, facts["about"])
    known = {**facts["parameters"], **facts["learned"]}
    out.print("parameters: " + ", ".join(f"{k}={v}" for k, v in known.items()))
    if facts["weights"] is not None:
        out.print(f"weights: {facts['weights']}")
    if facts["pruned"]:
        out.print(
            f"pruned: events that were counted less than {facts['pruned']:,} times, all or some of them"
        )
    out.print("contexts: " + (" · ".join(facts["contexts"]) or "none"))
    out.print(f"distinct events: {sum(facts['events'].values()):,} in {len(facts['events'])} tables")
    labels = table("label", "tokens", "%", "distinct words", title="\nLabels")
    by_tokens = sorted(facts["labels"].items(), key=lambda item: -item[1]["tokens"])
    for label, row in by_tokens[:top]:
        share = 100 * row["tokens"] / facts["tokens"]
        labels.add_row(label, f"{row['tokens']:,}", f"{share:.1f}", f"{row['words']:,}")
    out.print(labels)
    if len(by_tokens) > top:
        out.print(f"… and {len(by_tokens) - top} more (--top {len(by_tokens)})", style="dim")
    # A pair seen once or twice has a high rate by accident: show what there is evidence for.
    least = max(1, facts["tokens"] // 1000)
    frequent = [pair for pair in facts["label_pairs"] if pair["times"] >= least]
    rates = table(
        "label",
        "next",
        "rate",
        "times",
        title=f"\nStrongest co-occurrence rates (pairs seen {least:,} times or more)",
    )
    for pair in frequent[:top]:
        rates.add_row(pair["label"], pair["next"], f"{pair['rate']:.2f}", f"{pair['times']:,}")
    out.print(rates)


def _print_word(out: Console, facts: dict[str, Any], top: int) -> None:
    state = "known" if facts["known"] else "unknown, judged by its spelling"
    out.print(f"{facts['word']}  {state}", style="bold")
    out.print(" · ".join(facts["contexts"]))
    entries = table("label", "probability", "rate", "times")
    for entry in facts["entries"][:top]:
        times = "–" if entry["times"] is None else f"{entry['times']:,}"
        entries.add_row(entry["label"], f"{entry['probability']:.4f}", f"{entry['rate']:.2f}", times)
    out.print(entries)
