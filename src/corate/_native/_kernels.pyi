from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Bool = npt.NDArray[np.bool_]
I8 = npt.NDArray[np.int8]
U8 = npt.NDArray[np.uint8]
I32 = npt.NDArray[np.int32]
U32 = npt.NDArray[np.uint32]
I64 = npt.NDArray[np.int64]
F32 = npt.NDArray[np.float32]
F64 = npt.NDArray[np.float64]

# text/

class Vocabulary:
    def __init__(self, text: U32, first: I64, /) -> None: ...
    def __len__(self) -> int: ...

class Cells:
    def __init__(self, n_columns: int, separator: int, /) -> None: ...
    def __len__(self) -> int: ...
    def read(self, text: U32, forbidden: U32, /) -> bool: ...
    def column(self, k: int, /) -> tuple[list[str], I32]: ...
    def offsets(self, /) -> I64: ...

def number_strings(parts: list[Sequence[Any]], n: int, /) -> tuple[list[str], I32] | None: ...
def strings_of(values: tuple[str, ...], codes: I32, offsets: I64, /) -> list[list[str]]: ...

# contexts/

class View:
    def __init__(self, name: str, length: int, head: int, /) -> None: ...

class Spelling:
    def __init__(self, text: U32, lower: U32, kinds: U32, first: I64, /) -> None: ...

def view_ids(values: Vocabulary, words: Spelling, view: View, /) -> I32: ...
def distinct_views(words: Spelling, view: View, /) -> tuple[list[str], I32]: ...

# counts/

def check_rows(table: I32, /) -> tuple[bool, list[int]]: ...
def find_rows(table: I32, sought: I32, /) -> tuple[I64, Bool]: ...
def insert_rows(table: I32, n: I64, rows: I32, n_of_rows: I64, places: I64, /) -> tuple[I32, I64]: ...

# rates/

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

class RowScores:
    def __init__(self, contexts: Contexts, tables: Tables, weights: F64, /) -> None: ...
    def __call__(self, tokens: Tokens, positions: I64, labels: I32, n_threads: int, /) -> F64: ...

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
    def add_gradient(self, surplus: F64, by_bucket: F64, by_label: F64, /) -> None: ...

def pack(columns: list[I32], bits: list[int], keys: I64, /) -> None: ...
def unpack(keys: I64, bits: list[int], ids: I32, /) -> None: ...

# lattice/

class Lattice:
    def __init__(
        self,
        sentences: I64,
        positions: I64,
        labels: I32,
        scores: F64,
        pair: F64,
        edges: I64,
        edge_scores: F64,
        /,
    ) -> None: ...

class Triples:
    def __init__(self, lattice: Lattice, first: I64, scores: F64, /) -> None: ...

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
    def __call__(self, lattice: Lattice, n_threads: int, /) -> F64: ...

def viterbi(lattice: Lattice, n_threads: int, /) -> tuple[I64, F64]: ...
def marginals(lattice: Lattice, n_threads: int, /) -> tuple[F64, F64]: ...
def sequence_scores(lattice: Lattice, wanted: I32, n_threads: int, /) -> F64: ...
def nbest(lattice: Lattice, n: int, n_threads: int, /) -> tuple[I64, F64]: ...
def max_marginals(lattice: Lattice, n_threads: int, /) -> F64: ...
def edge_blocks(lattice: Lattice, /) -> tuple[I64, F64]: ...
def viterbi2(triples: Triples, n_threads: int, /) -> tuple[I64, F64]: ...
def posteriors2(triples: Triples, want_triples: bool, n_threads: int, /) -> tuple[F64, F64, F64, F64]: ...

# models/

class Features:
    def __init__(
        self,
        n_labels: int,
        state_first: I64,
        state_labels: I32,
        left: I32,
        right: I32,
        pair_first: I64,
        pair_left: I32,
        pair_right: I32,
        /,
    ) -> None: ...

class Chains:
    def __init__(
        self,
        sentences: I64,
        first: I64,
        attributes: I32,
        pair_first: I64,
        pair_attributes: I32,
        times: F64,
        groups: I32,
        allowed: U8,
        /,
    ) -> None: ...

def chain_expectations(
    features: Features, chains: Chains, weights: F64, n_threads: int, /
) -> tuple[F64, F64]: ...
def forest(
    sentences: I64,
    positions: I64,
    left: I64,
    scores: F64,
    edges: I64,
    edge_scores: F64,
    triples: I64,
    triple_scores: F64,
    maximum: bool,
    /,
) -> tuple[F64, F64, F64, F64, I64]: ...
