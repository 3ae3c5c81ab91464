"""The same sentences make the same model file on every machine.

Child processes are told to be other ones: BLAS chooses its sums by OPENBLAS_CORETYPE (ignored where BLAS is
not OpenBLAS on x86) and by its number of threads, NumPy its loops by NPY_DISABLE_CPU_FEATURES.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import corate
from corate.arrays import dot, rounded
from tools.cpu_features import can_be_switched_off

MODELS = {
    "tagger": "corate.Tagger()",
    "ep2": "corate.EmpiricalCRF('maxent')",
    "crf": "corate.LinearChainCRF()",
    "separate": "corate.SeparateCRF()",
}
SCRIPT = f"""
import sys, corate
sentences = corate.load_sample()
for name, model in {{{", ".join(f"{name!r}: {model}" for name, model in MODELS.items())}}}.items():
    model.fit(*sentences).save(sys.argv[1] + "/" + name)
"""


MACHINES = {
    "Prescott": {"OPENBLAS_CORETYPE": "Prescott"},
    "two threads": {"OPENBLAS_CORETYPE": "Nehalem", "OPENBLAS_NUM_THREADS": "2"},
    "plain NumPy": {"NPY_DISABLE_CPU_FEATURES": " ".join(can_be_switched_off())},
}

CHOICES = {"OPENBLAS_CORETYPE", "OPENBLAS_NUM_THREADS", "NPY_DISABLE_CPU_FEATURES"}


def trained(folder: Path, **machine: str) -> dict[str, bytes]:
    folder.mkdir()
    environment = {
        key: value for key, value in os.environ.items() if not key.startswith(("OPENBLAS", "NPY_"))
    }
    subprocess.run([sys.executable, "-c", SCRIPT, str(folder)], check=True, env=environment | machine)
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    return trained(tmp_path_factory.mktemp("here") / "models", OPENBLAS_NUM_THREADS="1")


@pytest.mark.parametrize("machine", MACHINES.values(), ids=MACHINES)
def test_model_files_are_equal(machine: dict[str, str], here: dict[str, bytes], tmp_path: Path) -> None:
    there = trained(tmp_path / "models", **machine)
    assert sorted(there) == sorted(MODELS)
    assert [name for name in here if here[name] != there[name]] == []


# Rounding --------------------------------------------------------------------------------------------


def test_rounding_hides_the_noise_of_machines() -> None:
    rng = np.random.default_rng(0)
    weights = rng.normal(scale=0.2, size=4000)
    noise = rng.uniform(-1e-12, 1e-12, size=4000)
    np.testing.assert_array_equal(rounded(weights), rounded(weights + noise))
    assert np.abs(rounded(weights) - weights).max() <= np.abs(weights).max() * 2.0**-16
    np.testing.assert_array_equal(rounded(rounded(weights)), rounded(weights))
    np.testing.assert_array_equal(rounded(weights * 2.0**-40), rounded(weights) * 2.0**-40)
    assert not np.signbit(rounded(np.array([1.0, -1e-9]))[1]), "no minus zero"
    assert len(rounded(np.empty(0))) == 0


def test_fitted_weights_of_a_tagger_are_rounded() -> None:
    weights = corate.Tagger().fit(*corate.load_sample()).weights_.vector()
    np.testing.assert_array_equal(rounded(weights), weights)


def test_dot() -> None:
    a, b = np.arange(1000.0), np.arange(1000.0)[::-1].copy()
    assert dot(a, b) == sum(i * (999 - i) for i in range(1000))


# The command line ------------------------------------------------------------------------------------

PYTHON = """
import sys, corate
from corate.models.registry import KINDS
for kind in sys.argv[3:]:
    KINDS[kind].make().fit(corate.read_corpus(sys.argv[1], label="2")).save(f"{sys.argv[2]}/{kind}")
"""


def test_the_command_line_makes_the_same_files_as_python(tmp_path: Path) -> None:
    """With one thread of BLAS in the one process and all of them in the other."""
    from corate.cli import run
    from corate.text.sample import FOLDER

    text, kinds = (
        tmp_path / "some.conll",
        ["tagger", "ep1", "ep2", "hmm", "crf", "maxent", "memm", "separate"],
    )
    text.write_text("\n\n".join((FOLDER / "train.conll").read_text().split("\n\n")[:60]) + "\n")
    for kind in kinds:
        model = str(tmp_path / f"cli-{kind}")
        assert run(["train", "--model", kind, "--label", "2", str(text), "-m", model]) == 0
    environment = {key: value for key, value in os.environ.items() if not key.startswith("OPENBLAS")}
    command = [sys.executable, "-W", "ignore", "-c", PYTHON, str(text), str(tmp_path), *kinds]
    subprocess.run(command, check=True, env=environment)
    for kind in kinds:
        assert (tmp_path / kind).read_bytes() == (tmp_path / f"cli-{kind}").read_bytes(), kind
