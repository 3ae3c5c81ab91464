"""PiecewiseCRF: the factors of a CRF, each piece normalised by itself (Sutton & McCallum 2005; 000 §3.6).

    log P(y | x) ≈ log ψ(y₁, x) / Z₁ + Σᵢ log φ(yᵢ₋₁, yᵢ, x) / Zᵢ                             000 eqns 21, 22
    φ(yᵢ₋₁, yᵢ, x) = exp(scores of yᵢ at i and of the pair yᵢ₋₁, yᵢ),   Zᵢ = Σ φ over all pairs of labels

The pieces are the edges, each with the attributes of its right end, and the first position. Together they
have the factors of the whole chain once each; the learned weights are put together again for decoding.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from corate.arrays import offsets_of
from corate.models.loglinear.base import FittedModel
from corate.models.loglinear.chains import Chains
from corate.models.loglinear.optimise import TOLERANCE
from corate.models.loglinear.pieces import row_numbers


class PiecewiseCRF(FittedModel):
    """A linear-chain CRF whose pieces are trained as if the others were not there.

    Parameters
    ----------
    c2, contexts, max_iterations, tolerance, all_states, all_transitions, numbers, n_jobs :
        As for `LinearChainCRF`.

    Examples
    --------
    >>> from corate import PiecewiseCRF
    >>> crf = PiecewiseCRF(c2=0.1).fit([["the", "dog", "barks"]], [["DET", "NOUN", "VERB"]])
    >>> crf.predict([["the", "dog"]])
    [['DET', 'NOUN']]
    """

    def __init__(
        self,
        c2: float = 1.0,
        contexts: Sequence[str] | None = None,
        max_iterations: int = 1000,
        tolerance: float = TOLERANCE,
        all_states: bool = False,
        all_transitions: bool = False,
        numbers: str = "refuse",
        n_jobs: int = 1,
    ) -> None:
        super().__init__(c2, contexts, max_iterations, tolerance, numbers, n_jobs)
        self.all_states = all_states
        self.all_transitions = all_transitions

    def _pieces(self, chains: Chains) -> Chains:
        """First positions are chains of one; edges of two, with no attribute at the left; each once."""
        number, first = row_numbers(chains.states)
        pair_number, pair_first = row_numbers(chains.pairs)
        is_edge = np.zeros(chains.n_positions, bool)
        is_edge[chains.edges()] = True
        pair_number = np.where(is_edge, pair_number + 1, 0)
        kinds, times = np.unique(number * (len(pair_first) + 1) + pair_number, return_counts=True)
        of_pair = kinds % (len(pair_first) + 1)
        lengths = np.where(of_pair > 0, 2, 1)
        offsets = offsets_of(lengths)
        last = offsets[1:] - 1  # every position but the left ends
        right = of_pair > 0
        n = int(offsets[-1])
        states = chains.states.select(first[kinds // (len(pair_first) + 1)]).spread(last, n)
        pairs = chains.pairs.select(pair_first[of_pair[right] - 1]).spread(last[right], n)
        return Chains.of(offsets, states, pairs).counting(times.astype(np.float64))
