"""Changes of model files that no checksum shows.

Of ids, counts, vocabularies, weights, ledger, header, shapes, dtypes, names, whole members, and bytes.
"""

from __future__ import annotations

import io
import json
import math
import random
from collections.abc import Callable
from copy import deepcopy
from typing import Any

import numpy as np

from corate.storage import modelfile
from corate.storage.archive import DIGEST_LENGTH
from drafts import Draft, sealed

WEIGHTS = {"weights.npy", "unary.npy", *(f"learned/{name}.npy" for name in ("weights", "unary", "pair"))}
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
    if not tables(draft):
        one_value(rng, draft)
        return
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
    if not tables(draft):
        one_value(rng, draft)
        return
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
    if not tables(draft):
        other_shape(rng, draft)
        return
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
        if "ledger" not in draft.header["params"]:
            one_value(rng, draft)
        return
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
    name = rng.choice(sorted(WEIGHTS & {*draft.members}) or [""])
    if not name:
        if "mu_oov" not in draft.header.get("learned", {}):
            other_header(rng, draft)
            return
        draft.header["learned"]["mu_oov"] = rng.choice((*NUMBERS, *GARBAGE, 999, 1e-9))
        return
    weights, kind = draft.array(name), rng.randrange(5)
    if kind == 0:
        with np.errstate(over="ignore"):
            weights *= rng.choice((0.0, -1.0, 1e2, 1e5, 1e10, 1e300))
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


def mutated(rng: random.Random, data: bytes, whole: Draft) -> tuple[str, bytes]:
    """The kind of a mutation of a file, and that file with checksums that are right."""
    kind = rng.choice(KINDS)
    if kind == ARCHIVE:
        changed = bytearray(data)
        for _ in range(rng.choice((1, 2, 8))):
            # Half of them in the last part, the directory, which is what an archive is read by.
            first = rng.choice((0, len(data) * 9 // 10))
            changed[rng.randrange(first, len(data) - DIGEST_LENGTH)] = rng.randrange(256)
        return kind, sealed(bytes(changed))
    draft = Draft(deepcopy(whole.manifest), dict(whole.members))
    names = [kind] if kind != SEVERAL else rng.choices(list(MUTATIONS), k=rng.choice((2, 3)))
    for name in names:
        try:
            MUTATIONS[name](rng, draft)
        except Exception:
            if kind != SEVERAL:  # the second one may find that the first has left it nothing to work on
                raise
    return kind, draft.data(list_all=rng.random() < 0.9)
