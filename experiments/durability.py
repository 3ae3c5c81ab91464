"""Can a model file be destroyed? Writers are killed, system calls fail, bits flip, processes race.

    kill      SIGKILL at random moments of a save, an update and a merge
    faults    ENOSPC and EIO at every system call of theirs that touches files (needs strace)
    full      files that may not grow beyond so many bytes
    tmpfs     a small file system with little room left (needs root)
    damage    every truncation and every flipped bit of small models
    race      two processes update one file
    train     several update it from the command line, with a training in between

Whatever happens, the file is the old model or the new one, byte for byte; a failure is one line and an exit
code; nobody waits for a lock of the dead, and the next save leaves no stray file.
"""

from __future__ import annotations

import argparse
import contextlib
import errno
import fcntl
import os
import random
import resource
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import terminal
from corate import EmpiricalCRF, ModelFileError, Tagger, load
from corate.cli import run as corate
from corate.models.counted import CountedModel
from corate.storage.locks import locked
from corate.text.sample import FOLDER

TRAIN, MORE = FOLDER / "train.conll", FOLDER / "test.conll"
SECONDS = 120  # whatever takes longer hangs
# System calls with which files are opened, read, written, moved, locked and looked at.
CALLS = (
    "openat", "read", "write", "lseek", "fsync", "ftruncate", "fchmod", "flock", "rename", "unlink", "close",
    "getdents64", "newfstatat", "fstat", "readlink",
)  # fmt: skip
ERRORS = ("ENOSPC", "EIO")

Action = Callable[[], int]


class ViolationError(Exception):
    """A model file that was harmed, or a failure that was not told in one line."""


class ImpossibleError(Exception):
    """What this machine does not allow."""


@dataclass(frozen=True)
class Done:
    code: int  # negative: ended by a signal
    err: str


# One command, and what it makes of a file ------------------------------------------------------------


@dataclass(frozen=True)
class Case:
    """A command that turns the old file into the new one."""

    name: str
    arguments: list[str]
    model: Path
    old: bytes
    new: bytes

    def begin(self) -> None:
        self.model.write_bytes(self.old)

    def __call__(self) -> int:
        return corate(self.arguments)

    def check(self, done: Done) -> str:
        """Whether the file is the old or the new one, and all was told as it should be."""
        data = self.model.read_bytes()
        if data not in (self.old, self.new):
            raise ViolationError(f"{self.name}: the file is neither the old nor the new model")
        if done.code == 0 and (data != self.new or done.err):
            raise ViolationError(f"{self.name}: exit code 0, and yet {done.err!r} or the old file")
        if done.code > 0 and (done.err.count("\n") != 1 or "Traceback" in done.err):
            raise ViolationError(f"{self.name}: exit code {done.code} and {done.err!r}")
        if done.code < 0 and done.err:
            raise ViolationError(f"{self.name}: signal {-done.code} and {done.err!r}")
        return "new" if data == self.new else "old"

    def check_next(self) -> None:
        """Nobody holds a lock, and the next save leaves the new file and no other."""
        with self.model.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        self.begin()
        done = in_child(self)
        if self.check(done) != "new" or done.code:
            raise ViolationError(f"{self.name}: the next one fails: {done}")
        if strays(self.model.parent):
            raise ViolationError(f"{self.name}: stray files are left: {strays(self.model.parent)}")


def strays(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir() if path.name.endswith(".tmp")]


def cases(folder: Path, small: bool = False) -> list[Case]:
    """A training, an update, a forgetting and a merge over the same file; models of a few or of many kB."""
    text, more, model = folder / "text.conll", folder / "more.conll", folder / "the.model"
    if small:
        text.write_text("The\tD\ndog\tN\nbarks\tV\n\nIt\tN\nrains\tV\n")
        more.write_text("A\tD\ncat\tN\n")
    else:
        shutil.copy(TRAIN, text)
        shutil.copy(MORE, more)
    kind = ["--model", "ecrn"] if small else ["--weights", "fixed"]
    one, other, both = folder / "one.model", folder / "other.model", folder / "both.model"
    for path, files in ((one, [text]), (other, [more]), (both, [text, more])):
        _done(corate(["train", *map(str, files), "-m", str(path), "-q", *kind]))
    old, new = one.read_bytes(), both.read_bytes()
    return [
        Case("train", ["train", str(text), str(more), "-m", str(model), "-q", *kind], model, old, new),
        Case("update", ["update", str(model), str(more), "-q"], model, old, new),
        Case("forget", ["forget", str(model), str(more), "-q"], model, new, old),
        Case("merge", ["merge", str(one), str(other), "-o", str(model), "-q"], model, old, new),
    ]


