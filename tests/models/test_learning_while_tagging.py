"""One thread learns while others tag: every answer is that of the model before or after an update."""

from __future__ import annotations

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import Any

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


@pytest.mark.parametrize("kept", ["_rates", "_last_maker", "_factors"])
@pytest.mark.parametrize("model", [Tagger("fixed"), EmpiricalCRF(), HMM()], ids=lambda m: type(m).__name__)
def test_what_a_late_thread_leaves_behind_is_not_built_upon(model: CountedModel, kept: str) -> None:
    """It began to tag before an update, and puts down what it made of the old counts after it."""
    tests = [*TEST, MORE[0][0]]
    before = model.fit(X[:120], Y[:120]).predict(tests)
    stale = vars(model).get(kept)
    after = model.partial_fit(*MORE).predict(tests)
    for change, expected in ((model.forget, before), (model.partial_fit, after), (model.forget, before)):
        if stale is not None:
            setattr(model, kept, stale)
        stale = vars(model).get(kept)
        assert change(*MORE).predict(tests) == expected


def learn_while_eight_tag(model: CountedModel, n_updates: int) -> int:
    """One thread teaches and unteaches; eight ask for labels, marginals and the n best, of the model, of
    copies of it, and of copies that are made meanwhile. The number of answers, each of which is right."""
    model.fit(X[:120], Y[:120])
    tests = [*TEST[:20], MORE[0][0]]
    states = [model.predict_with_probability(tests)]
    states.append(copy.deepcopy(model).partial_fit(*MORE).predict_with_probability(tests))
    twin, done = copy.copy(model), Event()

    def ask(number: int) -> int:
        n_answers = 0
        while not done.is_set():
            asked: Any = twin if number % 4 == 1 else copy.copy(model) if number % 4 == 2 else model
            if number == 7:
                asked = pickle.loads(pickle.dumps(model._now()))
            found = asked.predict_with_probability(tests)
            assert found in (states[:1] if asked is twin else states)
            asked.predict_nbest(tests[-3:], 3)
            asked.log_prob([MORE[0][0]], [["NOUN", "VERB", "DET", "NOUN"]])
            n_answers += 1
        return n_answers

    with ThreadPoolExecutor(8) as pool:
        asking = [pool.submit(ask, number) for number in range(8)]
        try:
            for _ in range(n_updates):
                model.partial_fit(*MORE)
                model.forget(*MORE)
        finally:
            done.set()
        return sum(future.result() for future in asking)


@pytest.mark.long
@pytest.mark.parametrize("model", [Tagger("fixed"), EmpiricalCRF(), HMM()], ids=lambda m: type(m).__name__)
def test_eight_threads_tag_while_one_learns(model: CountedModel) -> None:
    """Under the sanitizers, too: CONTRIBUTING.md says how."""
    print(learn_while_eight_tag(model, 1_000), "answers")
