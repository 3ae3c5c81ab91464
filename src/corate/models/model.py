"""What every model shares, of sentences or not: scikit-learn's manners, saving and restoring.

scikit-learn itself is never imported: its `clone`, `GridSearchCV` and pipelines need no more than what is
here.
"""

from __future__ import annotations

import inspect
import os
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from corate.errors import InputError, ModelFileError, NotFittedError
from corate.models.shown import Shown
from corate.storage import modelfile

MOST_THREADS = 1024
MOST_NOTE = 10_000  # characters

Self = TypeVar("Self", bound="Model")


class Model(Shown, ABC):
    """Base of all models, of sentences or not."""

    n_jobs: int
    about_: dict[str, str] | None = None  # what a note says of the file: note, corate (its version), written
    _fitted_params: dict[str, Any]  # as they were when the model was trained, whatever is set later

    # scikit-learn's manners --------------------------------------------------------------------------

    @classmethod
    def _param_names(cls) -> list[str]:
        return [name for name in inspect.signature(cls.__init__).parameters if name != "self"]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters of the constructor and their values; `deep` is for scikit-learn, and changes
        nothing."""
        return {name: getattr(self, name) for name in self._param_names()}

    def set_params(self: Self, **params: Any) -> Self:
        """Change parameters, `params`, of the constructor; the next `fit` goes by them."""
        for name, value in params.items():
            if name not in self._param_names():
                raise ValueError(
                    f"{type(self).__name__} has no parameter {name!r}: "
                    f"choose from {', '.join(self._param_names())}"
                )
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        defaults = inspect.signature(type(self).__init__).parameters
        changed = (f"{k}={v!r}" for k, v in self.get_params().items() if repr(v) != repr(defaults[k].default))
        return f"{type(self).__name__}({', '.join(changed)})"

    def __sklearn_tags__(self) -> Any:  # pragma: no cover - the shape of the answer is scikit-learn's
        from sklearn.utils import Tags, TargetTags

        return Tags(estimator_type=None, target_tags=TargetTags(required=True))

    def _is_fitted(self) -> bool:
        return hasattr(self, "classes_")

    def _check_fitted(self) -> None:
        if not self._is_fitted():
            raise NotFittedError(f"this {type(self).__name__} has not been trained: call fit(X, y) first")

    def _n_threads(self) -> int:
        if self.n_jobs == -1:
            return os.cpu_count() or 1
        if not isinstance(self.n_jobs, (int, np.integer)) or not 1 <= self.n_jobs <= MOST_THREADS:
            raise InputError(f"n_jobs={self.n_jobs!r}: give 1 to {MOST_THREADS} threads, or -1 for all cores")
        return int(self.n_jobs)

    # What a model says of itself ---------------------------------------------------------------------

    @abstractmethod
    def _check_params(self) -> None:
        """Raise `InputError` for a parameter that makes no sense."""

    @abstractmethod
    def _state(self) -> modelfile.Contents:
        """What was learned, for the model file."""

    @abstractmethod
    def _restore(self, state: modelfile.Contents) -> None:
        """Become the model that learned this, under the present parameters, or raise ValueError."""

    def _restore_parts(self, file: modelfile.Opened) -> None:
        """The same for an open file; a model that can do with less reads less."""
        self._restore(file.whole())

    # On disk -----------------------------------------------------------------------------------------

    def note(self: Self, text: str) -> Self:
        """Have the model file say `text` about it, and which corate wrote it when. Files of equal models
        without a note have equal bytes; those with one differ in it."""
        if not isinstance(text, str) or len(text) > MOST_NOTE:
            raise InputError(f"note {text!r:.40}: give a text of at most {MOST_NOTE:,} characters")
        if _no_text([text]) is not None or "\0" in text:
            raise InputError(f"the note {text!r:.60} is no valid text")
        self.about_ = {"note": text}
        return self

    def save(self, path: str | os.PathLike[str], force: bool = False) -> None:
        """Write the model to one file, `path`; an existing one is replaced only when the new one is whole and
        loads.

        A file that is read-only is replaced with `force` alone.
        """
        contents = self._contents()

        def check(found: modelfile.Contents) -> None:
            try:
                restored(type(self), found)
            except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
                raise InputError(f"not saved: what was learned makes no sound model: {error}") from error

        # Tables in files may not fit into memory, and are not read back as a whole.
        modelfile.write(Path(path), contents, None if modelfile.is_mapped(contents) else check, force)

    def _contents(self) -> modelfile.Contents:
        """What is in the model file."""
        self._check_fitted()
        state = self._state()
        for values in state.texts.values():
            if (value := _no_text(values)) is not None:
                raise InputError(f"{value!r:.60} is no valid text (half of a surrogate pair): not saved")
        params = {name: value for name, value in self._fitted_params.items() if name != "n_jobs"}
        header = {"model": type(self).__name__, "params": params, **state.header, **self._about()}
        return modelfile.Contents(header, state.texts, state.arrays)

    def _about(self) -> dict[str, Any]:
        """The note and who writes it when (SOURCE_DATE_EPOCH, if that is set), for the header."""
        if self.about_ is None:
            return {}
        version: str = sys.modules["corate"].__version__
        now = float(os.environ.get("SOURCE_DATE_EPOCH") or time.time())
        written = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(now))
        return {"about": {**self.about_, "corate": version, "written": written}}


def check_names(what: str, found: set[str], expected: set[str]) -> None:
    if found != expected:
        missing, strangers = sorted(expected - found), sorted(found - expected)
        names = f"{missing[0]!r} is missing" if missing else f"{strangers[0]!r:.60} belongs to no such model"
        raise ValueError(f"of {what}, {names}")


@contextmanager
def sound(path: Path) -> Iterator[None]:
    """Whatever of Python's errors says that a file's contents make no model is said of the file."""
    try:
        yield
    except ModelFileError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise ModelFileError(f"{path}: not a sound model: {error}") from error


def restored(cls: type[Self], contents: modelfile.Contents | modelfile.Opened) -> Self:
    """The model of a file's contents, or an error of Python's if they are not sound; of an open file, no more
    is read than is asked for."""
    header = {**contents.header}
    about, params = header.pop("about", None), header["params"]
    model = cls(**{name: tuple(v) if isinstance(v, list) else v for name, v in params.items()})
    model._check_params()
    if isinstance(contents, modelfile.Opened):
        model._restore_parts(contents.with_header(header))
    else:
        model._restore(replace(contents, header=header))
    if about is not None:
        texts = isinstance(about, dict) and set(map(type, about.values())) == {str}
        if not texts or {*about} != {"note", "corate", "written"} or len(about["note"]) > MOST_NOTE:
            raise ValueError(f"the note {about!r:.60} is none that corate writes")
        model.about_ = about
    return model


def _no_text(values: Sequence[str]) -> str | None:
    """The first of the values that no encoding can write; most lists have none, which is quick to see."""
    try:
        "".join(values).encode()
    except UnicodeEncodeError:
        return next(value for value in values if any("\ud800" <= c <= "\udfff" for c in value))
    return None