def _done(code: int) -> None:
    if code:
        raise ViolationError(f"exit code {code} where nothing was in the way")


# Children --------------------------------------------------------------------------------------------


@dataclass
class Child:
    """A forked process that waits for a sign, does its work and exits with its code."""

    pid: int
    go: int
    err: int

    @classmethod
    def of(cls, action: Action) -> Child:
        (go_read, go_write), (err_read, err_write), (is_ready, ready) = os.pipe(), os.pipe(), os.pipe()
        pid = os.fork()
        if pid == 0:
            code = 99
            try:
                os.dup2(err_write, 2)
                sys.stderr = os.fdopen(2, "w")
                os.write(ready, b"r")
                select.select([go_read], [], [])  # not one of the calls that are made to fail
                code = action()
            except BaseException:
                traceback.print_exc()
            finally:
                sys.stderr.flush()
                os._exit(code)
        os.read(is_ready, 1)
        for descriptor in (go_read, err_write, is_ready, ready):
            os.close(descriptor)
        return cls(pid, go_write, err_read)

    def start(self) -> None:
        os.write(self.go, b"g")

    def wait(self) -> Done:
        """Its exit code and what it said; one that hangs is killed, and a violation."""
        text, deadline = b"", time.monotonic() + SECONDS
        while select.select([self.err], [], [], max(0.0, deadline - time.monotonic()))[0]:
            data = os.read(self.err, 1 << 16)
            if not data:
                break
            text += data
        else:
            os.kill(self.pid, signal.SIGKILL)
        code = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        os.close(self.go)
        os.close(self.err)
        if time.monotonic() > deadline:
            raise ViolationError(f"hangs: {text.decode()!r}")
        return Done(code, text.decode())


def in_child(action: Action) -> Done:
    child = Child.of(action)
    child.start()
    return child.wait()


# Kill ------------------------------------------------------------------------------------------------


def kill(folder: Path, times: int, seed: int = 0) -> Counter[str]:
    rng, found = random.Random(seed), Counter[str]()
    todo = [case for case in cases(folder) if case.name != "forget"]
    for case in todo:
        case.begin()
        _done(case())  # whatever is to be imported is then there
    for k in range(times):
        case = todo[k % len(todo)]
        case.begin()
        started = time.perf_counter()
        in_child(case)
        took = time.perf_counter() - started
        case.begin()
        child = Child.of(case)
        child.start()
        time.sleep(took * rng.choice((rng.uniform(0, 1), rng.uniform(0.6, 1))))  # late, it is being saved
        os.kill(child.pid, signal.SIGKILL)
        done = child.wait()
        found[f"{case.name}: {case.check(done)}"] += 1
        found["killed, not done"] += done.code < 0
        found["stray files, until the next save"] += len(strays(folder))
        case.check_next()
    return found


# Faults ----------------------------------------------------------------------------------------------


def traced(case: Case, *options: str) -> tuple[Done, str]:
    """The command in a child, under strace from its first system call on; and what strace wrote."""
    strace = shutil.which("strace")
    if strace is None:
        raise ImpossibleError("strace is not installed")
    child = Child.of(case)
    with tempfile.NamedTemporaryFile("r") as log:
        tracer = subprocess.Popen(
            [strace, "-p", str(child.pid), "-o", log.name, *options], stderr=subprocess.PIPE, text=True
        )
        assert tracer.stderr is not None
        said = tracer.stderr.readline()
        if "attached" not in said:
            os.kill(child.pid, signal.SIGKILL)
            with contextlib.suppress(ViolationError):
                child.wait()
            tracer.wait()
            raise ImpossibleError(f"strace cannot trace here: {said.strip()}")
        child.start()
        done = child.wait()
        tracer.communicate()
        return done, log.read()


def faults(folder: Path, every: int = 1) -> Counter[str]:
    """Every (or every so many-th) system call of each command fails, once with each error."""
    found: Counter[str] = Counter()
    for case in cases(folder, small=True):
        case.begin()
        _done(case())
        case.begin()
        done, log = traced(case, "-e", f"trace={','.join(CALLS)}")
        if case.check(done) != "new":
            raise ViolationError(f"{case.name} under strace: {done}")
        calls = Counter(line.partition("(")[0] for line in log.splitlines() if "(" in line)
        places = [(call, n) for call in CALLS for n in range(1, calls[call] + 1)]
        for k, (call, n) in enumerate(places):
            for error in ERRORS:
                if (2 * k + ERRORS.index(error)) % every:
                    continue
                case.begin()
                done, log = traced(case, "-e", f"trace={call}", "-e", f"inject={call}:error={error}:when={n}")
                found["system calls that failed"] += log.count("INJECTED")
                try:
                    state = case.check(done)
                    case.check_next()
                except ViolationError as violation:
                    raise ViolationError(f"{call} {n}, {error}: {violation}: {log[-400:]}") from violation
                told = "no harm" if done.code == 0 else "told"
                found[f"{case.name}: {told}, {state}"] += 1
    return found


