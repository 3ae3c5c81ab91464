"""Models that are made smaller: what events are worth, beside a calculation by hand; and that files fit."""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from conftest import Cli
from corate import InputError, Tagger, TreeTagger, load, load_sample
from corate.contexts.template import Context
from corate.contexts.views import view
from corate.counts.names import atoms_of, table_of
from corate.models.tagger.shrink import Worth
from corate.storage import modelfile
from shared import assert_one_line

X, Y = load_sample()
TEST, GOLD = load_sample("test")
CONTEXTS = ("shape", "tail2", "word", "word-1", "word-1,word", "word,word+1", "pair:tail2-1")
PARENTS = {"tail2": "shape", "word": "tail2", "word-1,word": "word", "word,word+1": "word"}
SMALL_X, SMALL_Y = X[:60], Y[:60]


def value_of(context: Context, words: list[str], i: int) -> tuple[str, ...]:
    """What a context sees at a token; NUL beyond the sentence."""
    places = [i + atom.offset for atom in context.atoms]
    inside = [0 <= place < len(words) for place in places]
    return tuple(
        view(atom.view)(words[place]) if there else "\0"
        for atom, place, there in zip(context.atoms, places, inside, strict=True)
    )


class ByHand:
    """Counts and probabilities of the small sample, in dicts."""

    def __init__(self, model: Tagger) -> None:
        self.model, self.prior = model, model.rates().labels.prior
        self.n: dict[str, Counter[tuple[Any, str]]] = {name: Counter() for name in CONTEXTS[:-1]}
        self.parent: dict[tuple[str, Any], Any] = {}  # of a value, as its most frequent token has it
        for words, labels in zip(SMALL_X, SMALL_Y, strict=True):
            for i, label in enumerate(labels):
                for name in CONTEXTS[:-1]:
                    value = value_of(Context.parse(name), words, i)
                    self.n[name][value, label] += 1
                    if name in PARENTS:
                        self.parent[name, value] = value_of(Context.parse(PARENTS[name]), words, i)

    def prob(self, name: str | None, value: Any, label: str, without: bool = False) -> float:
        if name is None:
            return float(self.prior[self.model.classes_.index(label)])
        above = self.prob(PARENTS.get(name), self.parent.get((name, value)), label)
        rows = {y: n for (f, y), n in self.n[name].items() if f == value and not (without and y == label)}
        a = 1.5 * len(rows)
        return (rows.get(label, 0) + a * above) / (sum(rows.values()) + a) if rows else above


def test_worth_of_events_by_hand() -> None:
    model = Tagger("fitted", contexts=CONTEXTS).fit(SMALL_X, SMALL_Y)
    rates, weights, hand = model.rates(), model.weights_, ByHand(model)
    names = [str(context) for context in rates.contexts]
    found = {name: (table, worth) for name, table, worth in Worth(rates, weights).tables()}
    for name in CONTEXTS[:-1]:
        table, worth = found[table_of(Context.parse(name))]
        vocabularies = [model.counts_.vocabularies[atom.source] for atom in Context.parse(name).atoms]
        times = Counter(hand.n[name].values())
        d = times[1] / (times[1] + 2 * times[2])
        assert len(worth) == len(hand.n[name])
        for row in range(0, len(worth), 7):
            *ids, y = table.ids[row].tolist()
            value = tuple(values[k] for values, k in zip(vocabularies, ids, strict=True))
            label, j = model.classes_[y], names.index(name)
            total = sum(n for (f, _), n in hand.n[name].items() if f == value)
            bucket = sum(total >= bound for bound in rates.smoothing.bounds)
            loss = math.log(hand.prob(name, value, label) / hand.prob(name, value, label, without=True))
            expected = weights.contexts[bucket, j] * (hand.n[name][value, label] - d) * min(1.0, loss)
            assert math.isclose(worth[row], expected, rel_tol=1e-9, abs_tol=1e-12), (name, value, label)


