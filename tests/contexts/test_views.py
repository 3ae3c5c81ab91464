"""Views of many words at once against views of one, and what the kernels take for granted of letters."""

from __future__ import annotations

import sys
from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corate.contexts.view_ids import UNUSUAL, VocabularyIds, WordViews
from corate.contexts.views import view
from corate.text.corpus import Column
from corate.text.formats.quick_rows import PlainRows
from corate.text.tokens import as_corpus
from shared import KERNELS, by

NAMES = ("word", "lower", "shape", "prefix3", "suffix2", "tail1", "tail3", "ending", "initial")
LETTERS = list(map(chr, range(sys.maxunicode + 1)))

words = st.text(st.characters(exclude_characters="\0") | st.sampled_from("ABab1-Σσİıß"), max_size=9)


@pytest.mark.parametrize("name", NAMES)
@given(many=st.lists(words, max_size=40), known=st.lists(words, max_size=20))
def test_many_words_at_once(name: str, many: list[str], known: list[str]) -> None:
    expected = [view(name)(word) for word in many]
    vocabulary = sorted({*map(view(name), known), *expected[::2]})
    ids = WordViews(many).ids(name, VocabularyIds(vocabulary))
    assert ids.tolist() == [vocabulary.index(value) if value in vocabulary else -1 for value in expected]
    for kernel in KERNELS:
        values, ids = by(kernel, WordViews(many).distinct, name)
        assert values == sorted({*expected})
        assert [values[i] for i in ids.tolist()] == expected


@given(st.lists(st.lists(words | st.just("a")) | st.tuples(words, words)))
def test_strings_are_numbered_as_they_come(sentences: list[list[str]]) -> None:
    fast, slow = (by(kernel, Column.from_lists, sentences) for kernel in KERNELS)
    assert fast is not None
    assert slow is not None
    assert fast.values == slow.values == list(dict.fromkeys(chain.from_iterable(sentences)))
    assert fast.codes.tolist() == slow.codes.tolist()
    corpus = as_corpus(sentences)
    for kernel in KERNELS:
        assert by(kernel, corpus.split, fast.codes, fast.values) == list(map(list, sentences))


class Word(str):
    pass


@pytest.mark.parametrize("token", [1, b"a", None, ("a",), Word("a")])
def test_tokens_that_are_no_plain_strings(token: object) -> None:
    for kernel in KERNELS:
        assert by(kernel, Column.from_lists, [["a"], ["b", token]]) is None


def test_values_are_added_to_a_vocabulary() -> None:
    before = VocabularyIds(["a", "b"])
    vocabulary, ids = before.plus(["", "b", "Σ"])
    more, others = vocabulary.plus(["Σ", "c", "a"])
    assert (ids.tolist(), others.tolist()) == ([2, 1, 3], [3, 4, 0])
    for known, asked in ((before, [0, -1, -1]), (vocabulary, [0, 3, -1]), (more, [0, 3, 4])):
        for kernel in KERNELS:
            assert [by(kernel, known.get, value) for value in ("a", "Σ", "c")] == asked
    assert (len(before), len(vocabulary), len(more)) == (2, 4, 5)


def test_the_lower_case_of_usual_letters_is_one_letter() -> None:
    assert [letter for letter in LETTERS if len(letter.lower()) != 1] == ["İ"]
    assert "İ" in UNUSUAL
    text = "A".join(letter for letter in LETTERS if letter not in UNUSUAL)
    assert text.lower() == "".join(map(str.lower, text))


def test_cells_of_nothing_but_blanks_are_not_plain() -> None:
    for letter in LETTERS:
        if letter.isspace() and letter not in "\t\n":
            assert not PlainRows(2, "\t", 1).read([f"{letter}\tX", ""])
    solid = [letter for letter in LETTERS if not letter.isspace() and letter != "\0"]
    assert PlainRows(2, "\t", 1).read([*(f"{letter}\tX" for letter in solid), ""])
