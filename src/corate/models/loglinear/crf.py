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
from corate.models.loglinear.base import FittedModel, InitialWeights
from corate.models.loglinear.chains import Chains
from corate.models.loglinear.expectations import position_scores
from corate.models.loglinear.features import Features, observed
from corate.models.loglinear.optimise import TOLERANCE, Search

ALGORITHMS = ("lbfgs", "l2sgd", "ap", "iis-s", "iis-t")


class LinearChainCRF(FittedModel):
    """A linear-chain CRF trained over whole sentences, as CRFsuite and CRF++ train it.

    Tokens are as the Tagger takes them: strings, tuples of columns, or features. A sentence with a token that
    has no label (`_` or None) is trained on in parts, without that token.

    Parameters
    ----------
    algorithm : "lbfgs"; stochastic gradient, "l2sgd"; averaged perceptron, "ap", which knows no c2 and says
        which labels are best, not how probable they are; or improved iterative scaling, which is slow, with
        one constant "iis-s" or one a sentence "iis-t".
    c2 : penalty on the squares of the weights, as CRFsuite's; CRF++'s -c C is c2 = 1 / (2 C).
    contexts : names of context templates; those that begin with `pair:` give features of label pairs.
        None takes Lafferty's (word, initial, hyphen, ending) and further columns, or the keys of features.
    max_iterations : a warning says if they did not suffice.
    tolerance : the search ends when ten iterations have gained less than this part of the objective.
    all_states, all_transitions : features for all labels, not just for those seen with an attribute
        (CRFsuite's feature.possible_states, feature.possible_transitions; CRF++ has both).
    label_pairs : whether pairs of labels alone are features (CRF++: the template `B`).
    initial : weights to start from instead of zeros, by name as `named_weights` gives them, or as an array.
    numbers : "refuse" or "bin", for features whose value is a number.
    n_jobs : threads; results do not depend on it.

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
    ) -> None:
        self.algorithm = algorithm
        super().__init__(c2, contexts, max_iterations, tolerance, numbers, n_jobs)
        self.all_states = all_states
        self.all_transitions = all_transitions
        self.label_pairs = label_pairs
        self.initial = initial

    def _search(self, features: Features, chains: Chains, labels: Ids, start: Float, search: Search) -> Float:
        if self.algorithm == "lbfgs":
            return super()._search(features, chains, labels, start, search)
        if self.algorithm == "ap":
            return perceptron.learn(features, chains, labels, start, search)
        if self.algorithm == "l2sgd":
            return sgd.minimise(features, chains, labels, self.c2, start, search, self._n_threads())
        seen = observed(features, chains, labels)
        return iis.maximise(self.algorithm, features, chains, seen, self.c2, start, search, self._n_threads())

    def matrices(self, tokens: Sequence[Any]) -> Float:
        """M₁ … Mₙ₊₁ of a sentence, with start and stop as the last two labels (004 eqn 39).

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
        for name in ("all_states", "all_transitions", "label_pairs"):
            if not isinstance(getattr(self, name), (bool, np.bool_)):
                raise InputError(f"{name}={getattr(self, name)!r}: say True or False")
