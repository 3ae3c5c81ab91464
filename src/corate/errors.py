"""What corate raises: every message says what is wrong, where, with which value, and what to do."""

from __future__ import annotations


def spoken(model: object) -> str:
    """The class of a model with its article: a Tagger, an EmpiricalCRF, an HMM, an MEMM."""
    name = type(model).__name__
    return f"{'an' if name[0] in 'AEIOU' or name.startswith(('HMM', 'MEMM')) else 'a'} {name}"


class CorateError(Exception):
    """Base of every error that corate raises on purpose; the CLI prints it as one line."""


class InputError(CorateError, ValueError):
    """Bad input data: ``file:line: what is wrong``, from a `message` and perhaps its `source` and `line`."""

    def __init__(self, message: str, source: str | None = None, line: int | None = None) -> None:
        self.source, self.line = source, line
        where = "" if source is None else f"{source}: " if line is None else f"{source}:{line}: "
        super().__init__(where + message)


class ModelFileError(CorateError, ValueError):
    """A model file that is damaged, of another version, or no model file at all."""


class ConstraintError(CorateError, ValueError):
    """Constraints that no label sequence of a sentence satisfies; `sentence` is its number, from 0."""

    def __init__(self, sentence: int) -> None:
        self.sentence = sentence
        super().__init__(f"no label sequence satisfies the constraints in sentence {sentence}")


class RoomError(InputError):
    """Sentences that would take too much memory together; fewer of them, or shorter ones, may not."""


class NotFittedError(CorateError, ValueError, AttributeError):
    """An estimator that was asked for labels before it saw any."""


class ConvergenceWarning(UserWarning):
    """A search that ended before it was done: the model is the best one found, not the best one."""
