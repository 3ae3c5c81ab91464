"""The corrections file: what was taught beside a model, as plain CoNLL that is written before the model is.

    # {"id": 7, "op": "learn", "time": "2026-11-18T01:02:03Z", "rows": 2, "right": 1, "source": "page"}
    dogs    NOUN
    bark    VERB

    # {"id": 8, "op": "forget", "of": 7, "time": …}

    # {"op": "saved", "upto": 8, "sha256": "…"}

A record is appended and flushed to disk before any model knows of it, so that what was acknowledged survives
a kill at any moment. `saved` tells up to which record the model file of that checksum has learned: what is
behind it is learned again by whoever loads the model next. A sentence that was taken back loses its rows
(they go into its comment), so that the rows of the file are always the sentences that stand.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from corate.errors import CorateError, InputError
from corate.storage import locks
from corate.storage.modelfile import replacing
from corate.text.formats.base import Sentence
from corate.text.formats.conll import Conll

SUFFIX = ".corrections.conll"
Token = tuple[str, ...]  # the word, and further columns


class CorrectionsError(CorateError):
    """The corrections file cannot be read or written."""


class NoSpaceError(CorrectionsError):
    """The disk is full: nothing was written, and nothing was learned."""


@dataclass(frozen=True)
class Record:
    """One thing that was done: a sentence learned (perhaps instead of other labels), or forgotten."""

    op: str  # learn, forget
    tokens: tuple[Token, ...]
    labels: tuple[str, ...]
    id: int = 0
    instead: tuple[str, ...] | None = None  # labels under which a learned sentence was known before
    of: int | None = None  # the record that a forget takes back
    undone: int | None = None  # the record that took this one back
    about: dict[str, Any] = field(default_factory=dict)  # time, right, source, by

    def text(self) -> str:
        """As it stands in the file."""
        with_rows = self.op == "learn" and self.undone is None
        head: dict[str, Any] = {"id": self.id, "op": self.op, "rows": len(self.tokens) if with_rows else 0}
        head |= {
            name: value for name in ("instead", "of", "undone") if (value := getattr(self, name)) is not None
        }
        if not with_rows and self.of is None:
            head |= {"tokens": self.tokens, "labels": self.labels}
        lines = [_comment({**head, **self.about})]
        lines += (
            ["\t".join([*token, y]) for token, y in zip(self.tokens, self.labels, strict=True)]
            if with_rows
            else []
        )
        return "\n".join(lines) + "\n\n"


def beside(model: Path) -> Path:
    """Where the corrections of a model are."""
    return model.with_name(model.name + SUFFIX)


def check_writable(tokens: Sequence[Token], labels: Sequence[str]) -> None:
    """Refuse what a CoNLL file cannot hold, or would give back as something else."""
    columns = [list(column) for column in zip(*tokens, strict=True)]
    try:
        Conll().compose(Sentence(columns, list(labels)), None)
    except InputError as error:
        raise InputError(str(error).removesuffix(": use --to jsonl")) from error


class Corrections:
    """The file, and what of it has been read."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._start()

    def _start(self) -> None:
        self.records: dict[int, Record] = {}
        self._saved: dict[str, int] = {}  # checksum of a model file: the last record that is in it
        self._inode: int | None = None
        self._end = 0  # bytes that have been read: whole records

    @property
    def last(self) -> int:
        return max(self.records, default=0)

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other writers away, and know all that they have written."""
        try:
            if not self.path.exists():
                self.path.touch()
            with locks.held(self.path.resolve()):
                self.read()
                yield
        except OSError as error:
            raise self._cannot("written", error) from error

    def read(self) -> None:
        """What has been written since the last time; half a record at the end is none."""
        try:
            with self.path.open("rb") as file:
                status = os.fstat(file.fileno())
                if status.st_ino != self._inode or status.st_size < self._end:
                    self._start()
                    self._inode = status.st_ino
                file.seek(self._end)
                data = file.read()
        except FileNotFoundError:
            return self._start()
        except OSError as error:
            raise self._cannot("read", error) from error
        self._end += self._parse(data)
        return None

    def is_behind(self) -> bool:
        """Whether there is something in the file that has not been read."""
        try:
            status = self.path.stat()
        except OSError:
            return self._inode is not None
        return (status.st_ino, status.st_size) != (self._inode, self._end)

    def pending(self, checksum: str) -> list[Record]:
        """What a model file of this checksum does not know yet, without what came and was taken back since.

        One that somebody else has written knows what the file knew that it was made of."""
        upto = self.known_to(checksum)
        return [
            record
            for id_, record in sorted(self.records.items())
            if id_ > upto and record.undone is None and (record.of is None or record.of <= upto)
        ]

    def known_to(self, checksum: str) -> int:
        """The last record that a model file of this checksum has learned."""
        return self._saved.get(checksum, max(self._saved.values(), default=0))

    # Writing, with the lock held ---------------------------------------------------------------------

    def append(self, records: Sequence[Record]) -> list[Record]:
        """Write records with the next numbers, to the disk itself."""
        now = datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
        numbered = [
            replace(record, id=self.last + k, about={"time": now, **record.about})
            for k, record in enumerate(records, 1)
        ]
        if len(numbered) == 1 and numbered[0].of is not None:
            self._take_back(numbered[0])
        else:
            self._write("".join(record.text() for record in numbered).encode())
        self.read()
        return numbered

    def note_saved(self, checksum: str, upto: int) -> None:
        """Before a model file of this checksum takes its place: it knows the records up to this one."""
        if self._saved.get(checksum) != upto or self._saved_last() != checksum:
            self._write((_comment({"op": "saved", "upto": upto, "sha256": checksum}) + "\n\n").encode())
            self.read()

    def _saved_last(self) -> str | None:
        return next(reversed(self._saved), None)

    def _write(self, data: bytes) -> None:
        """Append, or leave the file as it was. What a killed writer has left at its end is cut off."""
        with self.path.open("r+b", buffering=0) as file:
            file.truncate(self._end)
            file.seek(self._end)
            try:
                view = memoryview(data)
                while view:
                    view = view[file.write(view) :]
                os.fsync(file.fileno())
            except OSError as error:
                with contextlib.suppress(OSError):
                    file.truncate(self._end)
                raise self._cannot("written", error) from error

    def _take_back(self, forget: Record) -> None:
        """A forgotten correction loses its rows: another file takes the place of this one."""
        assert forget.of is not None
        undone = replace(self.records[forget.of], undone=forget.id)
        try:
            data = self.path.read_bytes()[: self._end]
            old = self.records[forget.of].text().encode()
            if old not in data:
                raise CorrectionsError(f"{self.path}: record {forget.of} is not as it was written")
            with replacing(self.path) as file:
                file.write(data.replace(old, undone.text().encode(), 1) + forget.text().encode())
        except CorrectionsError:
            raise
        except CorateError as error:
            raise self._cannot("written", error.__cause__ or error) from error

    def _cannot(self, what: str, error: BaseException) -> CorrectionsError:
        reason = getattr(error, "strerror", None) or error
        full = getattr(error, "errno", None) in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
        return (NoSpaceError if full else CorrectionsError)(f"{self.path}: cannot be {what}: {reason}")

    # Reading -----------------------------------------------------------------------------------------

    def _parse(self, data: bytes) -> int:
        """Take up the records of some bytes; the number of bytes of whole ones."""
        done = 0
        while done < len(data):
            found = _record(data, done)
            if found is None:
                if _looks_torn(data, done):
                    break
                raise CorrectionsError(
                    f"{self.path}: byte {self._end + done}: not as corate writes it: move it away"
                )
            head, rows, done = found
            try:
                self._take_up(head, rows)
            except (KeyError, TypeError, AttributeError, ValueError) as error:
                raise CorrectionsError(
                    f"{self.path}: not as corate writes it: {error!r}: move it away"
                ) from error
        return done

    def _take_up(self, head: dict[str, Any], rows: list[list[str]]) -> None:
        if head["op"] == "saved":
            self._saved.pop(head["sha256"], None)
            self._saved[head["sha256"]] = head["upto"]
            return
        tokens = tuple(tuple(row[:-1]) for row in rows) or tuple(map(tuple, head.get("tokens", ())))
        labels = tuple(row[-1] for row in rows) or tuple(head.get("labels", ()))
        of, instead = head.get("of"), head.get("instead")
        if of is not None:
            tokens, labels = self.records[of].tokens, self.records[of].labels
            self.records[of] = replace(self.records[of], undone=head["id"])
        own = ("id", "op", "rows", "instead", "of", "undone", "tokens", "labels")
        about = {name: value for name, value in head.items() if name not in own}
        instead = None if instead is None else tuple(instead)
        self.records[head["id"]] = Record(
            head["op"], tokens, labels, head["id"], instead, of, head.get("undone"), about
        )


def _comment(head: dict[str, Any]) -> str:
    return "# " + json.dumps(head, ensure_ascii=False).replace("\x7f", "\\u007f")


def _record(data: bytes, begin: int) -> tuple[dict[str, Any], list[list[str]], int] | None:
    """The record that begins here, and where the next one does; None where there is no whole one."""
    end = data.find(b"\n", begin)
    if end < 0 or not data.startswith(b"# {", begin):
        return None
    try:
        head = json.loads(data[begin + 2 : end])
        lines = []
        for _ in range(head.get("rows", 0) + 1):
            start, end = end + 1, data.index(b"\n", end + 1)
            lines.append(data[start:end].decode())
    except ValueError:
        return None
    if lines.pop() or not all("\t" in line for line in lines):
        return None
    return head, [line.split("\t") for line in lines], end + 1


def _looks_torn(data: bytes, begin: int) -> bool:
    """Whether what is here may be the beginning of a record that was never finished."""
    return b"\n\n" not in data[begin:] and data[begin : begin + 3] == b"# {"[: len(data) - begin]
