"""One set of weights for several corpora: what `Tagger(weights="fixed")` uses, and what the fit is drawn to.

Maximises the conditional likelihood of the folds of all corpora in the weights of contexts and label pairs
alone (nothing is learned for single labels), and writes it to the package. It looks at training parts.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
from scipy.optimize import minimize

from corate.arrays import Float
from corate.contexts.defaults import default_contexts
from corate.counts.events import count
from corate.models.tagger import fit as weights
from corate.models.tagger import weights as shipped
from corate.models.tagger.settings import SETTINGS
from corate.models.tagger.tagger import _tables_of
from corate.models.tagger.weights import SINGLES, Weights, equal_weight
from corate.rates.rates import Rates
from corate.text.corpus import Corpus
from corate.text.tokens import as_corpus
from lab import corpora, terminal

OUT = Path(shipped.__file__).with_name("common_weights.json")
BROWN = ("1000/4000", "4000/1000", "17311/16312")
PENALTY = 2e-3
STEPS = 100
# Nearly all candidates: nothing is known of the weights yet.
WIDE = replace(SETTINGS, fit_kind_margin=30.0, fit_path_margin=30.0)
DIGITS = 3

Case = tuple[Rates, list[weights.HeldOut]]


def main() -> None:
    example = "experiments.common_weights --data ../shared/data"
    options = terminal.arguments(__doc__, example).parse_args()
    brown, conll = corpora.brown(options.data), corpora.conll2002(options.data)
    parts = {f"Brown {name}": brown.splits[name].train for name in BROWN}
    parts["CoNLL-2002 Dutch"] = conll.splits[corpora.CONLL_SPLIT].train
    cases = []
    for name, part in parts.items():
        terminal.progress(f"{name}: counting …")
        cases.append(_case(as_corpus(part.words, part.labels)))
    found = fit(cases)
    OUT.write_text(json.dumps({"fitted_on": list(parts), **found}, indent=1) + "\n", encoding="utf-8")
    print(f"written to {OUT.name}")


def _case(corpus: Corpus) -> Case:
    contexts = default_contexts(corpus)
    rates = Rates(count(corpus, _tables_of(contexts)), contexts)
    return rates, weights.held_out_parts(corpus, rates, _uniform(rates), settings=WIDE)


def _uniform(rates: Rates) -> Weights:
    """Where the search begins: the same for every context."""
    fixed = Weights.fixed(rates)
    return replace(
        fixed,
        prior=SETTINGS.prior_weight,
        pair=SETTINGS.pair_weight,
        start=SETTINGS.pair_weight,
        end=SETTINGS.pair_weight,
        triple=SETTINGS.triple_weight,
        pairs=np.zeros_like(fixed.pairs),
        contexts=np.full_like(fixed.contexts, equal_weight(rates)),
    )


def fit(cases: list[Case]) -> dict[str, object]:
    rates = cases[0][0]
    start = _uniform(rates)
    n_common = len(start.vector()) - start.bias.size - start.contexts_by_label.size
    middle = start.vector()[:n_common]

    # Losses relative to those of the start: a corpus of names, most of which are easy tokens, weighs as much.
    scale = [weights.mean_loss(folds, _uniform(of_case))[0] for of_case, folds in cases]

    def objective(vector: Float) -> tuple[float, Float]:
        value, gradient = 0.0, np.zeros(n_common)
        for (of_case, folds), usual in zip(cases, scale, strict=True):
            whole = np.concatenate([vector, np.zeros(of_case.n_labels * (1 + len(of_case.contexts)))])
            loss, slope = weights.mean_loss(folds, Weights.from_vector(whole, of_case))
            value, gradient = value + loss / usual, gradient + slope[:n_common] / usual
        away = vector - middle
        return value + PENALTY * float(away @ away), gradient + 2 * PENALTY * away

    terminal.progress(f"maximising over {n_common} weights …")
    bounds = start.bounds()[:n_common]
    best = minimize(objective, middle, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": STEPS})
    zeros = np.zeros(rates.n_labels * (1 + len(rates.contexts)))
    found = Weights.from_vector(np.concatenate([best.x, zeros]).round(DIGITS), rates)
    return {
        **{name: getattr(found, name) for name in SINGLES},
        "pairs": {
            str(c): w for c, w in zip(rates.groups.of_pairs.contexts, found.pairs.tolist(), strict=True)
        },
        "contexts": {str(c): row for c, row in zip(rates.contexts, found.contexts.T.tolist(), strict=True)},
    }


if __name__ == "__main__":
    terminal.run(main)
