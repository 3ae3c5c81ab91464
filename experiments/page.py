"""The page: what is said of the results, with their pictures and tables, as one file that needs no other."""

from __future__ import annotations

from pathlib import Path

import drawing
import page_simulations
import page_tagging
import pictures
from drawing import swatch
from markup import Cell, command, figure, pointer, section, table
from models import MODELS
from results import Record

STYLE = Path(__file__).with_name("style.css")
TITLE = "Conditional random fields by counting"
FIRST = "1000/4000"
# Where details are closed, paper would show only their titles.
SCRIPT = """
addEventListener("beforeprint", () => document.querySelectorAll("details").forEach(d => { d.open = true }));
"""


def render(results: Record) -> str:
    drawing.reset_numbers()
    sections = {
        "models": ("The models", models(results)),
        "pos": ("Parts of speech", page_tagging.pos(results)),
        "ner": ("Named entities", page_tagging.ner(results)),
        "label-bias": ("Label bias", page_simulations.label_bias(results)),
        "test-time": ("The test time problem", page_simulations.test_time(results)),
        "parameterizations": ("Two ways that fail", page_simulations.parameterizations(results)),
        "machine": ("Machine and method", machine(results)),
    }
    links = "".join(f'<li><a href="#{name}">{title}</a></li>' for name, (title, _) in sections.items())
    body = "".join(section(name, title, content) for name, (title, content) in sections.items())
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{TITLE}: the papers’ tables, published and measured</title>"
        f"<style>{STYLE.read_text(encoding='utf-8')}</style></head><body>"
        f"{hero(results)}"
        f'<nav aria-label="Sections"><ul>{links}</ul></nav><main>{body}</main>'
        f"<script>{SCRIPT}</script></body></html>\n"
    )


def hero(results: Record) -> str:
    """Three sentences and a picture: what the project shows."""
    split = results["pos"]["splits"][FIRST]
    picture = pictures.time_and_accuracy("Training time and right labels", split, page_tagging.HERO)
    sizes = split["sizes"]
    caption = (
        f"Brown corpus, {sizes['tokens']:,} words for training and {sizes['test_tokens']:,} for testing, "
        f"{sizes['labels']} labels. Higher is better, left is faster; each step to the right is ten times "
        "longer."
    )
    lead = "".join(f"<p>{sentence}</p>" for sentence in page_tagging.opening(split))
    return (
        f'<header class="hero"><div><h1>{TITLE}</h1><div class="lead">{lead}</div></div>'
        f"{figure([picture], caption)}</header>"
    )


def models(results: Record) -> str:
    """A legend for all pictures; only of models that this run has."""
    shown = set(results["label_bias"]["models"])
    for experiment in ("pos", "ner"):
        for split in results[experiment]["splits"].values():
            shown |= set(split["models"])
    rows = [
        (f"{swatch(key)}{model.title}", [Cell(model.says, note="words"), Cell(model.papers or "–")])
        for key, model in MODELS.items()
        if key in shown
    ]
    return (
        "<p>Colour and shape of a mark name a model, the same in every picture. EP1, EP2, ECRN and the "
        "Tagger are counted; CRF, piecewise training, MEMM and CRFsuite are optimised.</p>"
        + table("What is compared", ["model", "what it is", "in the papers"], rows)
    )


def machine(results: Record) -> str:
    rows = [(name, [Cell(text, pointer("machine", name))]) for name, text in results["machine"].items()]
    cap = results["pos"]["cap"]
    limit = f"A model gets {cap} seconds for a split and is stopped after that. " if cap else ""
    return (
        "<p>Every model trains and labels in a process of its own, in one thread; times are CPU seconds "
        f"from token lists to the first labelled sentence. {limit}"
        "The machine may be shared: ratios of times mean more than times. Nothing is "
        "chosen on test sentences.</p><p>Two tests stand beside every difference. McNemar’s exact test "
        "looks at the tokens that just one of two models has right; tokens of a sentence are not "
        "independent, so it is too sure. The paired bootstrap draws whole test sentences, 10,000 times, "
        "and asks how often the lead disappears; “all pairs” makes these p-values hold for all pairs of a "
        "table at once (Holm).</p>"
        + table("The machine and the versions", ["what", "which"], rows)
        + command("make report DATA=DIR")
        + "<p>The identities of co-occurrence rates that all of this rests on (theorems 1 and 2 of 002) "
        "are worked out in exact fractions in <code>docs/identities.md</code>, whose code is run by the "
        "tests.</p>"
    )
