"""Files as Spark sees them: local ones, HDFS, object stores; directories and patterns are looked into."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from corate.counts.engines.spark.pieces import same_uri
from corate.counts.engines.spark.session import plainly
from corate.errors import InputError
from corate.text.formats.lines import BLOCK_BYTES

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LEAST_BYTES, MOST_BYTES = 1 << 20, 1 << 27  # of a partition
SHARE = 4  # partitions a core, if there is enough for so many
WHERE = ("_metadata.file_path", "_metadata.file_block_start")  # where a row comes from
GLOB = frozenset("*?[]{}\\")


class Listed(NamedTuple):
    name: str  # as messages call it
    uri: str  # as Spark calls it among what it has read
    path: str  # as Spark is asked to read it
    size: int

    @property
    def packed(self) -> bool:
        return self.name.lower().endswith(".gz")


def list_files(spark: SparkSession, paths: Iterable[str]) -> list[Listed]:
    """In the order of the paths; those of a directory or a pattern sorted by name."""
    with plainly():
        found = [file for path in paths for file in _found(spark, str(path))]
    seen: set[str] = set()
    for file in found:
        if file.uri in seen:
            raise InputError("given twice: give every file once", file.name)
        seen.add(file.uri)
    return found


def _found(spark: SparkSession, given: str) -> Iterator[Listed]:
    if given == "-":
        raise InputError("standard input is not on the cluster: give files", "<stdin>")
    path = _path(spark, given)
    system = path.getFileSystem(_settings(spark))
    if system.exists(path):
        status = system.getFileStatus(path)
        if not status.isDirectory():
            if _hidden(path.getName()):
                message = "Spark passes over files whose names begin with _ or a dot: give it another name"
                raise InputError(message, given)
            yield _listed(system, status, given)
            return
        yield from _inside(system, status, given)
        return
    matches = sorted(system.globStatus(path) or [], key=lambda status: status.getPath().toString())
    if not matches:
        raise InputError("no such file", given)
    for status in matches:
        name = _short(status.getPath().toString())
        if status.isDirectory():
            yield from _inside(system, status, name)
        elif not _hidden(status.getPath().getName()):
            yield _listed(system, status, name)


def _inside(system: Any, folder: Any, name: str) -> list[Listed]:
    """All files below a directory."""
    root = system.resolvePath(folder.getPath()).toString()
    entries, found = system.listFiles(folder.getPath(), True), []
    while entries.hasNext():
        status = entries.next()
        below = system.resolvePath(status.getPath()).toString().removeprefix(root).lstrip("/")
        if not any(map(_hidden, below.split("/"))):
            found.append(_listed(system, status, f"{name.rstrip('/')}/{below}"))
    if not found:
        raise InputError("no file in this directory", name)
    return sorted(found)


def _listed(system: Any, status: Any, name: str) -> Listed:
    path = system.makeQualified(status.getPath())
    escaped = "".join("\\" + letter if letter in GLOB else letter for letter in path.toString())
    return Listed(name, same_uri(path.toUri().toString()), escaped, status.getLen())


def head_of(spark: SparkSession, file: Listed, n_bytes: int = BLOCK_BYTES) -> bytes:
    """The first bytes of a file."""
    path = _path(spark, _java(spark).java.net.URI(file.uri))
    stream = path.getFileSystem(_settings(spark)).open(path)
    try:
        data = _java(spark).org.apache.commons.io.IOUtils.toByteArray(stream, min(n_bytes, file.size))
    finally:
        stream.close()
    return bytes(data)


def _path(spark: SparkSession, given: Any) -> Any:
    return _java(spark).org.apache.hadoop.fs.Path(given)


def _java(spark: SparkSession) -> Any:
    return spark._jvm


def _settings(spark: SparkSession) -> Any:
    return spark._jsc.hadoopConfiguration()


def _hidden(name: str) -> bool:
    return name.startswith(("_", "."))


def _short(uri: str) -> str:
    """A local file as its path."""
    return uri.removeprefix("file:")


def bytes_of_partition(spark: SparkSession, files: Sequence[Listed], partitions: int | None) -> int:
    total = sum(file.size for file in files)
    if partitions is not None:
        return max(1, -(-total // partitions))
    return max(LEAST_BYTES, min(MOST_BYTES, total // (SHARE * spark.sparkContext.defaultParallelism)))


def session_for(spark: SparkSession, step: int) -> SparkSession:
    """A session in which files are cut every so many bytes, and small ones read several at a time."""
    session = spark.newSession()
    for name, value in {
        "maxPartitionBytes": step,
        "openCostInBytes": step // 8,
        "minPartitionNum": 1,
    }.items():
        session.conf.set(f"spark.sql.files.{name}", str(value))
    return session
