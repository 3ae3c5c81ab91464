"""Bombs and oversized inputs, in processes that may take 2 GB and 10 seconds and no more.

Each is done, or refused in one line: never a crash, a traceback, or an end by the limits. `make test-long`
tries a thousand, with sizes by chance.
"""

from __future__ import annotations

import gzip
import json
import random
import resource
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from corate import HMM, MEMM, Constraints, CorateError, EmpiricalCRF, Tagger, load, load_sample
from corate.cli import run as corate
from corate.contexts.files import read_contexts
from corate.contexts.template import Context
from drafts import overlapping
from writers import FORKS, Action, Child

MOST_BYTES = 2 << 30
MOST_SECONDS = 10
Bomb = Callable[[random.Random, Path], Action]
X, Y = load_sample()


def size(rng: random.Random, most: int) -> int:
    """Of any order of magnitude."""
    return int(most ** rng.uniform(0.6, 1.0))


def text_bomb(name: str, piece: bytes, most: int = 1 << 28) -> Bomb:
    def make(rng: random.Random, folder: Path) -> Action:
        path = folder / f"{name}.gz"
        n = size(rng, most) // len(piece)
        with gzip.open(path, "wb", 1) as file:
            file.write(rng.choice([b"", b"De\tO\n\n"]) if name.endswith("conll") else b"")
            for k in range(0, n, 1 << 16):
                file.write(piece * min(1 << 16, n - k))
        model = folder / "pos.model"
        if rng.random() < 0.5 or name.endswith("txt"):
            return lambda: corate(["tag", "-m", str(model), str(path)])
        return lambda: corate(["train", str(path), "-m", str(folder / "new.model"), "--model", "ep1"])

    return make


def calling(action: Callable[[], object]) -> Action:
    """As the command line does it: bad input is code 2 and one line."""

    def run() -> int:
        try:
            action()
        except CorateError as error:
            import sys

            print(error, file=sys.stderr)
            return 2
        return 0

    return run


def many_labels(rng: random.Random, folder: Path) -> Action:
    n = size(rng, 100_000)
    model = rng.choice([EmpiricalCRF(), HMM(), HMM("witten-bell"), Tagger("fixed", contexts=("word",))])
    words, labels = [[f"w{k % 50}" for k in range(n)]], [[f"L{k}" for k in range(n)]]
    return calling(lambda: model.fit(words, labels).predict([["w1", "w2", "zz"] * 20]))


def memm(rng: random.Random, folder: Path) -> Action:
    n = rng.choice([50, 300, 1000])
    words, labels = [[f"w{k}" for k in range(n)]], [[f"L{k}" for k in range(n)]]
    model = MEMM(rng.choice(["own", "shared"]), contexts=("word",), max_iterations=1)
    length = size(rng, 4_000)

    def ask() -> None:
        import warnings

        warnings.simplefilter("ignore")
        model.fit(words, labels).predict([["w1", "zz"] * length])

    return calling(ask)


def ep2(rng: random.Random, folder: Path) -> Action:
    n = rng.choice([40, 120])
    words = [[f"w{k}{'ing' * (k % 3)}" for k in range(n)]]
    labels = [[f"L{k % n}" for k in range(n)]]
    model = EmpiricalCRF("maxent", "word", ("suffix2",), c2=100.0)
    length = size(rng, 20_000)
    return calling(lambda: model.fit(words, labels).predict([[f"q{k}" for k in range(length)]]))


def constrained(rng: random.Random, folder: Path) -> Action:
    n, length = rng.choice([20, 100, 200]), rng.choice([3, 10, 40])
    words, labels = [[f"w{k}" for k in range(n)]] * 2, [[f"L{k}" for k in range(n)]] * 2
    model = Tagger("fixed", contexts=("word", "suffix1"))
    forced = Constraints(forced=[{k: f"L{(k * 7 + 3) % n}" for k in range(0, length, 2)}])
    exact = rng.random() < 0.5
    return calling(
        lambda: model.fit(words, labels).predict_marginals(
            [[f"w{k}" for k in range(length)]], forced, exact=exact
        )
    )


def nbest(rng: random.Random, folder: Path) -> Action:
    n, length = size(rng, 1_000_000), size(rng, 2_000)
    return calling(lambda: load(folder / "pos.model").predict_nbest([["the", "dog"] * length], n))


