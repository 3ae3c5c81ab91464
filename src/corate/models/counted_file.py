"""What a counted model has in its file: counts, ledger, and what was learned besides.

    counts/word.y.ids.npy, .n.npy, .first.npy    a table: rows of ids, their counts, fences (counts/unread.py)
    word.json, y.json                            vocabularies
    ledger.npy, learned/weights.npy

A file is read as a whole and checked for all that must hold; or as far as is asked for. In the latter case
tables of labels alone, vocabularies, ledger and weights are read at once, and the rest may be wrong: it is
checked when it is read.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from corate.counts.counts import Counts
from corate.counts.invariants import check, check_counts
from corate.counts.ledger import Ledger
from corate.counts.names import LABEL, atoms_of, fields, vocabulary_of
from corate.counts.table import Table
from corate.counts.unread import FENCES, IDS, N, UnreadTables, parts_of, table_from
from corate.models.model import check_names, restored, sound
from corate.storage.modelfile import Array, Contents, Opened

if TYPE_CHECKING:
    from corate.models.counted import Countable

LEDGER, LEARNED = "ledger", "learned/"  # members of the file


def contents(model: Countable) -> Contents:
    arrays = {f"{LEARNED}{name}": array for name, array in model._learned_arrays().items()}
    for name, table in model.counts_.tables.items():
        arrays |= {_member(name, part): array for part, array in parts_of(table).items()}
    if model.ledger_ is not None:
        arrays[LEDGER] = model.ledger_.array()
    header = {
        "learned": model._learned(),
        "n_sentences": model.counts_.n_sentences,
        "n_values": model._n_values(),
        "pruned": model.pruned_,
    }
    return Contents(header, model.counts_.vocabularies, arrays)


def restore(model: Countable, state: Contents) -> None:
    """Let a model become the one that has these contents, or raise ValueError."""
    header = state.header
    _check_header(model, header, {*state.arrays})
    counts = Counts(state.texts, _tables(model._tables(), state.arrays), header["n_sentences"])
    check(counts, header["pruned"], model._on_trees)
    check_counts(counts)
    _set(model, counts, header, state.arrays)
    if header["n_values"] != model._n_values():
        raise ValueError(f"{header['n_values']!r:.60} values are said to have been counted")


def restore_parts(model: Countable, file: Opened) -> None:
    """The same for a file of which no more is to be read than is asked for."""
    header, names = file.header, model._tables()
    _check_header(model, header, file.arrays)
    sources = {vocabulary_of(field) for name in names for field in fields(name)}
    check_names("the vocabularies", file.texts, sources)
    texts = {name: file.text(name) for name in sorted(sources)}
    of_labels = [name for name in names if not atoms_of(name)]
    known = [_member(name, part) for name in of_labels for part in (IDS, N, FENCES)]
    known += [name for name in file.arrays if name == LEDGER or name.startswith(LEARNED)]
    arrays = {name: file.array(name) for name in known if name in file.arrays}
    alone = _tables(of_labels, arrays)
    counts = Counts({LABEL: texts[LABEL]}, alone, header["n_sentences"])
    check(counts, header["pruned"], model._on_trees)
    check_counts(counts)
    _check_n_values(header["n_values"])

    def read() -> Counts:
        whole = file.whole()
        with sound(file.path):
            return restored(type(model), whole).counts_

    tables = UnreadTables(file, texts, alone, {name: _member(name) for name in names}, read)
    _set(model, Counts(texts, tables, header["n_sentences"]), header, arrays)


def _tables(names: Iterable[str], arrays: Mapping[str, Array]) -> dict[str, Table]:
    """Tables by their members."""
    made = {}
    for name in names:
        parts = {part: _member(name, part) for part in (IDS, N, FENCES)}
        made[name] = table_from(name, {part: arrays[at] for part, at in parts.items() if at in arrays})
    return made


def _check_header(model: Countable, header: Mapping[str, Any], members: Set[str]) -> None:
    known = {"model", "params", "learned", "n_sentences", "n_values", "pruned"}
    check_names("the header", {*header}, known)
    check_names("the parameters", {*header["params"]}, {*model._param_names()} - {"n_jobs"})
    pruned, learned = header["pruned"], header["learned"]
    if type(pruned) is not int or pruned < 0 or pruned == 1:
        raise ValueError(f"events below {pruned!r:.60} are said to have been dropped")
    if type(model.ledger) is not bool or (pruned and model.ledger):
        raise ValueError(f"ledger={model.ledger!r:.60}")
    if not isinstance(learned, dict):
        raise ValueError(f"{learned!r:.60} is said to have been learned")
    needed = {_member(name, part) for name in model._tables() for part in (IDS, N)}
    needed |= {_member(name, FENCES) for name in model._tables()} & members
    needed |= {LEDGER} if model.ledger else set()
    check_names("the members", {name for name in members if not name.startswith(LEARNED)}, needed)


def _check_n_values(found: Any) -> None:
    if not isinstance(found, list) or not all(type(n) is int and 0 <= n < 1 << 53 for n in found):
        raise ValueError(f"{found!r:.60} values are said to have been counted")


def _set(model: Countable, counts: Counts, header: Mapping[str, Any], arrays: Mapping[str, Array]) -> None:
    model.pruned_ = header["pruned"]
    model.ledger_ = Ledger.from_array(arrays[LEDGER]) if model.ledger else None
    if model.ledger_ is not None and len(model.ledger_) != counts.n_sentences:
        raise ValueError(f"{len(model.ledger_)} sentences in the ledger, {counts.n_sentences} counted")
    learned = {name.removeprefix(LEARNED): a for name, a in arrays.items() if name.startswith(LEARNED)}
    model._set_learned(counts, header["learned"], learned)
    known = {*model._learned(), *model._learned_arrays()}
    check_names("what was learned", {*header["learned"], *learned}, known)


def _member(table: str, part: str = "") -> str:
    """Where a table, or a part of it, is in the file; keys of features may have any characters."""
    return "counts/" + quote(table, safe="^$.,+-:") + (f".{part}" if part else "")
