"""A model that is served: read by many threads, taught by one at a time, saved a little later.

A model that was published is never changed. Learning makes a changed copy, writes the correction to disk, and
publishes the copy; whoever is tagging goes on with the one it has. The model file follows when there is time.
Locks are taken in this order: the model file's, the thread's, the corrections file's.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Iterator, Sequence
from copy import copy
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from corate.errors import CorateError, InputError, spoken
from corate.models.base import Estimator
from corate.models.counted import CountedModel
from corate.models.registry import load
from corate.storage import locks, modelfile
from corate.storage.archive import DIGEST_LENGTH
from corate.text.spans import detect_scheme
from corate.web.corrections import Corrections, Record, beside

QUIET_SECONDS = 1.5  # without a correction, after which the model is saved
MOST_SECONDS = 10.0  # that a correction waits for the model to be saved
Identity = tuple[int, int, int]


class Learned(NamedTuple):
    """What came of corrections: their records, and the labels that the model gave before and gives now."""

    records: list[Record]
    before: list[list[str]]
    after: list[list[tuple[str, float]]]


class Served:
    """One model file and its corrections."""

    def __init__(self, name: str, path: Path, learns: bool = False) -> None:
        self.name, self.path, self.learns = name, path, learns
        self.corrections = Corrections(beside(path))
        self.trouble: str | None = None  # why the model cannot be saved, or read anew
        self._lock = threading.RLock()
        self._changed_at: list[float] = []  # times of the first and of the last correction that is not saved
        self._identity, self.model = self._read()
        if self.model._contexts and any(context.is_feature for context in self.model._contexts):
            raise InputError("was trained on features: the page is for models of words", str(path))
        if learns and not isinstance(self.model, CountedModel):
            raise InputError(
                f"{type(self.model).__name__}: trained by a search, not by counting: leave --learn out",
                str(path),
            )
        self.model.predict([["."] if self.n_columns == 1 else [(".",) * self.n_columns]])  # warm

    # Reading -----------------------------------------------------------------------------------------

    @property
    def n_columns(self) -> int:
        """Observed columns that a token needs."""
        return max(atom.n_columns for context in self.model._contexts for atom in context.atoms)

    @property
    def scheme(self) -> str | None:
        """Of span labels; None where labels are plain tags."""
        return detect_scheme(self.model.classes_)

    @property
    def unsaved(self) -> int:
        """Records that the model file does not have yet."""
        return self._applied - self._saved_upto

    def current(self) -> Estimator:
        """The model as it stands; what others have written is taken up unless somebody is at it already."""
        if self._is_stale() and self._lock.acquire(blocking=False):
            try:
                self._refresh()
            finally:
                self._lock.release()
        return self.model

    def _is_stale(self) -> bool:
        with contextlib.suppress(OSError):
            if _identity(self.path) != self._identity:
                return True
        return self.corrections.is_behind()

    def _read(self) -> tuple[Identity, Estimator]:
        """The model file, with the corrections that it does not have yet."""
        identity, model, checksum = _loaded(self.path)
        self.corrections.read()
        if isinstance(model, CountedModel):
            pending = self.corrections.pending(checksum)
            self._saved_upto = self.corrections.known_to(checksum)
            model = applied(model, pending, force=model.ledger_ is not None)
        else:
            self._saved_upto = self.corrections.last
        self._applied = self.corrections.last
        if self.learns and self.unsaved:  # it is high time: who wrote them did not come to it
            self._changed_at = [time.monotonic() - MOST_SECONDS] * 2
        return identity, model

    def _refresh(self) -> None:
        """Take up what others have written: the model file anew, or corrections alone."""
        try:
            if _identity(self.path) != self._identity:
                self._identity, self.model = self._read()
            self.corrections.read()
            news = [r for k, r in sorted(self.corrections.records.items()) if k > self._applied]
            if news and isinstance(self.model, CountedModel):
                self.model = applied(copy(self.model), news)
                self._note_change()
            self._applied = self.corrections.last
            self.trouble = None
        except (OSError, CorateError) as error:  # the old model is as good as it was
            self.trouble = str(error)

    # Learning ----------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def _changing(self) -> Iterator[CountedModel]:
        """A copy of the newest model, to be changed while nobody else changes it."""
        with self._lock, self.corrections.locked():
            self._refresh()
            if not isinstance(self.model, CountedModel):  # the file was replaced by one
                raise InputError(f"{self.name} is now {spoken(self.model)}, which does not learn")
            yield copy(self.model)

    def learn(self, records: Sequence[Record]) -> Learned:
        """Teach sentences: they are on disk before the model knows them."""
        with self._changing() as model:
            X = [list(record.tokens) for record in records]
            before = model.predict(X)
            told = []
            for record, labels in zip(records, before, strict=True):
                right = sum(a == b for a, b in zip(labels, record.labels, strict=True))
                told.append(_with_right(record, right))
            self._apply(model, told)
            after = model.predict_with_probability(X)
            return Learned(self._keep(model, told), before, after)

    def forget(self, records: Sequence[Record]) -> Learned:
        """Take sentences away that the model was trained on."""
        with self._changing() as model:
            X = [list(record.tokens) for record in records]
            before = model.predict(X)
            self._apply(model, records)
            return Learned(self._keep(model, records), before, model.predict_with_probability(X))

    def undo(self, number: int) -> Learned:
        """Take a correction back, exactly."""
        with self._changing() as model:
            known = self.corrections.records.get(number)
            if known is None or known.op != "learn":
                raise InputError(f"there is no correction {number!r}: see the list of corrections")
            if known.undone is not None:
                raise InputError(f"correction {number} has been taken back already")
            record = Record("forget", known.tokens, known.labels, instead=known.instead, of=number)
            X = [list(record.tokens)]
            before = model.predict(X)
            self._apply(model, [record])
            return Learned(self._keep(model, [record]), before, model.predict_with_probability(X))

    def _apply(self, model: CountedModel, records: Sequence[Record]) -> None:
        applied(model, records)
        model._derive()

    def _keep(self, model: CountedModel, records: Sequence[Record]) -> list[Record]:
        """Write, then publish."""
        kept = self.corrections.append(records)
        self.model, self._applied = model, self.corrections.last
        self._note_change()
        return kept

    # Saving ------------------------------------------------------------------------------------------

    def _note_change(self) -> None:
        now = time.monotonic()
        self._changed_at = [self._changed_at[0] if self._changed_at else now, now]

    def is_due(self) -> bool:
        """Whether it is time to save."""
        times, now = self._changed_at, time.monotonic()
        return bool(times) and (now - times[1] > QUIET_SECONDS or now - times[0] > MOST_SECONDS)

    def save(self) -> None:
        """The model file follows the corrections; if it cannot, they are tried again later."""
        if not self.learns or not (self._changed_at or self.unsaved):
            return None
        try:
            with locks.locked(self.path):
                with self._lock:
                    self._refresh()
                    if self.trouble is not None or not isinstance(self.model, CountedModel):
                        return self._note_change()  # what is there now is not ours to replace
                    model, upto, self._changed_at = self.model, self._applied, []
                save_with_note(model, self.path, self.corrections, upto, self._lock)
                with self._lock:
                    self._identity, self._saved_upto, self.trouble = _identity(self.path), upto, None
        except (OSError, CorateError) as error:
            self.trouble = str(error)
            with self._lock:
                self._note_change()
        return None


def applied(model: CountedModel, records: Sequence[Record], force: bool = False) -> CountedModel:
    """A model with corrections learned and forgotten, in their order; itself changed.

    `force`: what it is to forget and never learned is passed over, as in a model that was trained anew."""
    for op, group in groupby(records, lambda record: (record.op, record.instead is None)):
        batch = list(group)
        X, y = [list(record.tokens) for record in batch], [list(record.labels) for record in batch]
        old = [list(record.instead or ()) for record in batch]
        match op:
            case ("learn", True):
                model.partial_fit(X, y)
            case ("learn", False):
                model.forget(X, old, force).partial_fit(X, y)
            case (_, True):
                model.forget(X, y, force)
            case _:
                model.partial_fit(X, old).forget(X, y, force)
    return model


def catch_up(model: CountedModel, path: Path, corrections: Corrections) -> None:
    """Learn what is in the corrections file and not yet in the model, which was just read from this file.

    Whoever calls it holds the lock of the model file."""
    corrections.read()
    applied(model, corrections.pending(_checksum(path)), force=model.ledger_ is not None)


def save_with_note(
    model: CountedModel, path: Path, corrections: Corrections, upto: int, lock: threading.RLock | None = None
) -> None:
    """Replace the model file; the corrections file knows of it a moment before."""
    with modelfile.replacing(path) as file:
        modelfile.write_to(file, model._contents())
        file.seek(-DIGEST_LENGTH, os.SEEK_END)
        checksum = file.read().decode()
        with lock or contextlib.nullcontext(), corrections.locked():
            corrections.note_saved(checksum, upto)


def _loaded(path: Path) -> tuple[Identity, Estimator, str]:
    """A model, and the checksum that its file ends with; once more if it was replaced meanwhile."""
    while True:
        before = _identity(path)
        model = load(path)
        checksum = _checksum(path)
        if before == _identity(path):
            return before, model, checksum


def _checksum(path: Path) -> str:
    """Of all that is in a model file, which ends with it."""
    with path.open("rb") as file:
        file.seek(-DIGEST_LENGTH, os.SEEK_END)
        return file.read().decode()


def _identity(path: Path) -> Identity:
    status = path.stat()
    return status.st_ino, status.st_mtime_ns, status.st_size


def _with_right(record: Record, right: int) -> Record:
    return Record(
        record.op,
        record.tokens,
        record.labels,
        instead=record.instead,
        about={"right": right, **record.about},
    )
