"""The classical models, in one shape with the others: they differ in training, and share the decoder."""

from __future__ import annotations

from corate.baselines.crf import LinearChainCRF
from corate.baselines.hmm import HMM
from corate.baselines.maxent import MaxEntClassifier
from corate.baselines.memm import MEMM
from corate.baselines.piecewise import PiecewiseCRF

__all__ = ["HMM", "MEMM", "LinearChainCRF", "MaxEntClassifier", "PiecewiseCRF"]
