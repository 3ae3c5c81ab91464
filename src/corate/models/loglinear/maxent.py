"""MaxEntClassifier: every token by itself, P(y | x) ∝ exp(Σ wₖ fₖ(x, y)); other labels play no part."""

from __future__ import annotations

from corate.contexts.defaults import LAFFERTY
from corate.errors import InputError
from corate.models.loglinear.base import FittedModel
from corate.models.loglinear.chains import Chains
from corate.models.loglinear.pieces import single_positions


class MaxEntClassifier(FittedModel):
    """Multinomial logistic regression over the attributes of a token.

    Parameters
    ----------
    c2, contexts, max_iterations, tolerance, numbers, n_jobs :
        As for `LinearChainCRF`.

    Examples
    --------
    >>> from corate import MaxEntClassifier
    >>> model = MaxEntClassifier(c2=0.1).fit([["the", "dog", "barks"]], [["DET", "NOUN", "VERB"]])
    >>> model.predict([["dog", "the"]])
    [['NOUN', 'DET']]
    """

    word_contexts = ("bias", *LAFFERTY)  # nothing else tells frequent labels from rare ones
    label_pairs = False

    def _pieces(self, chains: Chains) -> Chains:
        if len(chains.pairs.ids):
            raise InputError("a context of label pairs: MaxEntClassifier looks at one label at a time")
        return single_positions(chains)
