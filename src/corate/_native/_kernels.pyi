from typing import Any

import numpy as np
import numpy.typing as npt

I8 = npt.NDArray[np.int8]
I32 = npt.NDArray[np.int32]
U32 = npt.NDArray[np.uint32]
I64 = npt.NDArray[np.int64]
F32 = npt.NDArray[np.float32]
F64 = npt.NDArray[np.float64]

class Tables:
    def __init__(self, ids: list[I32], counts: list[I64], bits: list[list[int]], /) -> None: ...
    def plus(self, ids: list[I32], counts: list[I64], bits: list[list[int]], /) -> Tables: ...
    def rows(self, table: int, key: int, /) -> list[tuple[int, int]]: ...

class Contexts:
    def __init__(
        self, first_atom: I32, views: I32, offsets: I32, bits: I32, parents: I32, n_given: int, /
    ) -> None: ...

class Tokens:
    def __init__(
        self, first_id: I64, ids: I32, columns: I32, outside: I32, codes: I32, sentences: I64, /
    ) -> None: ...

class CandidateRule:
    def __init__(
        self,
        ranked: I32,
        likely: I32,
        pool: int,
        weight: float,
        prior_weight: float,
        margin: float,
        enough: float,
        /,
    ) -> None: ...

class LogRates:
    def __init__(
        self,
        contexts: Contexts,
        tables: Tables,
        without: Tables | None,
        prior: F64,
        alpha: float,
        bounds: list[int],
        /,
    ) -> None: ...
    def __call__(
        self,
        tokens: Tokens,
        positions: I64,
        labels: I32,
        given: F64,
        sources: I64,
        skip_single: bool,
        n_threads: int,
        /,
    ) -> tuple[F32, I8]: ...
    def candidates(
        self,
        tokens: Tokens,
        rule: CandidateRule,
        first_required: I64,
        required: I32,
        most: int,
        n_threads: int,
        /,
    ) -> tuple[I32, I32, F64, F32, I8]: ...

class PairRates:
    def __init__(
        self,
        contexts: Contexts,
        tables: Tables,
        without: Tables | None,
        prior: F64,
        pair: F64,
        alpha: float,
        /,
    ) -> None: ...
    def __call__(
        self,
        tokens: Tokens,
        positions: I64,
        labels: I32,
        edges: I64,
        skip_single: bool,
        n_threads: int,
        /,
    ) -> F64: ...

class Rows:
    def __init__(self, positions: I64, labels: I32, rates: F32, buckets: I8, /) -> None: ...
    def weigh(self, by_bucket: F64, by_label: F64, scores: F64, /) -> None: ...
    def unweigh(self, surplus: F64, by_bucket: F64, by_label: F64, /) -> None: ...

class TripleRates:
    def __init__(
        self,
        n_labels: int,
        pairs: I64,
        unseen: F64,
        first_row: I64,
        row_labels: I32,
        row_rates: F64,
        /,
    ) -> None: ...
    def __call__(
        self, sentences: I64, positions: I64, labels: I32, triples: I64, out: F64, n_threads: int, /
    ) -> None: ...

class Cells:
    def __init__(self, n_columns: int, separator: int, /) -> None: ...
    def read(self, text: U32, forbidden: U32, /) -> bool: ...
    def column(self, k: int, codes: I32, /) -> bytes: ...
    def offsets(self, offsets: I64, /) -> None: ...
    @property
    def size(self) -> tuple[int, int]: ...  # tokens, sentences

class Vocabulary:
    def __init__(self, text: U32, first: I64, /) -> None: ...
    def __len__(self) -> int: ...
    def add(self, text: U32, first: I64, ids: I32, /) -> None: ...
    def ids(
        self, text: U32, lower: U32, kinds: U32, first: I64, view: int, length: int, ids: I32, /
    ) -> None: ...

def distinct_views(
    text: U32, lower: U32, kinds: U32, first: I64, view: int, length: int, ids: I32, /
) -> bytes: ...
def number_strings(parts: list[Any], codes: I32, /) -> list[str] | None: ...
def strings_of(values: tuple[str, ...], codes: I32, offsets: I64, /) -> list[list[str]]: ...
def check_rows(table: I32, highest: I32, /) -> bool: ...
def find_rows(table: I32, sought: I32, places: I64, found: npt.NDArray[np.uint8], /) -> None: ...
def insert_rows(
    table: I32, n: I64, rows: I32, n_of_rows: I64, places: I64, made: I32, n_made: I64, /
) -> None: ...
def pack(columns: list[I32], bits: list[int], keys: I64, /) -> None: ...
def unpack(keys: I64, bits: list[int], ids: I32, /) -> None: ...
def chain_expectations(*arrays: Any) -> None: ...  # see bind_chains.cpp
def max_marginals(
    sentences: I64,
    positions: I64,
    labels: I32,
    scores: F64,
    pair: F64,
    edges: I64,
    edge_scores: F64,
    margins: F64,
    n_threads: int,
    /,
) -> None: ...
def edge_blocks(
    sentences: I64,
    positions: I64,
    labels: I32,
    pair: F64,
    edges: I64,
    edge_scores: F64,
    /,
) -> None: ...
def viterbi2(
    sentences: I64,
    positions: I64,
    labels: I32,
    scores: F64,
    pair: F64,
    edges: I64,
    edge_scores: F64,
    first: I64,
    triple_scores: F64,
    path: I64,
    best: F64,
    n_threads: int,
    /,
) -> None: ...
def posteriors2(
    sentences: I64,
    positions: I64,
    labels: I32,
    scores: F64,
    pair: F64,
    edges: I64,
    edge_scores: F64,
    first: I64,
    triple_scores: F64,
    marginals: F64,
    pairs: F64,
    thirds: F64,
    log_z: F64,
    failed: I8,
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
