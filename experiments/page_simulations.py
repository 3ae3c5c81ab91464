"""The page's sections on data that the experiments make themselves."""

from __future__ import annotations

import pictures
import test_time_problem as ttp
from drawing import swatch
from label_bias import ANSWERS, LABEL_BIAS_ROWS
from markup import EMPTY, Cell, command, details, figure, figure_at, table
from models import MODELS
from page_tagging import pair_table
from results import Record

POINTS = {
    "ep": "ep: counted",
    "ttp": "ttp",
    "zero": "CRF from 0",
    "at-ep": "CRF from ep",
    "at-ttp": "CRF from ttp",
}


def label_bias(results: Record) -> str:
    found = results["label_bias"]
    bars = {MODELS[key].title: of for key, of in found["rib_rob"].items()}
    panels = [
        pictures.label_bias(found),
        pictures.shares("What is “rob”?", bars, {"YOB": "YOB, right", "XIB": "XIB, wrong"}),
    ]
    methods = {LABEL_BIAS_ROWS.get(method, method): method for method in found["published"]}
    rows = []
    for key in [*found["models"], *(key for key in methods if key not in found["models"])]:
        base = ("label_bias", "models", key)
        cells = [EMPTY, EMPTY]
        if key in found["models"]:
            cells = [
                figure_at(results, "{:.2f}".format, *base, metric) for metric in ("overall", "deviation")
            ]
        theirs = EMPTY
        if key in methods:
            theirs = figure_at(
                results, "{:.1f}".format, "label_bias", "published", methods[key], "overall", note="published"
            )
        yob = [
            figure_at(results, "{:.4f}".format, "label_bias", "rib_rob", key, y)
            if key in found["rib_rob"]
            else EMPTY
            for y in ANSWERS
        ]
        rows.append((f"{swatch(key)}{MODELS[key].title}" if key in MODELS else key, [*cells, theirs, *yob]))
    heads = ["model", "here, mean", "s.d. of a round", "publ., mean", *(f"p({y} | rob)" for y in ANSWERS)]
    return (
        "<p>A model that asks “which label comes next, given the one before?” gives a label with a single "
        "successor probability one, whatever word stands there: it stops looking at the text. In the "
        "simulation of Lafferty et al., <em>r i b</em> is to be labelled R1 I B and <em>r o b</em> R2 O "
        "B, only the middle letter tells, and letters are garbled 3 times in 32. Co-occurrence rates and "
        "globally normalised models read it; conditional Markov models do not.</p>"
        + figure(
            panels,
            "Left: a stroke a round, a mark their mean; nobody can expect more than the right dashed line, "
            "and a model that does not read the middle letter ends at the left one. Right: after 11 × "
            "rib:XIB, 9 × rob:YOB and 1 × rob:XIB.",
        )
        + table(
            "Label bias: right labels in %, and the example rib/rob; published: 000 Tab. 1, 002 Tab. II",
            heads,
            rows,
        )
        + details(
            "Every pair of models, tested", pair_table(results, ("label_bias",), "Label bias, rounds pooled")
        )
        + command("python experiments/label_bias.py")
    )


def test_time(results: Record) -> str:
    found = results["test_time_problem"]
    bars = {POINTS[name]: of["probabilities"] for name, of in found["points"].items()}
    panels = [
        pictures.flat_valley(found),
        pictures.shares(
            "How likely are labels of [b,c]?", bars, {"00": "[0,0], right", "11": "[1,1], wrong"}
        ),
    ]
    rows = []
    for name, point in found["points"].items():
        base = ("test_time_problem", "points", name)
        published = found["published"].get(name)
        theirs = [EMPTY, EMPTY]
        if published:
            place = ("test_time_problem", "published", name)
            theirs = [
                figure_at(results, "{:.5f}".format, *place, "objective", note="published")
                if "objective" in published
                else EMPTY,
                Cell(ttp.as_list(published["prediction"]), note="published"),
            ]
        rows.append(
            (
                POINTS[name],
                [
                    figure_at(results, "{:.5f}".format, *base, "objective"),
                    theirs[0],
                    *(
                        figure_at(results, "{:.1e}".format, *base, f"{what}_deviation")
                        for what in ("unary", "pair")
                    ),
                    figure_at(results, "{:.4f}".format, *base, "probabilities", "00"),
                    figure_at(results, "{:.4f}".format, *base, "probabilities", "11"),
                    Cell(ttp.as_list(point["prediction"])),
                    theirs[1],
                ],
            )
        )
    heads = [
        "parameters",
        "−log likelihood",
        "publ.",
        "eqn 16 misses by",
        "eqn 17 misses by",
        "p([0,0])",
        "p([1,1])",
        "says",
        "publ.",
    ]
    return (
        "<p>Training data: four times [a,b,c,d] labelled [0,0,0,0], once [0,1,1,0]. Asked for [b,c], a "
        "person says [0,0]. The likelihood of the training data has no single maximum: probability can be "
        "moved from single labels into pairs of labels at no cost, as long as the whole sentence comes "
        "together again. A part of a sentence then shows where it went. Counting puts it where it "
        "belongs.</p>"
        + figure(
            panels,
            "Left: on the straight way from the counted parameters to those called ttp every point is a "
            "maximum of the likelihood; half-way the answer for [b,c] turns wrong. Right: the "
            "probabilities of the two answers at each maximum.",
        )
        + table(
            "Maxima of the likelihood (the optimum is 2.502012; 2.50202 is what CRF++ printed)", heads, rows
        )
        + command("python experiments/test_time_problem.py")
    )


def parameterizations(results: Record) -> str:
    found = results["parameterizations"]
    steps = [
        (
            f"after {step['steps']} steps",
            [
                figure_at(results, form.format, "parameterizations", "equation_10", "steps", i, key)
                for key, form in (
                    ("log_likelihood", "{:.2f}"),
                    ("deviation", "{:.3f}"),
                    ("log_z", "{:.2f}"),
                    ("overall", "{:.2f}"),
                )
            ],
        )
        for i, step in enumerate(found["equation_10"]["steps"])
    ]
    chains = [
        (
            " or ".join(chain["sequences"]),
            [
                figure_at(results, "{:.2f}".format, "parameterizations", "equation_11", i, key)
                for key in ("equation_11", "ep1")
            ],
        )
        for i, chain in enumerate(found["equation_11"])
    ]
    return (
        "<p>The same probability can be written without co-occurrence rates, and 000 §3.2.1 says that "
        "giving each of those factors parameters does not work. Equation 10, ∏P(yᵢ,yᵢ₊₁)/∏P(yⱼ), has a "
        "probability in its denominator: training makes it small, and there is no end to that. L-BFGS "
        f"{found['equation_10']['lbfgs']}; plain steps up the slope show where it goes. Equation 11, "
        "P(y₁,y₂)∏P(yᵢ₊₁|yᵢ), is a probability and has a closed form, and it has the label bias — not on "
        "the three-letter data of the papers, whose first factor still sees the letter that matters, but "
        "with a single letter more in front.</p>"
        + figure(
            [pictures.runaway(found["equation_10"])],
            "Small figures at the marks: log Z, the logarithm of what should sum to one.",
        )
        + table(
            "Equation 10, from the empirical probabilities on",
            ["training", "log “likelihood”", "largest |ψ − P̃|", "log Z", "accuracy, %"],
            steps,
        )
        + table("Equation 11: accuracy, %", ["data", "equation 11", "EP1"], chains)
        + command("python experiments/parameterizations.py")
    )
