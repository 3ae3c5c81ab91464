"""What is asked of one sentence: the methods of a model of sentences, without the list around it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from corate.models.base import Estimator
    from corate.models.trellis import Trellis


class OneSentence(ABC):
    """Part of `Estimator`, which has the methods for many (`X`); `tokens` are those of one sentence."""

    @abstractmethod
    def predict(self, X: Any) -> list[list[str]]:
        """The best labels of every sentence."""

    @abstractmethod
    def predict_marginals(self, X: Any, *, all_labels: bool = False) -> list[list[dict[str, float]]]:
        """For every token, the probability of each label that is possible there, or of `all_labels`."""

    def predict_single(self, tokens: Sequence[Any]) -> list[str]:
        """The best labels of one sentence.

        >>> import corate
        >>> hmm = corate.HMM().fit(*corate.load_sample())
        >>> hmm.predict_single(["the", "dog", "barks"])
        ['DET', 'NOUN', 'VERB']
        """
        return self.predict([tokens])[0]

    def predict_marginals_single(
        self, tokens: Sequence[Any], all_labels: bool = True
    ) -> list[dict[str, float]]:
        """For every token of one sentence, the probability of each label; without `all_labels`, of those that
        are possible there.

        >>> import corate
        >>> hmm = corate.HMM().fit([["the", "dog"], ["the", "cat"]], [["DET", "NOUN"], ["DET", "NOUN"]])
        >>> hmm.predict_marginals_single(["the", "dog"])
        [{'DET': 1.0, 'NOUN': 0.0}, {'DET': 0.0, 'NOUN': 1.0}]
        """
        return self.predict_marginals([tokens], all_labels=all_labels)[0]

    def trellis(self, tokens: Sequence[Any], constraints: Any = None) -> Trellis:
        """The candidates of each token of one sentence, with forward, backward and Viterbi scores;
        `constraints` as for `predict`."""
        from corate.models.trellis import trellis

        return trellis(cast("Estimator", self), tokens, constraints)
