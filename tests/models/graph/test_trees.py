"""Labels on trees: the columns of parents and children, what is refused, and what every counted model can."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

import corate
from conftest import Cli
from corate import InputError, TreeTagger
from corate.contexts.template import Context
from corate.contexts.values import column_of
from corate.models.graph.trees import with_tree
from corate.storage.modelfile import to_bytes
from corate.text.tokens import as_corpus

DOG = [("The", "DET", "2"), ("dog", "NOUN", "3"), ("barks", "VERB", "0"), ("loudly", "ADV", "3")]


def seen(text: str, sentence: Any = DOG) -> list[str]:
    (atom,) = Context.parse(text).atoms
    assert str(atom) == text
    column = column_of(with_tree(as_corpus([sentence])), atom)
    assert column is not None
    return column.strings()


def test_parents_children_and_sides() -> None:
    assert seen("word^") == ["dog", "barks", "^", "barks"]
    assert seen("col2^") == ["NOUN", "VERB", "^", "VERB"]
    assert seen("col2*") == ["_", "DET _", "NOUN _ ADV", "_"]
    assert seen("side") == ["R1", "R1", "^", "L1"]
    star = [("hub", "X", "0"), *((f"n{k}", "Y", "1") for k in range(9))]
    assert seen("side", star)[-2:] == ["L8", "L8"]
    assert seen("word*", star)[0] == "_ n0 n1 n2"
    assert [str(c) for c in Context.parse("col2,side,col2^").parents()] == ["col2,col2^", "col2"]


BAD = [
    ([("a", "x")], "sentence 1, token 1 \\('a'\\): its head 'x' is no other token's number"),
    ([("a", "1")], "its head '1' is no other token's number"),
    ([("a", "3"), ("b", "0")], "its head '3' is no other"),
    ([("a", "2"), ("b", "1")], "token 1 .*: its head '2' is part of a circle"),
    (["a", "b"], "a tree needs heads"),
    ([{"word": "a"}], "tokens on a tree are tuples"),
]


@pytest.mark.parametrize(("sentence", "message"), BAD, ids=[message for _, message in BAD])
def test_bad_trees(sentence: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        TreeTagger(weights="fixed").fit([sentence], [["X"] * len(sentence)])


@pytest.mark.parametrize("text", ["word-1^", "word^^", '"key"^', "^", "nonsense^"])
def test_bad_contexts(text: str) -> None:
    with pytest.raises(InputError):
        Context.parse(text)


def treebank(n: int, seed: int = 0) -> tuple[list[list[tuple[str, str, str]]], list[list[str]]]:
    """Trees whose labels follow from the tags of token and parent."""
    rng = random.Random(seed)
    X, y = [], []
    for _ in range(n):
        tags = [rng.choice("NVAD") for _ in range(rng.randint(1, 8))]
        heads = [0, *(rng.randint(1, k) for k in range(1, len(tags)))]
        words = [f"{tag.lower()}{rng.randint(0, 20)}" for tag in tags]
        X.append([(w, t, str(h)) for w, t, h in zip(words, tags, heads, strict=True)])
        y.append([t + (tags[h - 1] if h else "root") for t, h in zip(tags, heads, strict=True)])
    return X, y


def saved(model: Any) -> bytes:
    return to_bytes(model._contents())


def test_the_parent_decides() -> None:
    """Where the label follows from the parent's tag, a chain cannot know it and a tree can."""
    X, y = treebank(200)
    Z, gold = treebank(60, 1)
    chain = corate.Tagger(weights="fixed").fit([[t[:2] for t in s] for s in X], y)
    assert chain.score([[t[:2] for t in s] for s in Z], gold) < 0.7
    for weights in ("fixed", "fitted"):
        assert TreeTagger(weights).fit(X, y).score(Z, gold) > 0.95


CHAIN = ["word", "tail2", "col2", "word-1", "word+1", "word-1,word", "col2-1"]


