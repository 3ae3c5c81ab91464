"""Can a model file be destroyed? Writers are killed, calls fail, disks are full, bits flip, processes race.

Whatever happens, the file is the old model or the new one, byte for byte; a failure is one line and an exit
code; nobody waits for a lock of the dead, and the next save leaves no stray file. A few cases of each run
always, all of them with `make test-long`.
"""

from __future__ import annotations

import contextlib
import errno
import os
import random
import resource
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from corate import EmpiricalCRF, ModelFileError, RateNetwork, Tagger, load, locked
from corate.cli import run as corate
from corate.models.counted import Countable
from writers import FORKS, Action, Case, Child, cases, in_child, run_together, strays, traced

# System calls with which files are opened, read, written, moved, locked and looked at.
CALLS = (
    "openat", "read", "write", "lseek", "fsync", "ftruncate", "fchmod", "flock", "rename", "unlink", "close",
    "getdents64", "newfstatat", "fstat", "readlink",
)  # fmt: skip
ERRORS = ("ENOSPC", "EIO")
TWO, THREE = 2, 3  # processes at a time
LabelledSentence = tuple[list[str], list[str]]

pytestmark = FORKS


def short_and_long(name: str, short: int, long: int) -> pytest.MarkDecorator:
    marked = pytest.param(long, id="long", marks=pytest.mark.long)
    return pytest.mark.parametrize(name, [pytest.param(short, id="short"), marked])


@short_and_long("kills", 5, 200)
def test_killed_at_random_moments(tmp_path: Path, kills: int) -> None:
    """SIGKILL during a save, an update and a merge, of taggers and of networks."""
    rng, found = random.Random(0), Counter[str]()
    todo = [case for case in cases(tmp_path) if "forget" not in case.name]
    for case in todo:
        case.prepare()
    for k in range(kills):
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
        found["stray files, until the next save"] += len(strays(tmp_path))
        case.check_next()
    print(found)


@short_and_long("every", 97, 1)
def test_system_calls_that_fail(tmp_path: Path, every: int) -> None:
    """Every (or every so many-th) call that touches files fails, once with each error (needs strace)."""
    found: Counter[str] = Counter()
    for case in cases(tmp_path, small=True):
        case.prepare()
        done, log = traced(case, "-e", f"trace={','.join(CALLS)}")
        assert case.check(done) == "new"
        calls = Counter(line.partition("(")[0] for line in log.splitlines() if "(" in line)
        places = [(call, n, e) for call in CALLS for n in range(1, calls[call] + 1) for e in ERRORS]
        for call, n, error in places[::every]:
            case.begin()
            done, log = traced(case, "-e", f"trace={call}", "-e", f"inject={call}:error={error}:when={n}")
            try:
                state = case.check(done)
                case.check_next()
            except AssertionError as violation:
                raise AssertionError(f"{call} {n}, {error}: {violation}: {log[-400:]}") from violation
            found["system calls that failed"] += log.count("INJECTED")
            found[f"{case.name}: {'no harm' if done.code == 0 else 'told'}, {state}"] += 1
    assert found["system calls that failed"] > 400 / every
    print(found)


