"""Tokens that are more than words, and labels that are missing: columns, features, templates, `_`."""

from __future__ import annotations

import copy
import json
import random
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import Cli
from corate import Constraints, EmpiricalCRF, InputError, Tagger, load, load_sample
from corate.contexts.defaults import WORDS
from corate.counts.events import Events
from corate.evaluation.evaluate import evaluate
from corate.models.tagger.row_weights import share
from corate.models.tagger.weights import Weights
from corate.text.sample import FOLDER
from corate.text.tokens import as_corpus
from shared import CHUNKING, as_counter, assert_one_line, rows_of

X, POS = load_sample()
Y = load_sample(label="entity")[1]
TEST, TEST_POS = load_sample("test")
GOLD = load_sample("test", "entity")[1]
TRAIN_FILE, TEST_FILE = FOLDER / "train.conll", FOLDER / "test.conll"

Labels = list[list[str | None]]


# Labels that are missing -----------------------------------------------------------------------------

label = st.sampled_from(["X", "Y", "Z", "_", None])
token = st.tuples(st.sampled_from(["a", "b", "cc", ""]), label)
sentences = st.lists(st.lists(token, max_size=6), max_size=6)


@settings(max_examples=150, deadline=None)
@given(sentences, st.integers(0, 6), st.integers(0, 6))
def test_counts_equal_a_python_counter(data: list[list[tuple[str, str | None]]], a: int, b: int) -> None:
    names = [
        "y",
        "^y",
        "y$",
        "y.y",
        "y.y.y",
        "word.y",
        "word-1.y",
        "word+1.word.y",
        "word-1.word.y.y",
        "word.y.y",
    ]
    corpus = as_corpus([[w for w, _ in s] for s in data], [[y for _, y in s] for s in data])
    expected: dict[str, Counter[tuple[str | None, ...]]] = {name: Counter() for name in names}
    first, last = sorted((min(a, len(data)), min(b, len(data))))
    for s in data[first:last]:
        words, labels = [w for w, _ in s], [None if y == "_" else y for _, y in s]
        for i, (word, y) in enumerate(s):
            before, after = words[i - 1] if i else "\0", words[i + 1] if i + 1 < len(s) else "\0"
            y = labels[i]
            expected["y"][y,] += 1
            expected["^y"][y,] += i == 0
            expected["y$"][y,] += i == len(s) - 1
            expected["word.y"][word, y] += 1
            expected["word-1.y"][before, y] += 1
            expected["word+1.word.y"][after, word, y] += 1
            if i > 0:
                expected["y.y"][labels[i - 1], y] += 1
                expected["word.y.y"][word, labels[i - 1], y] += 1
                expected["word-1.word.y.y"][before, word, labels[i - 1], y] += 1
            if i > 1:
                expected["y.y.y"][labels[i - 2], labels[i - 1], y] += 1
    counts = Events(corpus, names).count(first, last)
    for name, events in expected.items():
        there = {event: n for event, n in events.items() if None not in event and n}
        assert as_counter(counts, name) == there, name
    assert counts.n_sentences == sum(any(y not in ("_", None) for _, y in s) for s in data[first:last])


def hide(labels: Sequence[Sequence[str]], share: float, seed: int = 0) -> Labels:
    chance = random.Random(seed)
    return [[None if chance.random() < share else y for y in sentence] for sentence in labels]


MODELS = [Tagger(), Tagger("fixed"), EmpiricalCRF("signature"), EmpiricalCRF("mean", "word")]


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_partly_labelled_sentences(model: Any, tmp_path: Path) -> None:
    some = hide(POS, 0.3)
    underscored = [["_" if y is None else y for y in labels] for labels in some]
    whole = model.fit(X, POS).score(TEST, TEST_POS)
    assert model.fit(X, some).score(TEST, TEST_POS) > whole - 0.06
    predicted = model.predict(TEST)
    assert model.classes_ == sorted({y for labels in POS for y in labels})
    assert model.fit(X, underscored).predict(TEST) == predicted
    model.save(tmp_path / "m")
    assert load(tmp_path / "m").predict(TEST) == predicted
    # Score and evaluate leave out what has no right label.
    gold = hide(TEST_POS, 0.5, 1)
    pairs = [(p, g) for a, b in zip(predicted, gold, strict=True) for p, g in zip(a, b, strict=True) if g]
    right = sum(p == g for p, g in pairs) / len(pairs)
    assert model.score(TEST, gold) == pytest.approx(right)
    result = evaluate(
        [[y or "_" for y in labels] for labels in gold], predicted, TEST, set(model.counts_.words)
    )
    assert result.tokens == len(pairs)
    assert result.accuracy == pytest.approx(right)
    assert result.unknown_rate is not None
    assert "_" not in {label for pair in result.confusion for label in pair}


