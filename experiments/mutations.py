"""Model files that are wrong in ways that no checksum shows: are they refused, or sound all the same?

Models of a few sentences are changed at random (ids, counts, vocabularies, weights, ledger, header, shapes,
dtypes, names, whole members, bytes of the archive), and all checksums are made right again. Loading such a
file must give one clear error, or a model that works: it labels, its marginals add up to one, it explains, it
saves to a file that loads as the same bytes, and learning a batch and forgetting it leaves it as it was.
Never a crash, a hang, a warning, a traceback or an allocation beyond bounds.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import json
import math
import os
import random
import resource
import signal
import subprocess
import sys
import warnings
import zipfile
from collections import Counter
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import terminal
from corate import CorateError, EmpiricalCRF, ModelFileError, Tagger, load, merge
from corate.counts.invariants import check
from corate.models.counted import CountedModel
from corate.storage import modelfile

SECONDS = 60  # one mutation takes milliseconds; one that takes this long hangs
MOST_BYTES = 1 << 30  # more memory than the interpreter has at the start
CHUNK = 1_000  # mutations a process
NOT_CLEAR = (KeyError, AttributeError, IndexError, OverflowError, AssertionError)  # Python's words, not ours

X = [
    ["The", "dog", "barks", "."],
    ["A", "cat", "sleeps"],
    ["The", "old", "dog", "sleeps", "."],
    ["Anna", "saw", "the", "cat", "."],
    ["It", "rains"],
    ["Well-being", "matters", "."],
    ["1984", "ended"],
    ["The", "dog", "saw", "Anna"],
    ["Stop"],
    ["Anna", "barks", "."],
    ["The", "cat", "and", "the", "dog"],
    ["It", "sleeps", "."],
]
y = [
    ["D", "N", "V", "P"],
    ["D", "N", "V"],
    ["D", "A", "N", "V", "P"],
    ["N", "V", "D", "N", "P"],
    ["N", "V"],
    ["N", "V", "_"],
    ["A", "V"],
    ["D", "N", "V", "N"],
    ["V"],
    ["N", "V", "P"],
    ["D", "N", "_", "D", "N"],
    ["N", "V", "P"],
]
UNSEEN = [["The", "dog", "miaows", "."], ["Zoë"], [], ["cat", "It", "1984", "saw", "Käse"]]
BATCH_X, BATCH_Y = [["The", "dog", "talks"], ["A", "cat"]], [["D", "N", "V"], ["D", "X"]]
FEW_CONTEXTS = ("shape", "tail2", "word", "word-1", "word+1", "word-1,word", "pair:tail2-1")

Sentences = list[list[Any]]


def with_features(sentences: Sentences) -> Sentences:
    """Tokens as dicts, some of which lack a key."""
    return [
        [{"w": w, "end": w[-2:], **({"upper": True} if w.istitle() else {})} for w in tokens]
        for tokens in sentences
    ]


@dataclass(frozen=True)
class Subject:
    """A model to be mutated, and the sentences that it is tried on."""

    data: bytes
    draft: Draft
    unseen: Sentences
    batch: Sentences


def subjects(folder: Path) -> dict[str, Subject]:
    models: dict[str, CountedModel] = {
        "Tagger, fixed": Tagger(weights="fixed").fit(X, y),
        "Tagger, fitted": Tagger(contexts=FEW_CONTEXTS).fit(X, y),
        "Tagger, features": Tagger(weights="fixed").fit(with_features(X), y),
        "Tagger, pruned": Tagger(weights="fixed", contexts=FEW_CONTEXTS).fit(X, y).prune(2),
        "EmpiricalCRF": EmpiricalCRF().fit(X, y),
        "EmpiricalCRF, words": EmpiricalCRF(pair="word", mu_oov=None, ledger=False).fit(X, y),
    }
    made = {}
    for name, model in models.items():
        model.save(folder / "subject")
        given = with_features if "features" in name else list
        data = (folder / "subject").read_bytes()
        made[name] = Subject(data, Draft.of(data), given(UNSEEN), given(BATCH_X))
    return made


# Model files in parts --------------------------------------------------------------------------------


@dataclass
class Draft:
    """What a model file is made of, to be changed."""

    manifest: dict[str, Any]
    members: dict[str, bytes]

    @classmethod
    def of(cls, data: bytes) -> Draft:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = {name: archive.read(name) for name in archive.namelist()}
        return cls(json.loads(members.pop(modelfile.MANIFEST)), members)

    @property
    def header(self) -> dict[str, Any]:
        found: dict[str, Any] = self.manifest["header"]
        return found

    def array(self, name: str) -> modelfile.Array:
        return modelfile._array(name, memoryview(self.members[name]))

    def put(self, name: str, array: modelfile.Array) -> None:
        self.members[name] = b"".join(modelfile._npy(array))

    def data(self, list_all: bool = True) -> bytes:
        """A file with checksums that are right; all members are listed, or those that were."""
        manifest, listed = dict(self.manifest), self.manifest.get("members")
        if isinstance(listed, dict):  # it may have been changed to something else
            names = self.members if list_all else listed
            data = {name: self.members.get(name, b"") for name in names}
            manifest["members"] = {name: {"sha256": hashlib.sha256(data[name]).hexdigest()} for name in data}
        buffer = io.BytesIO()
        pieces: dict[str, modelfile.Member] = {name: [data] for name, data in self.members.items()}
        modelfile.write_archive(buffer, {modelfile.MANIFEST: [json.dumps(manifest).encode()], **pieces})
        return buffer.getvalue()


# Mutations -------------------------------------------------------------------------------------------

Mutation = Callable[[random.Random, Draft], None]
INTEGERS = (0, 1, -1, 2, 3, 7, 255, 2**31 - 1, -(2**31), 2**32 - 1, 2**32, 2**53, 2**62, -(2**63))
NUMBERS = (0.0, -1.0, 1e3, 1e300, -1e300, 1e-300, math.nan, math.inf, -math.inf)
STRINGS = ("", "\0", "_", "the", "zzz", "X" * 5000, "\ud800", "a\nb", "a\0b", "é", "\U0010ffff")
GARBAGE: tuple[Any, ...] = (
    None, True, False, 0, 1, 2, -1, 10**30, 0.5, math.nan, math.inf, -1e308, "", "1", "fixed", "word", "mean",
    [], ["word"], [["word"]], [1], {}, {"a": 1}, ["word", "word"], ["word", '"w"'], ["pair:word"],
)  # fmt: skip


def arrays(draft: Draft, part: str = "") -> list[str]:
    return [name for name in draft.members if name.endswith(".npy") and part in name]


def one_value(rng: random.Random, draft: Draft) -> None:
    name = rng.choice(arrays(draft))
    array = draft.array(name)
    if not array.size:
        return
    place = rng.randrange(array.size)
    if array.dtype == np.float64:
        array.flat[place] = rng.choice(NUMBERS)
    elif rng.random() < 0.5:
        array.flat[place] += rng.choice((1, -1))
    else:
        lowest, highest = np.iinfo(array.dtype).min, np.iinfo(array.dtype).max
        array.flat[place] = min(max(rng.choice(INTEGERS), lowest), highest)
    draft.put(name, array)


def tables(draft: Draft) -> list[str]:
    return [name.removesuffix(".ids.npy") for name in arrays(draft, ".ids")]


def moved_count(rng: random.Random, draft: Draft) -> None:
    """The sum of the table stays."""
    name = f"{rng.choice(tables(draft))}.n.npy"
    n = draft.array(name)
    if n.size > 1:
        a, b = rng.sample(range(n.size), 2)
        moved = rng.choice((1, int(n[a]) - 1))
        n[a] -= moved
        n[b] += moved
        draft.put(name, n)


def counts_everywhere(rng: random.Random, draft: Draft) -> None:
    """Every count, times a number: sums agree."""
    times = rng.choice((2, 3, 2**16, 2**28, 2**31, 2**32 - 1, 2**40, 2**52))
    for name in arrays(draft, ".n."):
        draft.put(name, draft.array(name) * times)
    if rng.random() < 0.7:
        draft.header["n_sentences"] = rng.choice((1, draft.header["n_sentences"] * times))
    if rng.random() < 0.7 and "ledger.npy" in draft.members:
        n = draft.header["n_sentences"]
        ledger = draft.array("ledger.npy")
        draft.put("ledger.npy", ledger[np.arange(min(n, 100_000)) % len(ledger)])


def other_rows(rng: random.Random, draft: Draft) -> None:
    """Rows of a table go, come, or get other ids; sorted again, most of the time."""
    table = rng.choice(tables(draft))
    ids, n = draft.array(f"{table}.ids.npy"), draft.array(f"{table}.n.npy")
    if not len(n):
        return
    row, kind = rng.randrange(len(n)), rng.randrange(5)
    if kind == 0:
        ids, n = np.delete(ids, row, axis=0), np.delete(n, row)
    elif kind == 1:
        ids, n = np.insert(ids, row, ids[row], axis=0), np.insert(n, row, n[row])
    elif kind == 2:
        ids, n = np.roll(ids, 1, axis=0), np.roll(n, rng.randrange(2))
    elif kind == 3:
        ids, n = ids[:0], n[:0]
    else:
        field = rng.randrange(ids.shape[1])
        ids[row, field] = rng.randrange(int(ids[:, field].max()) + 2)
    if rng.random() < 0.7:
        order = np.lexsort(ids.T[::-1])
        ids, n = ids[order], n[order]
    draft.put(f"{table}.ids.npy", ids)
    draft.put(f"{table}.n.npy", n)


def other_shape(rng: random.Random, draft: Draft) -> None:
    name = rng.choice(arrays(draft))
    array = draft.array(name)
    changes: list[Callable[[], modelfile.Array]] = [
        lambda: array.reshape(-1),
        lambda: array.T,
        lambda: array[..., None],
        lambda: array[:0],
        lambda: array[:-1],
        lambda: np.concatenate([array, array[-1:]]),
        lambda: array.reshape(-1)[:1].reshape(()) if array.size else array,
        lambda: np.zeros((0, 3), array.dtype),
        lambda: np.zeros((3, 0), array.dtype),
        lambda: array.reshape(1, *array.shape),
    ]
    draft.put(name, rng.choice(changes)())


def other_dtype(rng: random.Random, draft: Draft) -> None:
    name = rng.choice(arrays(draft))
    dtype = rng.choice(
        ("i1", "i2", "i4", "i8", "u4", "u8", "f4", "f8", "c16", "S8", "?", ">i4", ">i8", "M8[s]")
    )
    array = draft.array(name).astype(dtype)
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=False)
    draft.members[name] = buffer.getvalue()


def other_header_of_array(rng: random.Random, draft: Draft) -> None:
    """The text at the start of an npy member, of the same length or not."""
    name = rng.choice(arrays(draft))
    data = draft.members[name]
    old, new = rng.choice(
        [
            (b"False", b"True "), (b"'<i8'", b"'|O8'"), (b"'<i4'", b"'<f4'"), (b"(", b"(-"), (b"(", b"((("),
            (b"(", b"(9" * 40), (b"(", b"(1L"), (b"(", b"(0x"), (b"(", b"(True,"), (b"(", b"(99999999999,"),
            (b", }", b""), (b"}", b"} + 1"), (b"'descr'", b"'d\\escr'"), (b"'descr'", b"b'descr'"),
            (b"NUMPY\x01", b"NUMPY\x02"), (b"NUMPY\x01\0v\0", b"NUMPY\x01\0\xff\xff"), (b"{", b"[" * 3000),
            (b"'shape'", b"'shape': (1,), 'shape'"), (b" \n", b"#\n"), (b"{", b"-" * 5000 + b"{"),
        ]
    )  # fmt: skip
    draft.members[name] = data[:128].replace(old, new, 1) + data[128:]


def other_vocabulary(rng: random.Random, draft: Draft) -> None:
    name = rng.choice([name for name in draft.members if name.endswith(".json")])
    values = json.loads(draft.members[name])
    if not values:
        return
    a, b, kind = rng.randrange(len(values)), rng.randrange(len(values)), rng.randrange(7)
    if kind == 0:
        values[a] = rng.choice(STRINGS)
    elif kind == 1:
        values.insert(a, rng.choice(STRINGS))
    elif kind == 2:
        del values[a]
    elif kind == 3:
        values[a], values[b] = values[b], values[a]
    elif kind == 4:
        values[a] = rng.choice(GARBAGE)
    elif kind == 5:
        values = rng.choice(GARBAGE)
    else:
        values[a] = values[a] + rng.choice(STRINGS)
    if kind < 2 and rng.random() < 0.6:
        values.sort()
    draft.members[name] = json.dumps(values).encode()


def other_header(rng: random.Random, draft: Draft) -> None:
    """A value anywhere in the header is replaced, removed or added."""
    node: Any = draft.manifest if rng.random() < 0.1 else draft.header
    while True:
        key = rng.choice(list(node) if isinstance(node, dict) else range(len(node)))
        if not isinstance(node[key], (dict, list)) or not node[key] or rng.random() < 0.3:
            break
        node = node[key]
    kind = rng.randrange(4)
    if kind == 0:
        del node[key]
    elif kind == 1 and isinstance(node, dict):
        node[rng.choice(("n_jobs", "extra", "weights", ""))] = rng.choice(GARBAGE)
    elif kind == 2 and isinstance(node[key], (int, float)) and not isinstance(node[key], bool):
        node[key] = rng.choice((node[key] + 1, node[key] - 1, float(node[key]), str(node[key])))
    elif isinstance(node, list) and isinstance(node[key], str):
        node[key] = rng.choice(
            (*node, *STRINGS, "lower", "tail9", "word-9", "col2", "pair:word", '"w"', "initial")
        )
    else:
        node[key] = rng.choice(GARBAGE)


def other_members(rng: random.Random, draft: Draft) -> None:
    """A member goes, comes, gets another name or changes places with another."""
    names = list(draft.members)
    a, b = rng.sample(names, 2)
    kind = rng.randrange(5)
    if kind == 0:
        del draft.members[a]
    elif kind == 1:
        new = rng.choice(
            ("extra.json", "extra.npy", "learned/more.npy", "notes.txt", "ledger.npy", "../up.npy")
        )
        draft.members[new] = rng.choice((draft.members[a], b"[]", b""))
    elif kind == 2:
        draft.members[rng.choice((a + "x", a.upper(), "", a.replace("y", "word")))] = draft.members.pop(a)
    elif kind == 3:
        draft.members[a], draft.members[b] = draft.members[b], draft.members[a]
    else:
        draft.members = dict(rng.sample(list(draft.members.items()), len(names)))


def other_ledger(rng: random.Random, draft: Draft) -> None:
    if "ledger.npy" not in draft.members:
        draft.header["params"]["ledger"] = rng.choice((True, 1, None))
        return
    ledger, kind = draft.array("ledger.npy"), rng.randrange(5)
    row = rng.randrange(len(ledger))
    if kind == 0:
        ledger[row] = [rng.getrandbits(63), -rng.getrandbits(63)]
    elif kind == 1:
        ledger[row] = ledger[rng.randrange(len(ledger))]
    elif kind == 2:
        ledger[row] = rng.choice((0, -1))
    else:
        step = rng.choice((1, -1))
        ledger = np.delete(ledger, row, axis=0) if step < 0 else np.insert(ledger, row, ledger[row], axis=0)
        draft.header["n_sentences"] += step if kind == 3 else 0
    if rng.random() < 0.7:
        digests = np.ascontiguousarray(ledger).view("S16").reshape(-1)
        ledger = ledger[np.argsort(digests, kind="stable")]
    draft.put("ledger.npy", ledger)


def other_weights(rng: random.Random, draft: Draft) -> None:
    name = "learned/weights.npy"
    if name not in draft.members:
        draft.header["learned"]["mu_oov"] = rng.choice((*NUMBERS, *GARBAGE, 999, 1e-9))
        return
    weights, kind = draft.array(name), rng.randrange(5)
    if kind == 0:
        weights *= rng.choice((0.0, -1.0, 1e2, 1e10, 1e300))
    elif kind == 1:
        weights = rng.choice((weights[:-1], np.append(weights, 0.0), weights[:5], weights[None]))
    elif kind == 2:
        weights[:] = rng.choice(NUMBERS)
    elif kind == 3:
        weights += np.array([rng.gauss(0, 10) for _ in weights])
    else:
        weights[rng.randrange(len(weights))] = rng.choice((*NUMBERS, 999.0, -999.0))
    draft.put(name, weights)


def other_bytes(rng: random.Random, draft: Draft) -> None:
    name = rng.choice(list(draft.members))
    data = bytearray(draft.members[name])
    for _ in range(rng.choice((1, 1, 2, 8))):
        if data:
            data[rng.randrange(len(data))] = rng.randrange(256)
    draft.members[name] = bytes(data)


MUTATIONS: dict[str, Mutation] = {
    "a value of an array": one_value,
    "counts moved": moved_count,
    "counts times a number": counts_everywhere,
    "rows of a table": other_rows,
    "shape of an array": other_shape,
    "dtype of an array": other_dtype,
    "header of an array": other_header_of_array,
    "vocabularies": other_vocabulary,
    "header of the file": other_header,
    "members": other_members,
    "ledger": other_ledger,
    "weights": other_weights,
    "bytes of a member": other_bytes,
}
SEVERAL, ARCHIVE = "two or three of these", "bytes of the archive"
KINDS = (*MUTATIONS, SEVERAL, ARCHIVE)


def mutated(rng: random.Random, subject: Subject) -> tuple[str, bytes]:
    """The kind of a mutation, and a file with checksums that are right."""
    kind, data = rng.choice(KINDS), subject.data
    if kind == ARCHIVE:
        changed = bytearray(data)
        for _ in range(rng.choice((1, 2, 8))):
            # Half of them in the last part, the directory, which is what an archive is read by.
            first = rng.choice((0, len(data) * 9 // 10))
            changed[rng.randrange(first, len(data) - modelfile.DIGEST_LENGTH)] = rng.randrange(256)
        digest = hashlib.sha256(changed[: -modelfile.DIGEST_LENGTH]).hexdigest().encode()
        return kind, bytes(changed[: -modelfile.DIGEST_LENGTH]) + digest
    draft = Draft(deepcopy(subject.draft.manifest), dict(subject.draft.members))
    names = [kind] if kind != SEVERAL else rng.choices(list(MUTATIONS), k=rng.choice((2, 3)))
    for name in names:
        try:
            MUTATIONS[name](rng, draft)
        except Exception:
            if kind != SEVERAL:  # the second one may find that the first has left it nothing to work on
                raise
    return kind, draft.data(list_all=rng.random() < 0.9)


# Trying ----------------------------------------------------------------------------------------------


class ViolationError(Exception):
    """A file that was neither refused clearly nor sound."""


def try_out(path: Path, subject: Subject) -> bool:
    """Whether the file was loaded; `ViolationError` for one that was and does not work."""
    try:
        model = load(path)
    except ModelFileError as error:
        check_message(error)
        return False
    same = path.with_name("same")
    model.save(same)
    saved = same.read_bytes()
    if not isinstance(model, CountedModel):
        raise ViolationError(f"a {type(model).__name__} was loaded")
    check(model.counts_, model.pruned_)
    use(model, subject)
    load(same).save(same)
    if same.read_bytes() != saved or (model.ledger_ is None) == model._fitted_params["ledger"]:
        raise ViolationError("saved, loaded and saved again it is another file")
    merged(model, model)
    change(model, subject)
    return True


def check_message(error: Exception) -> None:
    text = str(error)
    if "\n" in text or not text.isprintable() or len(text) > 1000:
        raise ViolationError(f"an error of more than one short line: {text[:200]!r}")
    if isinstance(error.__cause__, NOT_CLEAR):
        raise ViolationError(f"an error that does not say what is wrong: {text!r} ({error.__cause__!r})")


def use(model: CountedModel, subject: Subject) -> None:
    try:
        labels = model.predict(subject.unseen)
        marginals = model.predict_marginals(subject.unseen)
        model.predict_nbest(subject.unseen, 2)
        model.explain(subject.unseen[0])  # type: ignore[attr-defined]
    except CorateError as error:
        check_message(error)
        return
    for sentence, found, tokens in zip(subject.unseen, labels, marginals, strict=True):
        if len(sentence) != len(found) or not set(found) <= set(model.classes_):
            raise ViolationError(f"{sentence} is labelled {found}")
        for token in tokens:
            if not math.isclose(math.fsum(token.values()), 1.0, abs_tol=1e-6):
                raise ViolationError(f"marginals add up to {math.fsum(token.values())}")


def change(model: CountedModel, subject: Subject) -> None:
    """Learn, forget: what is left is what was there."""
    before, ledger = model.counts_, model.ledger_
    try:
        model.partial_fit(subject.batch, BATCH_Y)
        model.predict(subject.unseen)
        if not model.pruned_:
            model.forget(subject.batch, BATCH_Y)
            if (model.counts_, model.ledger_) != (before, ledger):
                raise ViolationError("learning a batch and forgetting it leaves other counts")
            model.forget(subject.batch[:1], BATCH_Y[:1])
            raise ViolationError("what was never learned can be forgotten")
    except CorateError as error:
        check_message(error)


def merged(a: CountedModel, b: CountedModel) -> None:
    try:
        both = merge(a, b)
        check(both.counts_, both.pruned_)
    except CorateError as error:
        check_message(error)


def one(seed: int, all_subjects: dict[str, Subject], path: Path) -> tuple[str, str, str]:
    """The kind of mutation, the model, and what came of it."""
    rng = random.Random(seed)
    name = rng.choice(list(all_subjects))
    kind, data = mutated(rng, all_subjects[name])
    path.write_bytes(data)
    if data == all_subjects[name].data:
        return kind, name, "unchanged"
    try:
        return kind, name, "loaded" if try_out(path, all_subjects[name]) else "refused"
    except ViolationError as violation:
        return kind, name, f"violation: {violation}"
    except (Exception, SystemExit) as error:  # whatever else is raised is what is looked for
        frames = []
        trace = error.__traceback__
        while trace is not None:
            frames.append(f"{Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno}")
            trace = trace.tb_next
        return kind, name, f"violation: {error!r:.200} at {' '.join(frames[-4:])}"


def work(first: int, n: int) -> None:
    """Mutations of some seeds, in this process; a line of JSON for each kind of outcome and violation."""
    warnings.simplefilter("error")
    sanitized = "libasan" in os.environ.get("LD_PRELOAD", "")  # which maps terabytes
    if not sanitized:
        used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + MOST_BYTES, used + MOST_BYTES))
    with terminal.scratch() as name:
        folder = Path(name)
        everything = subjects(folder)
        outcomes: Counter[tuple[str, str]] = Counter()
        for seed in range(first, first + n):
            signal.alarm(SECONDS)  # which ends the process, in a kernel, too
            print(json.dumps({"begun": seed}), flush=True)
            kind, model, outcome = one(seed, everything, folder / "m.model")
            signal.alarm(0)
            if outcome.startswith("violation"):
                print(json.dumps({"seed": seed, "kind": kind, "model": model, "what": outcome}), flush=True)
                outcome = "violation"
            outcomes[kind, outcome] += 1
        for (kind, outcome), times in outcomes.items():
            print(json.dumps({"kind": kind, "outcome": outcome, "times": times}), flush=True)


def run(seed: int, n: int) -> tuple[Counter[tuple[str, str]], list[str]]:
    """Mutations in processes of their own: one that crashes is a finding, and the rest go on."""
    outcomes: Counter[tuple[str, str]] = Counter()
    violations: list[str] = []

    def add(violation: str) -> None:
        violations.append(violation)
        terminal.progress(violation)

    first, last = seed, seed + n
    while first < last:
        size = min(CHUNK, last - first)
        command = [sys.executable, __file__, "--seed", str(first), "--mutations", str(size), "--worker"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        begun = first
        for line in done.stdout.splitlines():
            found = json.loads(line)
            if "begun" in found:
                begun = found["begun"]
            elif "what" in found:
                add(f"seed {found['seed']}, {found['model']}, {found['kind']}: {found['what']}")
            else:
                outcomes[found["kind"], found["outcome"]] += found["times"]
        first += size
        if done.returncode or done.stderr:
            add(f"seed {begun}: exit code {done.returncode}: {done.stderr[-3000:]}")
            outcomes["the process", "violation"] += 1
            first = begun + 1
        terminal.progress(f"{first - seed:,} of {n:,}, {len(violations)} violations")
    return outcomes, violations


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--mutations", type=int, default=100_000, metavar="N")
    parser.add_argument("--seed", type=int, default=0, help="of the first one; the others follow")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        work(options.seed, options.mutations)
        return
    outcomes, violations = run(options.seed, options.mutations)
    heads = ("refused", "loaded", "unchanged", "violation")
    rows = {kind: kind for kind in dict.fromkeys([*KINDS, *(kind for kind, _ in outcomes)])}
    columns = [terminal.Column(h, "", {kind: f"{outcomes[kind, h]:,}" for kind in rows}) for h in heads]
    terminal.print_table(f"{options.mutations:,} mutations, checksums repaired", rows, columns)
    for violation in violations[:50]:
        print(violation)
    print(f"{len(violations)} violations")
    if violations:
        sys.exit(1)


if __name__ == "__main__":
    terminal.run(main)
