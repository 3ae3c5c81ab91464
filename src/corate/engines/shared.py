"""A model on a cluster: its file is sent once to every machine, and read once by every process there."""

from __future__ import annotations

import hashlib
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_LOADED: dict[str, Any] = {}  # the model that this process has read last, by the digest of its file


class Shared:
    """Goes to tasks with what they are to do."""

    def __init__(self, spark: SparkSession, model: Any) -> None:
        """`model`: a trained one, or its file."""
        data = Path(model).read_bytes() if isinstance(model, (str, os.PathLike)) else _file_of(model)
        self._digest = hashlib.sha256(data).hexdigest()
        self._sent = spark.sparkContext.broadcast(data)

    def model(self) -> Any:
        """In a task: the model."""
        if self._digest not in _LOADED:
            from corate.models.registry import load

            with tempfile.NamedTemporaryFile(suffix=".model") as file:
                file.write(self._sent.value)
                file.flush()
                model = load(file.name)
            _LOADED.clear()
            _LOADED[self._digest] = model
        return _LOADED[self._digest]


def _file_of(model: Any) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "sent.model"
        model.save(path)
        return path.read_bytes()