def long_sentence(rng: random.Random, folder: Path) -> Action:
    n = size(rng, 1_500_000)
    model = rng.choice([Tagger("fixed", contexts=("word", "word-1", "suffix2")), EmpiricalCRF(), HMM()])
    return calling(lambda: model.fit(X[:50], Y[:50]).predict([["the", "zyx", "of"] * (n // 3)]))


def long_context(rng: random.Random, folder: Path) -> Action:
    piece = rng.choice(['"', '\\"', '"",', " ", "word,", "%x[0,0]", ' ,"', '"\\'])
    text = rng.choice(["", '"', "U1:"]) + piece * size(rng, 300_000)
    path = folder / "contexts"
    path.write_text(text + "\n" + "word\n" * 10)
    action: Callable[[], object] = lambda: read_contexts(path)  # noqa: E731
    return calling(action if rng.random() < 0.5 else lambda: Context.parse(text))


def crafted_zip(rng: random.Random, folder: Path) -> Action:
    path = folder / "overlapping.model"
    path.write_bytes(overlapping((folder / "pos.model").read_bytes()))
    return lambda: corate(["inspect", str(path)])


def json_bomb(rng: random.Random, folder: Path) -> Action:
    path, n = folder / "a.jsonl", size(rng, 9_000_000)
    nested = rng.choice(["[", '{"a":', "[[],", '{"tokens":['])
    flat = json.dumps({"tokens": ["a"] * (n // 5)})
    path.write_text(rng.choice([nested * (n // len(nested)), flat, '{"tokens": [' + "{}," * (n // 3)]) + "\n")
    return lambda: corate(["tag", "-m", str(folder / "pos.model"), str(path)])


BOMBS: dict[str, Bomb] = {
    "newlines": text_bomb("a.conll", b"\n", 500_000_000),
    "newlines, text": text_bomb("a.txt", b"\n", 500_000_000),
    "newlines, unknown format": text_bomb("a", b"\n", 500_000_000),
    "comments": text_bomb("a.conll", b"# a comment\n", 300_000_000),
    "comments, CoNLL-U": text_bomb("a.conllu", b"# a comment\n", 300_000_000),
    "blanks": text_bomb("a.conll", b" \n"),
    "a line": text_bomb("a.txt", b"word "),
    "a line of one word": text_bomb("a.conll", b"w"),
    "rows": text_bomb("b.conll", b"the\tD\n", 40_000_000),
    "JSON": json_bomb,
    "many labels": many_labels,
    "MEMM": memm,
    "EP2": ep2,
    "constrained": constrained,
    "n-best": nbest,
    "a long sentence": long_sentence,
    "a long context": long_context,
    "overlapping members": crafted_zip,
}


def explode(kind: str, seed: int, folder: Path) -> str:
    """In a process of its own, within its limits: done, or told in a line."""
    action = BOMBS[kind](random.Random(f"{kind} {seed}"), folder)

    def limited() -> int:
        import os
        import sys

        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        sys.stdout = open(os.devnull, "w")  # noqa: PTH123, SIM115
        used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + MOST_BYTES, used + MOST_BYTES))
        resource.setrlimit(resource.RLIMIT_CPU, (MOST_SECONDS, MOST_SECONDS))
        return action()

    child = Child.of(limited)
    child.start()
    done = child.wait(seconds=200 * MOST_SECONDS)  # on a machine that has other things to do
    assert done.code in (0, 2), f"{kind}, seed {seed}: {done}"
    assert done.err.count("\n") == (done.code == 2), f"{kind}, seed {seed}: {done}"
    assert "not enough memory" not in done.err, f"{kind}, seed {seed}"
    return f"{kind}: {'told' if done.code else 'done'}"


@pytest.fixture
def folder(scratch: Path, pos_model: Path) -> Path:
    (scratch / "pos.model").write_bytes(pos_model.read_bytes())
    return scratch


@pytest.mark.long
@FORKS
@pytest.mark.parametrize("kind", BOMBS)
def test_bombs(folder: Path, kind: str) -> None:
    found: Counter[str] = Counter(explode(kind, seed, folder) for seed in range(56))
    print(found)
