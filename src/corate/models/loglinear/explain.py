"""Why a log-linear model chose a label: the weights of the features that the best sequence has."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from corate.lattice import decode
from corate.lattice.lattice import Lattice
from corate.models.explanation import Explanation, Explanations, Reason, runner_up
from corate.models.loglinear.chains import Chains
from corate.models.loglinear.expectations import transition_scores
from corate.text.corpus import Corpus

START_NAMES = ("the start of the sentence",)

if TYPE_CHECKING:
    from corate.models.loglinear.base import FittedModel


def explain(model: FittedModel, corpus: Corpus, lattice: Lattice, chains: Chains) -> list[Explanation]:
    """The weights behind the best labels of a lattice that holds one sentence."""
    features, classes = model.features_, model.classes_
    best = decode.viterbi(lattice).candidates.tolist()
    probabilities = decode.marginals(lattice).probabilities
    transitions = transition_scores(features, model.weights_)
    state, _, pair = features.split(model.weights_)
    explanations = []
    for i, candidate in enumerate(best):
        label = int(lattice.labels[candidate])
        reasons = []
        for a in chains.states.ids[chains.states.offsets[i] : chains.states.offsets[i + 1]].tolist():
            own = np.arange(features.state_offsets[a], features.state_offsets[a + 1])
            for k in own[features.state_labels[own] == label].tolist():
                name = f"{model.attributes_.name(a)} with {classes[label]}"
                reasons.append(Reason(name, float(state[k])))
        # A model may have a label that stands before the first one.
        before = int(lattice.labels[best[i - 1]]) if i else len(classes) if model.extra_labels else None
        if before is not None:
            text = f"{[*classes, *START_NAMES][before]} before {classes[label]}"
            if transitions[before, label]:
                reasons.append(Reason(text, float(transitions[before, label])))
            for a in chains.pairs.ids[chains.pairs.offsets[i] : chains.pairs.offsets[i + 1]].tolist():
                own = np.arange(features.pair_offsets[a], features.pair_offsets[a + 1])
                fits = (features.pair_left[own] == before) & (features.pair_right[own] == label)
                for k in own[fits].tolist():
                    reasons.append(Reason(f"{text} at {model.pair_attributes_.name(a)}", float(pair[k])))
        explanations.append(
            Explanation(
                "" if corpus.keys else corpus.words.strings()[i],
                classes[label],
                float(probabilities[candidate]),
                runner_up(lattice, probabilities, classes, i, candidate),
                sorted(reasons, key=lambda reason: -abs(reason.score)),
            )
        )
    return Explanations(explanations)
