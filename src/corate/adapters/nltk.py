"""A model of corate as a tagger of NLTK: `tag`, `tag_sents`, `accuracy`, and what else `TaggerI` has.

>>> import corate
>>> from corate.adapters.nltk import CorateTagger
>>> tagger = CorateTagger.train([[("the", "DET"), ("dog", "NOUN")], [("a", "DET"), ("cat", "NOUN")]])
>>> tagger.tag(["the", "cat"])
[('the', 'DET'), ('cat', 'NOUN')]
>>> tagger.accuracy([[("a", "DET"), ("dog", "NOUN")]])
1.0
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from nltk.tag.api import TaggerI

from corate.models.tagger.tagger import Tagger

TaggedSentence = Sequence[tuple[str, str]]


class CorateTagger(TaggerI):  # type: ignore[misc]
    """NLTK's interface to any trained model of words.

    Parameters
    ----------
    model : what `fit` or `corate.load` gives.
    """

    def __init__(self, model: Any) -> None:
        self.model = model

    @classmethod
    def train(cls, tagged_sents: Iterable[TaggedSentence], model: Any = None) -> CorateTagger:
        """Train a model, a `Tagger` where none is given, on NLTK's lists of (word, tag)."""
        sentences = [[*sentence] for sentence in tagged_sents]
        words = [[word for word, _ in sentence] for sentence in sentences]
        tags = [[tag for _, tag in sentence] for sentence in sentences]
        return cls((Tagger() if model is None else model).fit(words, tags))

    def tag(self, tokens: Sequence[str]) -> list[tuple[str, str]]:
        """The tokens of one sentence with their tags."""
        return self.tag_sents([tokens])[0]

    def tag_sents(self, sentences: Iterable[Sequence[str]]) -> list[list[tuple[str, str]]]:
        """Many sentences at once, which is quicker than one after the other."""
        given = [[*tokens] for tokens in sentences]
        return [[*zip(t, y, strict=True)] for t, y in zip(given, self.model.predict(given), strict=True)]

    def __repr__(self) -> str:
        return f"CorateTagger({self.model!r})"