@pytest.mark.parametrize("weights", ["fixed", "fitted"])
def test_on_chains_it_is_the_tagger(weights: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every token hangs on the one before it: the same counts, labels, and marginals to 1e-9; but for the CRF
    that stands beside the Tagger with few data, and not beside the TreeTagger."""
    monkeypatch.setattr("corate.models.tagger.tagger.share", lambda *_: 0.0)
    words, labels = corate.load_sample()
    unseen, _ = corate.load_sample("test")

    def columns(sentences: list[list[str]]) -> list[list[tuple[str, ...]]]:
        return [[(w, w[-1:], str(k)) for k, w in enumerate(sentence)] for sentence in sentences]

    tree = TreeTagger(weights, contexts=CHAIN).fit(columns(words), labels)
    chain = corate.Tagger(weights, contexts=CHAIN)
    chain.fit([[t[:2] for t in s] for s in columns(words)], labels)
    for name in ("y", "^y", "y$", "y.y", "y.y.y"):
        assert tree.counts_.tables[name] == chain.counts_.tables[name]
    Z = columns(unseen)
    flat = [[t[:2] for t in s] for s in Z]
    assert tree.predict(Z) == chain.predict(flat)
    pairs = zip(tree.predict_marginals(Z), chain.predict_marginals(flat), strict=True)
    for one, other in ((a, b) for s, t in pairs for a, b in zip(s, t, strict=True)):
        assert one == pytest.approx(other, abs=1e-9)
    ranked = zip(tree.predict_nbest(Z[:20], 3), chain.predict_nbest(flat[:20], 3), strict=True)
    for one_best, other_best in ranked:
        assert [p for _, p in one_best] == pytest.approx([p for _, p in other_best], abs=1e-9)
    gold = chain.predict(flat[:5])
    assert tree.log_prob(Z[:5], gold) == pytest.approx(chain.log_prob(flat[:5], gold), abs=1e-9)


def test_forced_labels_and_forbidden_pairs_on_trees() -> None:
    X, y = treebank(100)
    tagger = TreeTagger(weights="fixed").fit(X, y)
    free = tagger.predict(X[:30])
    forced = tagger.predict(X[:30], corate.Constraints(forced=[{0: "NN"}] * 30))
    assert all(labels[0] == "NN" for labels in forced)

    def pairs(sentence: Any, labels: list[str]) -> set[tuple[str, str]]:
        both = zip(sentence, labels, strict=True)
        return {(labels[int(h) - 1], label) for (_, _, h), label in both if h != "0"}

    banned = sorted(set().union(*map(pairs, X[:30], free)))[:3]
    other = tagger.predict(X[:30], corate.Constraints(forbidden=banned))
    assert not set().union(*map(pairs, X[:30], other)) & {*banned}


def test_explanations_name_the_parent() -> None:
    X, y = treebank(80)
    sentence = next(each for each in X if len(each) > 4)
    told = TreeTagger().fit(X, y).explain(sentence)
    for token, (_, _, head) in zip(told, sentence, strict=True):
        above = [r.text for r in token.reasons if r.text.startswith(f"{token.label} under ")]
        assert bool(above) == (head != "0")
        if head != "0":
            assert above[0].startswith(f"{token.label} under {told[int(head) - 1].label}") or len(above) > 1


def test_what_counted_models_can(tmp_path: Path) -> None:
    X, y = treebank(60)

    def fit(part: slice) -> TreeTagger:
        model = TreeTagger(weights="fixed").fit(X[part], y[part])
        assert isinstance(model, TreeTagger)
        return model

    whole, half = slice(None), slice(30)
    assert (
        saved(fit(half).partial_fit(X[30:], y[30:]))
        == saved(fit(half) + fit(slice(30, 60)))
        == saved(fit(whole))
    )
    assert saved(fit(whole).forget(X[30:], y[30:])) == saved(fit(half))
    fit(whole).save(tmp_path / "a")
    loaded = corate.load(tmp_path / "a")
    loaded.save(tmp_path / "b")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert loaded.predict(X) == fit(whole).predict(X)
    assert loaded.log_prob(X[:3], y[:3]) == fit(whole).log_prob(X[:3], y[:3])
    with pytest.raises(InputError, match="tokens of 2 columns, where the model takes 3"):
        loaded.predict([[("a", "N")]])
    reasons = loaded.explain(X[0])
    assert any("^=" in reason.text for token in reasons for reason in token.reasons)


ROWS = [("The", "DET", 2, "det"), ("dog", "NOUN", 3, "nsubj"), ("barks", "VERB", 0, "root")]
LINES = [f"{i}\t{w}\t_\t{t}\t_\t_\t{h}\t{r}\t_\t_\n" for i, (w, t, h, r) in enumerate(ROWS, 1)]
CONLLU = "".join(LINES) + "\n"


def test_the_command_line(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("t.conllu").write_text(CONLLU * 3)
    assert cli("train", "--tree", "t.conllu", "-m", "t.model").code == 0
    blank = CONLLU.replace("nsubj", "_")
    Path("blank.conllu").write_text(blank)
    assert cli("tag", "-m", "t.model", "blank.conllu").out == CONLLU
    assert "100.00" in cli("eval", "-m", "t.model", "t.conllu").out
    assert "nsubj" in cli("explain", "-m", "t.model", "cats/NOUN/2 sleep/VERB/0").out
    Path("bad.conllu").write_text(CONLLU.replace("\t3\tnsubj", "\t9\tnsubj"))
    done = cli("train", "--tree", "bad.conllu", "-m", "u.model")
    assert (done.code, Path("u.model").exists()) == (2, False)
    assert "its head '9' is no other token's number" in done.err
    assert cli("train", "--tree", "--model", "hmm", "t.conllu", "-m", "u.model").code == 2