def test_worth_of_label_pairs_by_hand() -> None:
    model = Tagger("fixed", contexts=CONTEXTS).fit(SMALL_X, SMALL_Y)
    prior, pair = model.rates().labels.prior, model.rates().labels.pair
    *_, (name, table, worth) = Worth(model.rates(), model.weights_).tables()
    assert name == "tail2-1.y.y"
    times = Counter(table.n.tolist())
    d = times[1] / (times[1] + 2 * times[2])
    for row in range(0, len(worth), 5):
        f, y, z = table.ids[row].tolist()
        rows = {
            (b, c): n for (a, b, c), n in zip(table.ids.tolist(), table.n.tolist(), strict=True) if a == f
        }
        a, total = 1.5 * len(rows), sum(rows.values())
        p_y = (sum(n for (b, _), n in rows.items() if b == y) + a * prior[y]) / (total + a)
        p_z = (sum(n for (_, c), n in rows.items() if c == z) + a * prior[z]) / (total + a)
        joint = (rows[y, z] + a * prior[y] * prior[z] * math.exp(pair[y, z])) / (total + a)
        rate = abs(math.log(joint / (p_y * p_z)) - pair[y, z])
        expected = model.weights_.pairs[0] * (rows[y, z] - d) * min(1.0, rate)
        assert math.isclose(worth[row], expected, rel_tol=1e-9, abs_tol=1e-12)


@pytest.mark.parametrize("kind", ["words", "features", "columns", "trees"])
def test_files_fit(kind: str, tmp_path: Path) -> None:
    given: Any = SMALL_X
    if kind == "features":
        given = [[{"w": word, "end": word[-2:]} for word in words] for words in given]
    elif kind != "words":
        given = [[(word, str(k)) for k, word in enumerate(words)] for words in given]
    model = (TreeTagger if kind == "trees" else Tagger)("fixed").fit(given, SMALL_Y)
    whole = model.counts_
    model.save(tmp_path / "m")
    size = (tmp_path / "m").stat().st_size
    assert modelfile.size_of(model._contents()) == size
    assert model.prune_to_size(size).counts_ is whole, "it fits"
    assert model.ledger_ is not None
    for share in (0.8, 0.6) if kind == "features" else (0.7, 0.4):
        model.prune_to_size(int(share * size)).save(tmp_path / "m")
        assert 0.95 * share * size < (tmp_path / "m").stat().st_size <= share * size
        again = load(tmp_path / "m")
        assert again.counts_ == model.counts_
        assert again.predict(given[:5]) == model.predict(given[:5])
    for name, table in whole.tables.items():
        left = model.counts_.tables[name]
        assert len(left.n) <= len(table.n) if atoms_of(name) else left == table
        assert np.count_nonzero(left.n >= model.pruned_) == np.count_nonzero(table.n >= model.pruned_)


def test_better_than_by_count_alone() -> None:
    """Of the same size, on text that was not learned."""
    whole = Tagger("fixed").fit(X, Y)
    for below in (2, 4):
        rare = Tagger("fixed").fit(X, Y).prune(below)
        small = Tagger("fixed").fit(X, Y).prune_to_size(modelfile.size_of(rare._contents()))
        assert rare.score(TEST, GOLD) <= small.score(TEST, GOLD) <= whole.score(TEST, GOLD) + 0.01


def test_what_a_model_that_was_cut_says(tmp_path: Path, cli: Cli) -> None:
    path, small = tmp_path / "m.model", tmp_path / "small.model"
    Tagger("fixed").fit(SMALL_X, SMALL_Y).save(path)
    assert cli("prune", path, "--max-size", "0.1M", "-o", small).code == 0
    assert small.stat().st_size <= 100_000 < path.stat().st_size
    assert "pruned: events that were counted less than" in cli("inspect", small).out
    assert "pruned" not in cli("inspect", path).out
    with pytest.raises(InputError, match="the model was pruned"):
        load(small).forget(SMALL_X[:1], SMALL_Y[:1])
    assert load(small).partial_fit(SMALL_X[:1], SMALL_Y[:1]).counts_.n_sentences == 61
    before = path.read_bytes()
    rows = [
        (["--max-size", "1k"], "even without its contexts' events the model has more than 1,000 bytes"),
        (["--max-size", "much"], "'much' is no size: write 200M, 1.5G or a number of bytes"),
        (["--max-size", "0"], "'0' is no size"),
        (["--max-size", "-3M"], "'-3M' is no size"),
    ]
    for arguments, message in rows:
        assert_one_line(cli("prune", path, *arguments), message)
        assert path.read_bytes() == before


def test_only_models_with_weights(pos_model: Path, cli: Cli) -> None:
    message = "EmpiricalCRF: it has no weights that tell what an event is worth; --below drops rare ones"
    assert_one_line(cli("prune", pos_model, "--max-size", "1M"), message)


@pytest.mark.parametrize("most_bytes", [0, -1, 1.5, "1M"])
def test_sizes_that_are_none(most_bytes: Any) -> None:
    model = Tagger("fixed", contexts=["word"]).fit(SMALL_X, SMALL_Y)
    with pytest.raises(InputError, match="give a whole number of bytes"):
        model.prune_to_size(most_bytes)
