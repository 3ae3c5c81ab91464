"""Settings: every number of the Tagger that was chosen. Those of smoothing stand with their formulas, in
rates/smoothed.py. Scores and margins are in nats.

All were chosen on held-out sentences (Brown's first 1,000, CoNLL-2002 Dutch testa), never on test files;
docs/findings.md has what each brought, experiments/common_weights.py the common weights beside them.
"""

from __future__ import annotations

from dataclasses import dataclass

from corate.rates.smoothed import SMOOTHING, Smoothing


@dataclass(frozen=True)
class Settings:
    smoothing: Smoothing = SMOOTHING

    # Candidates of a kind of token: labels are taken from its contexts, the most specific one first …
    pool: int = 16  # until there are so many,
    enough: float = 1e-3  # or P(y | f) leaves no more than this to further ones;
    n_candidates: int = 8  # the best of them stay,
    pool_margin: float = 14.0  # if they are within this of the best one under equal weights,
    kind_margin: float = 6.0  # and, in tagging, within this under the model's own.
    path_margin: float = 7.0  # Candidates whose best sequence is this far below the best one are left out.

    # Weights of contexts that have none of their own.
    prior_weight: float = 0.85  # λ₀
    contexts_weight: float = 3.2  # Σ λ over contexts without a parent
    pair_weight: float = 0.6  # τ, also of start and end
    triple_weight: float = 0.3  # τ₂

    # The fit.
    n_folds: int = 5
    sample_tokens: int = 100_000  # over all folds
    steps: int = 30
    # First on so many tokens, with all candidates: nothing is known of the weights. Where there are more, on
    # them, with the candidates near the best ones under what was found.
    scout_tokens: int = 10_000
    fit_kind_margin: float = 9.0
    fit_path_margin: float = 7.0
    # Penalties, in units of the mean log-likelihood of a token: on λ₀, τ, …; on λ; on β and δ. On fewer
    # tokens than `evidence_tokens` they are larger by as much: few data say little about weights, and less
    # than weights that were fitted elsewhere; `own_evidence_tokens` are for contexts that have none such.
    single_penalty: float = 1e-1
    context_penalty: float = 1e-2
    label_penalty: float = 1e-3
    evidence_tokens: int = 20_000
    own_evidence_tokens: int = 5_000

    # Joint contexts of own features (joint.py), chosen on so many tokens.
    joint_tokens: int = 20_000
    joint_features: int = 40  # that are tried together, at most: the most telling ones
    joint_pairs: int = 12
    joint_triples: int = 6
    joint_partners: int = 3  # of one feature
    joint_gain: float = 0.002  # as a share of the labels' entropy
    backoff_share: float = 0.25  # of a feature's entropy that another may leave open to be said to tell it

    # Row weights (row_weights.py): r₀, for contexts of one's own and where there are common weights; n₀;
    # where r is 0; tokens × labels², above which they cost too much. The CRF that they come from:
    # penalties as CRFsuite's, and where it stops.
    rows_share: float = 1.0
    rows_share_common: float = 0.5
    rows_half_tokens: int = 4_000
    rows_tokens: int = 30_000
    rows_work: int = 20_000_000
    rows_l1: float = 0.1
    rows_l2: float = 0.01
    rows_bend: float = 0.02
    rows_steps: int = 80
    rows_tolerance: float = 1e-3

    # Tokens × contexts that are looked at together: with hundreds of features, fewer tokens.
    most_values: int = 2_500_000


SETTINGS = Settings()
