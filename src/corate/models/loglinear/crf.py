"""LinearChainCRF: a conditional random field trained by maximum likelihood (Lafferty 2001; 004 §3, §4).

    P(y | x) = exp(Σ wₖ fₖ(x, y)) / Z(x),   Z(x) = (M₁ M₂ … Mₙ₊₁)[start, stop]                 004 eqn 41

Trained by L-BFGS; as it was first done by improved iterative scaling, algorithm S or T (iis.py); or sentence
by sentence, by stochastic gradient (sgd.py) or as an averaged perceptron (perceptron.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from corate.arrays import Float, Ids
from corate.errors import InputError
from corate.models.loglinear import iis, perceptron, sgd
from corate.models.loglinear.base import FittedModel, InitialWeights, check_whole
from corate.models.loglinear.chains import Chains
from corate.models.loglinear.expectations import position_scores
from corate.models.loglinear.features import Features, observed
from corate.models.loglinear.optimise import PATIENCE, TOLERANCE, Report, Search

ALGORITHMS = ("lbfgs", "l2sgd", "ap", "iis-s", "iis-t")


class LinearChainCRF(FittedModel):
    """A linear-chain CRF trained over whole sentences, as CRFsuite and CRF++ train it.

    Tokens are as the Tagger takes them: strings, tuples of columns, or features. A sentence with a token that
    has no label (`_` or None) is trained on in parts, without that token.

    Parameters
    ----------
    algorithm : {"lbfgs", "l2sgd", "ap", "iis-s", "iis-t"}
        L-BFGS; stochastic gradient; averaged perceptron, which knows no c2 and says which labels are best,
        not how probable they are; or improved iterative scaling, which is slow, with one constant or one a
        sentence.
    c2 : float
        Penalty on the squares of the weights, as CRFsuite's; CRF++'s -c C is c2 = 1 / (2 C).
    c1 : float
        Penalty on their absolute values, as CRFsuite's ("lbfgs" alone): most weights end at 0.
    contexts : list of str or None
        Names of context templates; those that begin with `pair:` give features of label pairs.
        None takes Lafferty's (word, initial, hyphen, ending) and further columns, or the keys of features.
    max_iterations : int
        A warning says if they did not suffice.
    tolerance : float
        The search ends when ten iterations have gained less than this part of the objective.
    all_states, all_transitions : bool
        Features for all labels, not just for those seen with an attribute
        (CRFsuite's feature.possible_states, feature.possible_transitions; CRF++ has both).
    label_pairs : bool
        Whether pairs of labels alone are features (CRF++: the template `B`).
    initial : dict, array or None
        Weights to start from instead of zeros, by name as `named_weights` gives them, or as an array.
    numbers : {"refuse", "bin"}
        For features whose value is a number.
    n_jobs : int
        Threads; results do not depend on it. −1 takes all cores.

    Examples
    --------
    >>> from corate import LinearChainCRF
    >>> crf = LinearChainCRF(c2=0.1).fit([["the", "dog", "barks"]], [["DET", "NOUN", "VERB"]])
    >>> crf.predict([["the", "dog"]])
    [['DET', 'NOUN']]
    """

    def __init__(
        self,
        algorithm: str = "lbfgs",
        c2: float = 1.0,
        contexts: Sequence[str] | None = None,
        max_iterations: int = 1000,
        tolerance: float = TOLERANCE,
        all_states: bool = False,
        all_transitions: bool = False,
        label_pairs: bool = True,
        initial: InitialWeights | Float | None = None,
        numbers: str = "refuse",
        n_jobs: int = 1,
        c1: float = 0.0,
    ) -> None:
        self.algorithm = algorithm
        super().__init__(c2, contexts, max_iterations, tolerance, numbers, n_jobs)
        self.all_states = all_states
        self.all_transitions = all_transitions
        self.label_pairs = label_pairs
        self.initial = initial
        self.c1 = c1

    later_params = frozenset({"c1"})

    def fit(
        self,
        X: Any,
        y: Any = None,
        progress: Report | None = None,
        *,
        X_dev: Any = None,
        y_dev: Any = None,
        patience: int = PATIENCE,
    ) -> LinearChainCRF:
        """Fit the weights to labelled sentences `X`, `y`; `progress` is told of every iteration.

        With a development set, `X_dev` and `y_dev`, the weights are kept under which most of its tokens are
        labelled right, and the search ends when `patience` iterations have found none better; `training_log_`
        has each `dev_score`. Ctrl-C ends the search, and the best weights so far are kept.
        """
        check_whole("patience", patience)
        search = Search(self.max_iterations, self.tolerance, progress, patience=patience)
        return self._fit(X, y, search, None if X_dev is None else (X_dev, y_dev))

    def _search(self, features: Features, chains: Chains, labels: Ids, start: Float, search: Search) -> Float:
        if self.algorithm == "lbfgs":
            return super()._search(features, chains, labels, start, search)
        if self.algorithm == "ap":
            return perceptron.learn(features, chains, labels, start, search)
        if self.algorithm == "l2sgd":
            return sgd.minimise(features, chains, labels, self.c2, start, search, self._n_threads())
        seen = observed(features, chains, labels)
        return iis.maximise(self.algorithm, features, chains, seen, self.c2, start, search, self._n_threads())

    @property
    def transition_features_(self) -> dict[tuple[str, str], float]:
        """The weights of label pairs other than 0: {(label, next label): weight}, as in sklearn-crfsuite.

        >>> crf = LinearChainCRF(c1=0.1, c2=0.1).fit([["the", "dog", "barks"]], [["DET", "NOUN", "VERB"]])
        >>> sorted(crf.transition_features_)
        [('DET', 'NOUN'), ('NOUN', 'VERB')]
        """
        return self._weights_other_than_0()[1]

    @property
    def state_features_(self) -> dict[tuple[str, str], float]:
        """The weights of attributes other than 0: {(attribute, label): weight}, as in sklearn-crfsuite.

        >>> tokens = [[{"word": "the", "upper": False}, {"word": "Dog", "upper": True}]]
        >>> sorted(LinearChainCRF().fit(tokens, [["DET", "NOUN"]]).state_features_)
        [('upper', 'NOUN'), ('word:Dog', 'NOUN'), ('word:the', 'DET')]
        """
        return self._weights_other_than_0()[0]

    def _weights_other_than_0(self) -> tuple[dict[tuple[str, str], float], dict[tuple[str, str], float]]:
        """Those of attributes and of label pairs, named once: they are looked up in loops."""
        self._check_fitted()
        weights, kept = self.weights_, getattr(self, "_shown", None)
        if kept is None or kept[0] is not weights:
            features, y = self.features_, self.classes_
            items = [self.attributes_.item(attribute) for attribute in range(len(self.attributes_))]
            state, pair, _ = (part.tolist() for part in features.split(weights))
            named = zip(
                features.state_attributes.tolist(), features.state_labels.tolist(), state, strict=True
            )
            of_states = {(items[a], y[label]): w for a, label, w in named if w}
            pairs = zip(features.left.tolist(), features.right.tolist(), pair, strict=True)
            kept = self._shown = weights, of_states, {(y[a], y[b]): w for a, b, w in pairs if w}
        return kept[1], kept[2]

    def matrices(self, tokens: Sequence[Any]) -> Float:
        """M₁ … Mₙ₊₁ of a sentence (`tokens`), with start and stop as the last two labels (004 eqn 39).

        Mᵢ(y′, y) = exp(scores of y at i and of the pair y′, y); their product at [start, stop] is Z. For
        looking at: exp of large scores overflows here, and not in training or decoding.
        """
        chains = self._chains(self._corpus([tokens]))
        n, length = len(self.classes_), len(tokens)
        states, edges = position_scores(self.features_, chains, self.weights_, 0, length)
        made = np.zeros((length + 1, n + 2, n + 2))
        if not length:
            made[0, n, n + 1] = 1.0
            return made
        made[0, n, :n] = np.exp(states[0])
        made[1:length, :n, :n] = np.exp(edges[1:] + states[1:, None, :])
        made[length, :n, n + 1] = 1.0
        return made

    def _check_params(self) -> None:
        super()._check_params()
        if self.algorithm not in ALGORITHMS:
            raise InputError(f"algorithm={self.algorithm!r}: choose from {', '.join(map(repr, ALGORITHMS))}")
        if not isinstance(self.c1, (int, float, np.number)) or not 0 <= self.c1 < np.inf:
            raise InputError(f"c1={self.c1!r}: give a number from 0, the penalty on the size of weights")
        if self.c1 and self.algorithm != "lbfgs":
            raise InputError(f'c1={self.c1!r} is for algorithm="lbfgs", and this is {self.algorithm!r}')
        for name in ("all_states", "all_transitions", "label_pairs"):
            if not isinstance(getattr(self, name), (bool, np.bool_)):
                raise InputError(f"{name}={getattr(self, name)!r}: say True or False")
