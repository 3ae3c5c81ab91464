import numpy as np
import numpy.typing as npt

I8 = npt.NDArray[np.int8]
I32 = npt.NDArray[np.int32]
I64 = npt.NDArray[np.int64]
F64 = npt.NDArray[np.float64]

def log_rates(
    first_key: I64,
    keys: I64,
    first_row: I64,
    row_labels: I32,
    row_counts: I64,
    totals: I64,
    positions: I64,
    labels: I32,
    parents: I32,
    prior: F64,
    log_prior: F64,
    alpha: float,
    queries: I64,
    rates: F64,
    buckets: I8,
    n_threads: int,
    /,
) -> None: ...
def weigh(
    rates: F64,
    buckets: I8,
    positions: I64,
    labels: I32,
    by_bucket: F64,
    by_label: F64,
    scores: F64,
    /,
) -> None: ...
def unweigh(
    rates: F64,
    buckets: I8,
    positions: I64,
    labels: I32,
    surplus: F64,
    by_bucket: F64,
    by_label: F64,
    /,
) -> None: ...
def edge_expectation(
    sentences: I64,
    positions: I64,
    labels: I32,
    scores: F64,
    pair: F64,
    edges: I64,
    edge_scores: F64,
    values: F64,
    marginals: F64,
    log_z: F64,
    expected: F64,
    n_threads: int,
    /,
) -> None: ...
def viterbi(
    sentences: I64,
    positions: I64,
    labels: I32,
    scores: F64,
    pair: F64,
    edges: I64,
    edge_scores: F64,
    path: I64,
    best: F64,
    n_threads: int,
    /,
) -> None: ...
def marginals(
    sentences: I64,
    positions: I64,
    labels: I32,
    scores: F64,
    pair: F64,
    edges: I64,
    edge_scores: F64,
    marginals: F64,
    log_z: F64,
    n_threads: int,
    /,
) -> None: ...
def sequence_scores(
    sentences: I64,
    positions: I64,
    labels: I32,
    scores: F64,
    pair: F64,
    edges: I64,
    edge_scores: F64,
    wanted: I32,
    score: F64,
    n_threads: int,
    /,
) -> None: ...
def nbest(
    sentences: I64,
    positions: I64,
    labels: I32,
    scores: F64,
    pair: F64,
    edges: I64,
    edge_scores: F64,
    paths: I64,
    best: F64,
    n: int,
    n_threads: int,
    /,
) -> None: ...
