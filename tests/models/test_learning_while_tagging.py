"""One thread learns while others tag: every answer is that of the model before or after an update."""

from __future__ import annotations

import copy
from concurrent.futures import ThreadPoolExecutor

import pytest

from corate import HMM, EmpiricalCRF, Tagger, load_sample
from corate.models.counted import CountedModel

X, Y = load_sample()
TEST = load_sample("test")[0][:60]
MORE = [["Zyx", "zyxed", "the", "zyx"]] * 3, [["NOUN", "NEW", "DET", "NEW"]] * 3


@pytest.mark.parametrize("model", [Tagger("fixed"), EmpiricalCRF(), HMM()], ids=lambda m: type(m).__name__)
def test_tagging_while_learning(model: CountedModel) -> None:
    """New words and a new label come and go; copies go on with what they have."""
    model.fit(X[:120], Y[:120])
    tests = [*TEST, MORE[0][0]]
    before = model.predict(tests)
    after = copy.deepcopy(model).partial_fit(*MORE).predict(tests)
    assert before != after
    twin = copy.copy(model)

    def tag(tagger: CountedModel) -> list[list[list[str]]]:
        return [tagger.predict(tests) for _ in range(12)]

    with ThreadPoolExecutor(3) as pool:
        tagged = [pool.submit(tag, tagger) for tagger in (model, model, twin)]
        while not all(future.done() for future in tagged):
            model.partial_fit(*MORE)
            model.forget(*MORE)
        learning, also, copied = (future.result() for future in tagged)
    assert all(found in (before, after) for found in learning + also)
    assert all(found == before for found in copied)
    assert model.predict(tests) == before
