import numpy as np
import numpy.typing as npt

I32 = npt.NDArray[np.int32]
I64 = npt.NDArray[np.int64]
F64 = npt.NDArray[np.float64]

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
