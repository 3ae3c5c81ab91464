"""What --model stands for, and which options each model has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

EMPIRICAL = {"ep1": "mean", "ep2": "maxent", "ecrn": "signature"}  # the parameter `unknown`
FITTED = {
    "crf": "LinearChainCRF",
    "maxent": "MaxEntClassifier",
    "memm": "MEMM",
    "piecewise": "PiecewiseCRF",
    "separate": "SeparateCRF",
}
KINDS = ("tagger", *EMPIRICAL, "hmm", *FITTED)
COUNTED = ("tagger", *EMPIRICAL, "hmm")

# The models that each option of `corate train` is for; options that are not here are for all.
OPTIONS: dict[str, tuple[str, ...]] = {
    "--weights": ("tagger",),
    "--pair": tuple(EMPIRICAL),
    "--mu-oov": tuple(EMPIRICAL),
    "--held-out": tuple(EMPIRICAL),
    "--words-only": ("tagger", *FITTED),
    "--no-ledger": COUNTED,
    "--smoothing": ("hmm",),
    "--c2": ("ep2", *FITTED),
    "--max-iterations": tuple(FITTED),
    "--algorithm": ("crf",),
    "--shared": ("memm",),
}


def check_options(kind: str, given: Mapping[str, Any]) -> None:
    """Refuse options that mean nothing to this kind of model."""
    for option, value in given.items():
        if value and kind not in OPTIONS[option]:
            *others, last = OPTIONS[option]
            names = f"{', '.join(others)} and {last}" if others else last
            raise click.UsageError(f"{option} is for --model {names}, not for {kind}")


def make(kind: str, contexts: tuple[str, ...], words_only: bool, options: Mapping[str, Any]) -> Any:
    """The untrained model; options that are None are left to it."""
    import corate
    from corate.contexts.defaults import WORDS

    chosen = {name: value for name, value in options.items() if value is not None}
    if kind in FITTED:
        cls = getattr(corate, FITTED[kind])
        return cls(contexts=contexts or (cls.default if words_only else None), **chosen)
    if kind == "tagger":
        return corate.Tagger(contexts=contexts or (WORDS if words_only else None), **chosen)
    given: dict[str, Any] = {"contexts": contexts} if contexts else {}
    if kind == "hmm":
        return corate.HMM(**given, **chosen)
    return corate.EmpiricalCRF(EMPIRICAL[kind], **given, **chosen)
