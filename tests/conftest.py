"""What tests share: the sample, a trained model file, and the command line as a function."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import Phase, settings

from corate import EmpiricalCRF, Tagger, load_sample
from corate.cli import run
from lab.serving import Server, serving

TOGETHER = "tests/engines/test_spark.py"  # one session of Spark, which is to be started once


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Tests go to whoever is free, but those of one session of Spark to one process. The mark xdist_group
    does not see to that with pytest 9.2, where the id of a test cannot be changed any more."""
    from xdist.scheduler import LoadScopeScheduling

    def scope(nodeid: str) -> str:
        file = nodeid.split("::")[0]
        return file if file == TOGETHER else nodeid

    scheduling = LoadScopeScheduling(config, log)
    scheduling._split_scope = scope
    return scheduling


class Result(NamedTuple):
    code: int
    out: str
    err: str


Cli = Callable[..., Result]
MEMORY = Path("/dev/shm")

# For tools/mutate.py: that a test fails is all it asks, not what the smallest example is.
settings.register_profile(
    "mutants", phases=[Phase.explicit, Phase.generate], database=None, derandomize=True, deadline=None
)


@pytest.fixture
def scratch() -> Iterator[Path]:
    """A folder in memory, where there is one: thousands of files are written."""
    with tempfile.TemporaryDirectory(dir=MEMORY if os.access(MEMORY, os.W_OK) else None) as folder:
        yield Path(folder)


@pytest.fixture
def cli(capfdbinary: pytest.CaptureFixture[bytes]) -> Cli:
    """`cli("tag", "-m", path)` runs a command and returns its exit code, stdout and stderr."""

    def call(*arguments: object) -> Result:
        capfdbinary.readouterr()
        code = run([str(argument) for argument in arguments])
        captured = capfdbinary.readouterr()
        return Result(code, captured.out.decode(), captured.err.decode())

    return call


@pytest.fixture(scope="session")
def pos_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of the sample's parts of speech."""
    path = tmp_path_factory.mktemp("models") / "pos.model"
    EmpiricalCRF(unknown="signature").fit(*load_sample()).save(path)
    return path


@pytest.fixture(scope="session")
def ner_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of the sample's entities."""
    path = tmp_path_factory.mktemp("models") / "ner.model"
    EmpiricalCRF(unknown="signature").fit(*load_sample(label="entity")).save(path)
    return path


@pytest.fixture(scope="session")
def taggers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with Taggers of the sample, pos.model and ner.model, and nothing else."""
    folder = tmp_path_factory.mktemp("taggers")
    Tagger("fixed").fit(*load_sample()).save(folder / "pos.model")
    Tagger("fixed").fit(*load_sample("train", "entity")).save(folder / "ner.model")
    return folder


@pytest.fixture
def own_model(taggers: Path, tmp_path: Path) -> Path:
    """A copy of pos.model that a test may teach."""
    path = tmp_path / "pos.model"
    path.write_bytes((taggers / "pos.model").read_bytes())
    return path


@pytest.fixture(scope="module")
def server(taggers: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """`corate serve --learn` of copies of both, which nobody teaches, and of one more: taught.model."""
    folder = tmp_path_factory.mktemp("served")
    copies = {"pos": "pos", "ner": "ner", "taught": "pos"}
    for name, original in copies.items():
        (folder / f"{name}.model").write_bytes((taggers / f"{original}.model").read_bytes())
    with serving(*(folder / f"{name}.model" for name in copies), "--learn") as found:
        yield found
