"""What to label next and what to check: against n-best lists, and against models trained without a part."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corate import InputError, Tagger, load_sample
from corate.evaluation.audit import LEAST, audit
from corate.evaluation.queue import margins, suggest
from corate.text.tokens import as_corpus

X, Y = load_sample()
TEST = load_sample("test")[0][:30]
MODEL = Tagger("fixed").fit(X, Y)


def test_margins() -> None:
    ranked = MODEL.predict_nbest(TEST, 2)
    want = [each[0][1] - (each[1][1] if len(each) > 1 else 0.0) for each in ranked]
    np.testing.assert_allclose(margins(MODEL, TEST), want, atol=1e-12)
    assert len(margins(MODEL, [])) == 0


@settings(deadline=None, max_examples=20)
@given(st.floats(0, 1), st.integers(0, 99))
def test_the_queue_has_every_sentence_once(share: float, seed: int) -> None:
    """Those that were not drawn are in the order of their margin; of n sentences, n · share are drawn."""
    order = suggest(MODEL, TEST, share, seed)
    assert sorted(s.sentence for s in order) == list(range(len(TEST)))
    chosen = [s.margin for s in order if not s.drawn]
    assert chosen == sorted(chosen)
    assert sum(s.drawn for s in order) == int(share * len(TEST) + 1e-9)


def test_audit_is_that_of_models_trained_without() -> None:
    """Subtracting a part is training on the rest, number by number."""
    n, labels = 2, [*Y]
    labels[7] = ["ADV", *Y[7][1:]]
    found = {s.sentence: s for s in audit(Tagger("fixed").fit(X, labels), as_corpus(X, labels), n)}
    order = np.random.default_rng(0).permutation(len(X))
    for k in range(n):
        part = {*order[k::n].tolist()}
        rest = [s for s in range(len(X)) if s not in part]
        model = Tagger("fixed").fit([X[s] for s in rest], [labels[s] for s in rest])
        for s in sorted(part)[:15]:
            (marginals,) = model.predict_marginals([X[s]])
            want = [
                math.log(max(here.values()) / max(here.get(y, 0.0), LEAST))
                for y, here in zip(labels[s], marginals, strict=True)
            ]
            if s in found:
                np.testing.assert_allclose(found[s].by_token, want, atol=1e-6)
                assert found[s].suspicion == max(found[s].by_token)
                assert [found[s].predicted] == model.predict([X[s]])
            else:
                assert max(want) == 0


def test_broken_spans_come_first() -> None:
    words, entities = load_sample("train", "entity")
    entities[9] = ["I-LOC" if i == 1 else "O" for i in range(len(words[9]))]
    found = audit(Tagger("fixed").fit(words, entities), as_corpus(words, entities))
    assert found[0].sentence == 9
    assert found[0].by_token[1] == max(found[0].by_token)


def test_commands(cli: Callable[..., Any], own_model: Path, tmp_path: Path) -> None:
    text, train = tmp_path / "text.txt", tmp_path / "train.conll"
    text.write_text("\n".join(map(" ".join, TEST)) + "\n")
    train.write_text(
        "".join(
            "".join(f"{w}\t{y}\n" for w, y in zip(*s, strict=True)) + "\n" for s in zip(X, Y, strict=True)
        )
    )
    order = suggest(MODEL, TEST, 0.2, 5)
    done = cli("suggest", "-m", own_model, text, "--random-share", 0.2, "--seed", 5, "-n", 9)
    assert [line.split("\t")[0] for line in done.out.splitlines()] == [str(s.sentence + 1) for s in order[:9]]
    listed = cli("audit", train, "-m", own_model, "-n", 4, "--json")
    want = [s.sentence + 1 for s in audit(MODEL, as_corpus(X, Y))[:4]]
    assert [json.loads(line)["sentence"] for line in listed.out.splitlines()] == want
    strange = cli("audit", train.with_name("missing"), "-m", own_model)
    assert (strange.code, strange.err.count("\n")) == (2, 1)
    text.write_text("a\tDET\n")
    never = cli("audit", text, "-m", own_model)
    assert (never.code, "never learned" in never.err) == (2, True)


def test_what_cannot_be_ordered() -> None:
    with pytest.raises(InputError, match="from 0 to 1"):
        suggest(MODEL, TEST, 1.5)
    with pytest.raises(InputError, match="at least two"):
        audit(MODEL, as_corpus(X[:1], Y[:1]))
    with pytest.raises(InputError, match="no labels"):
        audit(MODEL, as_corpus(X))