def test_no_sentence_labelled_throughout() -> None:
    """Nothing to fit weights on: the fixed ones are used, less the share of the CRF beside them."""
    some: Labels = [[*labels[:-1], None] for labels in POS]
    tagger = Tagger().fit(X, some)
    left = 1 - share(tagger.rates(), sum(map(len, X)))
    assert 0.5 < left < 1
    fixed = left * Weights.fixed(tagger.rates()).vector()
    assert np.allclose(tagger.weights_.vector(), fixed, atol=1e-4)
    assert "PUNCT" in tagger.classes_  # commas
    # One sentence in four is enough to hold out.
    mixed: Labels = [[*labels] if s % 4 == 0 else some[s] for s, labels in enumerate(POS)]
    tagger.fit(X, mixed)
    assert not np.allclose(tagger.weights_.vector(), fixed, atol=1e-2)


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_no_label_at_all(model: Any) -> None:
    for none in ("_", None):
        with pytest.raises(InputError, match=r"no labelled token|no labels") as raised:
            model.fit([["a", "b"], ["c"]], [[none, none], [none]])
        assert "\n" not in str(raised.value)
    model.fit([["a", "b"]], [["X", None]])
    with pytest.raises(InputError, match="at least one labelled token"):
        model.score([["a"]], [["_"]])
    with pytest.raises(InputError, match="log_prob needs a label for every token"):
        model.log_prob([["a"]], [[None]])
    with pytest.raises(TypeError, match="sentence 0, label 1 is 5"):
        model.fit([["a", "b"]], [["X", 5]])


def test_missing_labels_in_files(cli: Cli, tmp_path: Path) -> None:
    text, model = tmp_path / "a.conll", tmp_path / "m"
    text.write_text("the\tD\ndog\t_\n\nthe\t_\ndog\tN\nbarks\tV\n\n")
    for kind in ("tagger", "ecrn", "ep1"):
        assert cli("train", text, "-m", model, "--model", kind, "-q") == (0, "", "")
        facts = json.loads(cli("eval", "-m", model, text, "--json").out)
        assert (facts["tokens"], facts["accuracy"]) == (3, 1.0)
        model.unlink()
    text.write_text("the\t_\ndog\t_\n\n")
    for kind in ("tagger", "ecrn"):
        assert_one_line(cli("train", text, "-m", model, "--model", kind), "no label")


# Columns ---------------------------------------------------------------------------------------------


def test_a_column_that_tells_all() -> None:
    chance = random.Random(0)
    words = [[chance.choice("abcdefg") for _ in range(8)] for _ in range(60)]
    tags = [[chance.choice("NVP") for _ in range(8)] for _ in range(60)]
    labels = [[f"label {tag}" for tag in row] for row in tags]
    for kind in ("fixed", "fitted"):
        tagger = Tagger(kind).fit(rows_of(words[:40], tags[:40]), labels[:40])
        assert "col2" in tagger.context_names()
        assert tagger.score(rows_of(words[40:], tags[40:]), labels[40:]) == 1.0
        for fewer in (words[40:], rows_of(words[40:])):
            with pytest.raises(InputError, match="the model looks at col2, and the tokens have words alone"):
                tagger.predict(fewer)
        more = rows_of(words[40:], tags[40:], words[40:])
        assert tagger.score(more, labels[40:]) == 1.0  # a further column does no harm
    alone = Tagger("fixed").fit(words[:40], labels[:40])
    assert alone.score(words[40:], labels[40:]) < 0.6


