"""Reasons are true and complete: their scores add up to the score of the sequence."""

from __future__ import annotations

import pytest

from corate import EmpiricalCRF, load_sample
from corate.lattice import decode
from corate.text.tokens import as_corpus


@pytest.mark.parametrize("pair", ["label", "word"])
@pytest.mark.parametrize("unknown", ["mean", "signature"])
def test_reasons_add_up(unknown: str, pair: str) -> None:
    crf = EmpiricalCRF(unknown=unknown, pair=pair).fit(*load_sample())
    for words in load_sample("test")[0][:25]:
        explanations = crf.explain(words)
        lattice = crf._lattice(as_corpus([words]))
        total = sum(reason.score for token in explanations for reason in token.reasons)
        assert total == pytest.approx(decode.viterbi(lattice).scores[0])
        assert [token.label for token in explanations] == crf.predict([words])[0]


def test_reasons_in_words() -> None:
    crf = EmpiricalCRF().fit(
        [["the", "bank"], ["the", "bank"], ["we", "bank"]], [["D", "N"], ["D", "N"], ["P", "V"]]
    )
    the, bank = crf.explain(["the", "bank"])
    assert [reason.text for reason in the.reasons] == ["'the' was D 2 of 2 times"]
    assert [reason.text for reason in bank.reasons] == [
        "'bank' was N 2 of 3 times",
        "D before N at 6.00× the rate of chance",  # (2/3) / (1/3 · 1/3)
    ]
    assert bank.probability == pytest.approx(1.0)
    (odd,) = crf.explain(["Banks"])
    assert odd.reasons[0].text == "unknown word; D by its share of all words"
    assert odd.runner_up is not None
    assert odd.runner_up[0] == "N"
    assert odd.runner_up[1] == pytest.approx(1 / 3)