@short_and_long("limits", 3, 100)
def test_files_that_may_not_grow(tmp_path: Path, limits: int) -> None:
    """No file may grow beyond a limit, from nothing to the whole model."""
    for case in cases(tmp_path, small=True):
        case.prepare()
        size = len(case.new)
        for limit in range(0, size, max(1, size // limits)):

            def limited(case: Case = case, limit: int = limit) -> int:
                resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
                return case()

            case.begin()
            done = in_child(limited)
            assert done.code != 0
            assert os.strerror(errno.EFBIG) in done.err
            case.check(done)
            assert not strays(tmp_path)
        case.check_next()


@contextlib.contextmanager
def small_disk(folder: Path, size: str) -> Iterator[Path]:
    disk = folder / "disk"
    disk.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(disk)]
    try:
        subprocess.run(command, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"a small file system needs root: {error}")
    try:
        yield disk
    finally:
        subprocess.run(["umount", str(disk)], check=True)
        disk.rmdir()


@pytest.mark.long
def test_a_file_system_with_little_room_left(tmp_path: Path) -> None:
    page, found = resource.getpagesize(), Counter[str]()
    with small_disk(tmp_path, "24m") as disk:
        for case in cases(disk):
            case.prepare()
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
    print(found)


SMALL_TAGGER = Tagger(weights="fixed", contexts=("word", "word-1", "pair:word"))


@pytest.mark.parametrize(
    ("model", "bits"),
    [
        pytest.param(EmpiricalCRF(), 1, id="EmpiricalCRF"),
        pytest.param(EmpiricalCRF(), 8, id="EmpiricalCRF, all bits", marks=pytest.mark.long),
        pytest.param(SMALL_TAGGER, 8, id="Tagger, all bits", marks=pytest.mark.long),
        pytest.param(RateNetwork("chain"), 8, id="RateNetwork, all bits", marks=pytest.mark.long),
    ],
)
def test_every_truncation_and_bit_flip(scratch: Path, model: Countable, bits: int) -> None:
    path = scratch / "small.model"
    if isinstance(model, RateNetwork):
        model.fit([("a", "b"), ("b", "a")])
    else:
        model.fit([["a", "b"]], [["X", "Y"]])
    model.save(path)
    whole = path.read_bytes()
    assert len(whole) > 1000

    def check_refused(data: bytes) -> None:
        path.write_bytes(data)
        with pytest.raises(ModelFileError) as caught:
            load(path)
        assert "\n" not in str(caught.value)
        assert str(caught.value).startswith(f"{path}: ")

    for size in range(len(whole)):
        check_refused(whole[:size])
    for place in range(len(whole)):
        for bit in range(bits):
            flipped = bytearray(whole)
            flipped[place] ^= 1 << ((place + bit) % 8)
            check_refused(bytes(flipped))
    print(f"{len(whole):,} truncations and {bits * len(whole):,} flipped bits refused")


def check_same(path: Path, crf: EmpiricalCRF, sentences: Sequence[LabelledSentence]) -> None:
    """The file is that of one process which learns it all."""
    expected = path.with_name("expected.model")
    crf.fit([words for words, _ in sentences], [labels for _, labels in sentences]).save(expected)
    assert expected.read_bytes() == path.read_bytes()
    assert not strays(path.parent)


@short_and_long("updates", 25, 500)
def test_processes_that_update_one_file_lose_nothing(tmp_path: Path, updates: int) -> None:
    path = tmp_path / "shared.model"
    EmpiricalCRF().fit([["the", "dog"]], [["D", "N"]]).save(path)

    def sentence(writer: int, k: int) -> LabelledSentence:
        return ["the", f"thing{k}", f"by{writer}"], ["D", "N", f"L{k % 3}"]

    def writer(number: int) -> Action:
        def update() -> int:
            for k in range(updates):
                words, labels = sentence(number, k)
                with locked(path):
                    load(path).partial_fit([words], [labels]).save(path)
            return 0

        return update

    run_together([writer(number) for number in range(TWO)])
    every = [sentence(number, k) for number in range(TWO) for k in range(updates)]
    check_same(path, EmpiricalCRF(), [(["the", "dog"], ["D", "N"]), *every])


@short_and_long("updates", 2, 20)
def test_updates_with_a_training_in_between(tmp_path: Path, updates: int) -> None:
    """From the command line: of every writer, the updates since the training are there, and no others."""
    path, base = tmp_path / "trained.model", tmp_path / "base.conll"
    base.write_text("the\tD\ndog\tN\n\nit\tN\nrains\tV\n")
    train = ["train", str(base), "-m", str(path), "--model", "ecrn", "-q"]
    assert corate(train) == 0

    def file(writer: int, k: int) -> Path:
        return tmp_path / f"{writer}.{k}.conll"

    def writer(number: int) -> Action:
        for k in range(updates):
            file(number, k).write_text(f"the\tD\nthing{k}\tN\nby{number}\tV\n")
        commands = [["update", str(path), str(file(number, k)), "-q"] for k in range(updates)]
        return lambda: max(map(corate, commands))

    def late_training() -> int:
        time.sleep(0.05)
        return corate(train)

    run_together([*map(writer, range(THREE)), late_training])
    model = load(path)
    sentences = [(["the", "dog"], ["D", "N"]), (["it", "rains"], ["N", "V"])]
    for number in range(THREE):
        of_writer = [(["the", f"thing{k}", f"by{number}"], ["D", "N", "V"]) for k in range(updates)]
        known = model.known([words for words, _ in of_writer], [labels for _, labels in of_writer]).tolist()
        assert known == sorted(known), f"an update is gone, and one before it is there: {known}"
        sentences += [sentence for sentence, is_known in zip(of_writer, known, strict=True) if is_known]
    check_same(path, EmpiricalCRF(unknown="signature"), sentences)