@pytest.mark.parametrize(
    ("tokens", "error", "message"),
    [
        ([("a", "N"), ("b",)], ValueError, "tokens have .* columns: give every token the same number"),
        ([("a", "N"), "b"], ValueError, "tokens have .* columns: give every token the same number"),
        ([("a", 1)], TypeError, "sentence 0, token 0 is"),
        ([()], TypeError, "sentence 0, token 0 is"),
        ([("a", "N"), {"w": "b"}], TypeError, "sentence 0, token 1"),
    ],
)
def test_odd_columns(tokens: list[Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message) as raised:
        Tagger().fit([tokens], [["X"] * len(tokens)])
    assert "\n" not in str(raised.value)


def test_a_context_of_a_column_that_is_not_there() -> None:
    with pytest.raises(InputError, match="looks at col3, and the tokens have 2 columns"):
        Tagger(contexts=["word", "col3-1"]).fit(rows_of(X, POS), Y)
    with pytest.raises(InputError, match="looks at col2, and the tokens have words alone"):
        Tagger(contexts=["word", "col2"]).fit(X, Y)


def test_columns_from_the_command_line(cli: Cli, tmp_path: Path) -> None:
    model, alone, two = tmp_path / "m", tmp_path / "alone", tmp_path / "two.conll"
    assert cli("train", TRAIN_FILE, "-m", model) == (0, "", "")
    assert cli("train", TRAIN_FILE, "-m", alone, "--words-only") == (0, "", "")
    assert load(alone).context_names() == list(WORDS)
    assert "col2-1,col2" in load(model).context_names()
    scores = [json.loads(cli("eval", "-m", m, TEST_FILE, "--json").out)["f1"] for m in (model, alone)]
    assert scores[0] > scores[1]
    expected = Tagger().fit(rows_of(X, POS), Y).predict(rows_of(TEST, TEST_POS))
    for arguments in ([two], ["--label", "3", TEST_FILE]):
        two.write_text(
            "".join("".join(f"{w}\t{p}\n" for w, p in rows) + "\n" for rows in rows_of(TEST, TEST_POS))
        )
        code, out, _ = cli("tag", "-m", model, *arguments)
        assert code == 0
        found = [[row.split("\t")[-1] for row in text.split("\n")] for text in out.strip().split("\n\n")]
        assert found == expected
    words = tmp_path / "words.conll"
    words.write_text("Anna\nsleeps\n\n")
    assert_one_line(cli("tag", "-m", model, "--format", "conll", words), "looks at col2")
    assert cli("tag", "-m", alone, "--format", "conll", words).code == 0
    assert_one_line(
        cli("train", TRAIN_FILE, "-m", alone, "--words-only", "--context", "word"), "do not go together"
    )


# Templates -------------------------------------------------------------------------------------------


def test_a_template_of_crfpp(cli: Cli, tmp_path: Path) -> None:
    template, model = tmp_path / "template", tmp_path / "m"
    template.write_text(CHUNKING)
    assert cli("train", TRAIN_FILE, "-m", model, "--contexts", template) == (0, "", "")
    tagger = load(model)
    assert "pair:word-1,word" in tagger.context_names()
    assert tagger.weights_.pairs.shape == (1,)
    assert json.loads(cli("eval", "-m", model, TEST_FILE, "--json").out)["accuracy"] > 0.9
    template.write_text("word # alone\ncol2\npair:col2-1,col2\n")
    assert cli("train", TRAIN_FILE, "-m", model, "--contexts", template, "--weights", "fixed").code == 0
    assert load(model).context_names() == ["word", "col2", "pair:col2-1,col2"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"word\nnonsense here\n", "mine:2: "),
        (b"U00:%x[0,0]\nQ:%x[1,0]\n", "mine:2: "),
        (b"U00:%x[0,9]\n", "col10"),
        (b"B\n", "mine"),
        (b"B01:%x[0,0]\n", "none but those of label pairs"),
        (b"", "mine: no context"),
        (bytes(range(256)), "mine:"),
    ],
)
def test_a_file_that_is_no_template(cli: Cli, tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "mine").write_bytes(content)
    assert_one_line(cli("train", TRAIN_FILE, "-m", tmp_path / "m", "--contexts", tmp_path / "mine"), message)
    assert not (tmp_path / "m").exists()


def test_copies_and_threads() -> None:
    """A model can be copied and sent to another process, whatever it has been asked before."""
    words, labels = load_sample()
    tagger = Tagger().fit(words[:60], labels[:60])
    expected = tagger.predict(words[:5])
    assert copy.deepcopy(tagger).predict(words[:5]) == expected
    with ThreadPoolExecutor(4) as pool:
        answers = pool.map(lambda k: tagger.predict(words[k : k + 5]), range(40))
        assert [*answers] == [tagger.predict(words[k : k + 5]) for k in range(40)]


def test_no_token_at_all(cli: Cli, tmp_path: Path) -> None:
    """Nothing in, nothing out, also for a model that looks at columns."""
    tagger = Tagger("fixed").fit([[("a", "b")]], [["A"]])
    assert tagger.predict([[], []]) == [[], []]
    tagger.save(tmp_path / "m")
    (tmp_path / "comments").write_text("# c\n\n# d\n")
    assert cli("tag", "-m", tmp_path / "m", "--format", "conll", tmp_path / "comments").code == 0


def test_what_a_hostile_user_found(tmp_path: Path) -> None:
    names = ["word", "pair:word", "pair:word"]
    tagger = Tagger("fixed", names).fit([["a", "b"]] * 3, [["B-X", "O"]] * 3)
    tagger.save(tmp_path / "m")
    assert load(tmp_path / "m").predict([["a"]]) == tagger.predict([["a"]])
    with pytest.raises(InputError, match="B-X and none of E-X, S-X"):
        tagger.predict([["a"]], Constraints(scheme="IOBES"))
    with pytest.raises(InputError, match="join 16 at most"):
        Tagger(contexts=[",".join(["word"] * 2000)]).fit([["a"]], [["A"]])
    endless: dict[str, object] = {"w": "a"}
    endless["d"] = endless
    with pytest.raises(InputError, match="too long"):
        Tagger().fit([[endless]], [["A"]])
    with pytest.raises(InputError, match="NUL"):
        tagger.predict([["\0", "a"]])
    gold, guess = [["B-PER", "_", "I-PER"], ["_"]], [["B-PER", "O", "I-PER"], ["O"]]
    assert evaluate(gold, guess).by_type["PER"].support == 2
