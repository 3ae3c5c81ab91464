"""The trellis: forward, backward and Viterbi scores against the decoder's own answers."""

from __future__ import annotations

import math
from typing import Any

import pytest

import corate
from corate import HMM, LinearChainCRF, Tagger

X, Y = (part[:80] for part in corate.load_sample())


@pytest.mark.parametrize("model", [HMM(), LinearChainCRF(), Tagger(weights="fixed")], ids=repr)
def test_scores_are_the_decoders(model: Any) -> None:
    model.fit(X, Y)
    for tokens in X[:3]:
        found = model.trellis(tokens)
        assert found.words == tokens
        assert found.best_path == model.predict_single(tokens)
        ((_, best),) = model.predict_nbest([tokens], 1)[0]
        last = max(cell.viterbi for cell in found.columns[-1])
        assert math.exp(last - found.log_z) == pytest.approx(best)
        for cell in (cell for column in found.columns for cell in column):
            assert math.exp(cell.forward + cell.backward - found.log_z) == pytest.approx(
                cell.probability, abs=1e-9
            )
        assert tokens[0] in str(found)


def test_tables_of_an_hmm_sum_to_1() -> None:
    hmm = HMM().fit(X, Y)
    for table in (hmm.transition_probabilities(), hmm.emission_probabilities()):
        for row in table.values():
            assert sum(row.values()) == pytest.approx(1.0)
    assert hmm.emission_probabilities(["the"]).to_frame().loc["DET", "the"] > 0.1