# Full disks ------------------------------------------------------------------------------------------


def full(folder: Path, times: int) -> Counter[str]:
    """No file may grow beyond a limit, from nothing to the whole model."""
    found: Counter[str] = Counter()
    for case in cases(folder, small=True):
        case.begin()
        _done(case())
        size = len(case.new)
        for limit in range(0, size, max(1, size // times)):

            def limited(case: Case = case, limit: int = limit) -> int:
                resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
                return case()

            case.begin()
            done = in_child(limited)
            if done.code == 0 or os.strerror(errno.EFBIG) not in done.err:
                raise ViolationError(f"{case.name}: a limit of {limit} bytes: {done}")
            found[f"{case.name}: told, {case.check(done)}"] += 1
            if strays(folder):
                raise ViolationError(f"{case.name}: stray files are left: {strays(folder)}")
        case.check_next()
    return found


@contextlib.contextmanager
def small_disk(folder: Path, size: str) -> Iterator[Path]:
    disk = folder / "disk"
    disk.mkdir()
    options = ["-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(disk)]
    try:
        done = subprocess.run(["mount", *options], capture_output=True, text=True, check=False)
    except OSError as error:
        raise ImpossibleError(f"mount: {error.strerror}") from error
    if done.returncode:
        raise ImpossibleError(done.stderr.strip())
    try:
        yield disk
    finally:
        subprocess.run(["umount", str(disk)], check=True)
        disk.rmdir()


def full_tmpfs(folder: Path) -> Counter[str]:
    """A file system with fewer and fewer bytes free."""
    found: Counter[str] = Counter()
    page = resource.getpagesize()
    with small_disk(folder, "24m") as disk:
        for case in cases(disk):
            case.begin()
            _done(case())
            case.begin()
            free = os.statvfs(disk).f_bavail * page
            enough = len(case.new) + 4 * page
            for left in range(0, enough, max(page, enough // 8 // page * page)):
                filler = disk / "filler"
                filler.write_bytes(b"\0" * max(0, free - left))
                done = in_child(case)
                found[f"{case.name}: {'told' if done.code else 'no harm'}, {case.check(done)}"] += 1
                filler.unlink()
                case.check_next()
                case.begin()
    return found


# Damage ----------------------------------------------------------------------------------------------


def damage(folder: Path, *models: CountedModel, bits: int = 8) -> Counter[str]:
    """Every truncation, and some or all bits of every byte."""
    found: Counter[str] = Counter()
    path = folder / "small.model"
    for model in models:
        name = type(model).__name__
        model.fit([["a", "b"]], [["X", "Y"]])
        model.save(path)
        whole = path.read_bytes()
        for size in range(len(whole)):
            _check_refused(path, whole[:size], f"{name}: the first {size} bytes")
        for place in range(len(whole)):
            for bit in range(bits):
                flipped = bytearray(whole)
                flipped[place] ^= 1 << ((place + bit) % 8)
                _check_refused(path, bytes(flipped), f"{name}: byte {place}")
        found[f"{name}: truncations refused"] = len(whole)
        found[f"{name}: flipped bits refused"] = bits * len(whole)
    return found


def damage_in_memory(bits: int) -> Counter[str]:
    with terminal.scratch() as folder:
        tagger = Tagger(weights="fixed", contexts=("word", "word-1", "pair:word"))
        return damage(Path(folder), EmpiricalCRF(), tagger, bits=bits)


def _check_refused(path: Path, data: bytes, what: str) -> None:
    path.write_bytes(data)
    try:
        load(path)
    except ModelFileError as error:
        if "\n" in str(error) or not str(error).startswith(f"{path}: "):
            raise ViolationError(f"{what}: {error}") from error
    else:
        raise ViolationError(f"{what}: loaded")


# Races -----------------------------------------------------------------------------------------------


def race(folder: Path, updates: int, writers: int = 2) -> Counter[str]:
    """Processes that update one file lose nothing: the result is that of one process which does it all."""
    path = folder / "shared.model"
    base = [["the", "dog"]], [["D", "N"]]
    EmpiricalCRF().fit(*base).save(path)

    def sentence(writer: int, k: int) -> tuple[list[list[str]], list[list[str]]]:
        return [["the", f"thing{k}", f"by{writer}"]], [["D", "N", f"L{k % 3}"]]

    def writer(number: int) -> Action:
        def update() -> int:
            for k in range(updates):
                with locked(path):
                    load(path).partial_fit(*sentence(number, k)).save(path)
            return 0

        return update

    children = [Child.of(writer(number)) for number in range(writers)]
    _run_together(children)
    every = [base, *(sentence(number, k) for number in range(writers) for k in range(updates))]
    alone = EmpiricalCRF().fit([s for X, _ in every for s in X], [s for _, y in every for s in y])
    _check_same(alone, path, "an update was lost")
    return Counter({f"updates by {writers} processes, none lost": writers * updates})


def _run_together(children: Sequence[Child]) -> None:
    for child in children:
        child.start()
    for child in children:
        done = child.wait()
        if done.code or done.err:
            raise ViolationError(f"a writer fails: {done}")


def race_with_training(folder: Path, updates: int, writers: int = 3) -> Counter[str]:
    """Updates from the command line, and in between a training over the same file: of every writer, the
    updates since then are there, and no others."""
    path, base = folder / "trained.model", folder / "base.conll"
    base.write_text("the\tD\ndog\tN\n\nit\tN\nrains\tV\n")
    train = ["train", str(base), "-m", str(path), "--model", "ecrn", "-q"]
    _done(corate(train))
    texts = [[folder / f"{w}.{k}.conll" for k in range(updates)] for w in range(writers)]
    for w, files in enumerate(texts):
        for k, file in enumerate(files):
            file.write_text(f"the\tD\nthing{k}\tN\nby{w}\tV\n")

    def writer(files: list[Path]) -> Action:
        return lambda: max(corate(["update", str(path), str(file), "-q"]) for file in files)

    def late_training() -> int:
        time.sleep(0.05)
        return corate(train)

    children = [Child.of(writer(files)) for files in texts] + [Child.of(late_training)]
    _run_together(children)
    model = load(path)
    sentences = [([["the", "dog"], ["it", "rains"]], [["D", "N"], ["N", "V"]])]
    for w in range(writers):
        known = [
            bool(model.known([["the", f"thing{k}", f"by{w}"]], [["D", "N", "V"]])[0]) for k in range(updates)
        ]
        if known != sorted(known):
            raise ViolationError(f"an update is gone, and one before it is there: {known}")
        kept = [k for k in range(updates) if known[k]]
        sentences += [([["the", f"thing{k}", f"by{w}"]], [["D", "N", "V"]]) for k in kept]
    X, y = [s for X, _ in sentences for s in X], [s for _, y in sentences for s in y]
    _check_same(EmpiricalCRF(unknown="signature").fit(X, y), path, "counts of other sentences")
    return Counter({"updates from the command line": writers * updates, "since the training": len(X) - 2})


def _check_same(model: EmpiricalCRF, path: Path, what: str) -> None:
    expected = path.with_name("expected.model")
    model.save(expected)
    if expected.read_bytes() != path.read_bytes():
        raise ViolationError(what)
    if strays(path.parent):
        raise ViolationError(f"stray files are left: {strays(path.parent)}")


# All of it -------------------------------------------------------------------------------------------

EXPERIMENTS: dict[str, Callable[[Path, argparse.Namespace], Counter[str]]] = {
    "kill": lambda folder, options: kill(folder, options.kills, options.seed),
    "faults": lambda folder, options: faults(folder, options.every),
    "full": lambda folder, options: full(folder, options.limits),
    "tmpfs": lambda folder, options: full_tmpfs(folder),
    "damage": lambda folder, options: damage_in_memory(options.bits),
    "race": lambda folder, options: race(folder, options.updates),
    "train": lambda folder, options: race_with_training(folder, max(1, options.updates // 25)),
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", nargs="*", default=[*EXPERIMENTS], metavar="|".join(EXPERIMENTS))
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--every", type=int, default=1, help="inject a fault at every so many-th place")
    parser.add_argument("--limits", type=int, default=100, help="sizes at which the disk is full")
    parser.add_argument("--bits", type=int, default=8, help="how many bits of every byte are flipped")
    parser.add_argument("--updates", type=int, default=500, help="of each process")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    failed = 0
    for name in options.what:
        if name not in EXPERIMENTS:
            parser.error(f"{name!r}: choose from {', '.join(EXPERIMENTS)}")
        with tempfile.TemporaryDirectory() as folder:
            try:
                found = EXPERIMENTS[name](Path(folder), options)
            except ImpossibleError as reason:
                print(f"{name}: skipped: {reason}\n")
                continue
            except ViolationError as violation:
                print(f"{name}: VIOLATION: {violation}\n")
                failed += 1
                continue
        rows = {what: what for what in sorted(found)}
        terminal.print_table(
            name, rows, [terminal.Column("times", "", {k: f"{n:,}" for k, n in found.items()})]
        )
    if failed:
        sys.exit(1)


if __name__ == "__main__":
    terminal.run(main)
