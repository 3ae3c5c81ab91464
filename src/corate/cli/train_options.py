"""The options of `corate train` that are for some models: one entry of a table for each.

From it follow the option with its help, the refusal where a model has no use for it, and the parameter of the
model that it sets.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import click

from corate.cli.common import Command, with_options
from corate.models.registry import KINDS

EVERY = tuple(KINDS)
COUNTED = tuple(name for name, kind in KINDS.items() if kind.counted)
FITTED = tuple(name for name, kind in KINDS.items() if not kind.counted)
EMPIRICAL = ("ecrn", "ep1", "ep2")
AUTO = "auto"


class ModelOption(NamedTuple):
    """An option, and the models that it is for."""

    name: str
    models: Sequence[str]
    click: Mapping[str, Any]  # as click.option takes them; in `help`, {models} are those that it is for
    parameter: str | None = None  # of the model, which it sets; None where the command sees to it
    value: Callable[[Any], Any] = lambda given: given  # what it is set to

    @property
    def key(self) -> str:
        """What the option is called among the parameters of the command."""
        return self.name.removeprefix("--").replace("-", "_")

    def check(self, kind: str) -> None:
        """Refuse the option where it means nothing to this kind of model."""
        if kind not in self.models:
            *others, last = (name for name in KINDS if name in self.models)
            names = f"{', '.join(others)} and {last}" if others else last
            raise click.UsageError(f"{self.name} is for --model {names}, not for {kind}")

    def decorate(self, command: Any) -> Any:
        spoken = self.click["help"].format(models=", ".join(self.models))
        return click.option(self.name, self.key, **{**self.click, "help": spoken})(command)


def _number_or_auto(text: str) -> float | None:
    """An exponent; None, which has the model choose it."""
    if text == AUTO:
        return None
    try:
        return float(text)
    except ValueError:
        raise click.UsageError(f"--mu-oov {text!r} is neither a number nor 'auto'") from None


OPTIONS = (
    ModelOption(
        "--weights",
        ["tagger"],
        {
            "type": click.Choice(["fitted", "fixed"]),
            "help": "{models}: exponents of the rates, fitted on folds of the training data (the default) or "
            "constant.",
        },
        "weights",
    ),
    ModelOption(
        "--pair",
        (*EMPIRICAL, "separate"),
        {
            "type": click.Choice(["label", "word"]),
            "help": "{models}: pair factors by labels alone (the default), or by words too where seen "
            "together.",
        },
        "pair",
    ),
    ModelOption(
        "--context",
        EVERY,
        {
            "multiple": True,
            "metavar": "NAME",
            "help": "Context to use instead of the default ones, e.g. suffix3 or initial,shape or word-1; "
            "repeatable. Views: word lower initial hyphen ending shape prefixN suffixN tailN bias; further "
            "columns: col2.",
        },
        "contexts",
    ),
    ModelOption(
        "--contexts",
        EVERY,
        {
            "metavar": "FILE",
            "help": "File of contexts to use instead of the default ones, one a line; or a template file of "
            "CRF++.",
        },
    ),
    ModelOption(
        "--words-only",
        ["tagger", *FITTED],
        {
            "is_flag": True,
            "help": "tagger, crf and its kin: look at the words alone, whatever other columns there are.",
        },
    ),
    ModelOption(
        "--mu-oov",
        EMPIRICAL,
        {
            "metavar": "NUMBER|auto",
            "help": "{models}: exponent at unknown words (1); auto chooses it on --held-out.",
        },
        "mu_oov",
        _number_or_auto,
    ),
    ModelOption("--held-out", EMPIRICAL, {"metavar": "FILE", "help": "Labelled text for --mu-oov auto."}),
    ModelOption(
        "--no-ledger",
        COUNTED,
        {
            "is_flag": True,
            "help": "Keep no digests of the sentences: smaller, but update and forget cannot tell what was "
            "learned.",
        },
        "ledger",
        lambda given: False,
    ),
    ModelOption(
        "--min-count",
        [name for name in COUNTED if name != "hmm"],
        {
            "type": click.IntRange(2),
            "metavar": "N",
            "help": "Drop events of contexts that are counted less than N times: a smaller model, which "
            "cannot forget any more (as corate prune --below N makes it).",
        },
    ),
    ModelOption(
        "--c2",
        [*FITTED, "ep2"],
        {
            "type": float,
            "metavar": "NUMBER",
            "help": "{models}: penalty on the squares of weights, as CRFsuite's (1; ep2: 0.1).",
        },
        "c2",
    ),
    ModelOption(
        "--c1",
        ["crf"],
        {
            "type": float,
            "metavar": "NUMBER",
            "help": "{models}: penalty on the size of weights, as CRFsuite's (0): most weights become 0.",
        },
        "c1",
    ),
    ModelOption(
        "--algorithm",
        ["crf"],
        {
            "type": click.Choice(["lbfgs", "l2sgd", "ap", "iis-s", "iis-t"]),
            "help": "{models}: L-BFGS (the default), stochastic gradient, averaged perceptron (no --c2), or "
            "improved iterative scaling, which is slow.",
        },
        "algorithm",
    ),
    ModelOption(
        "--max-iterations",
        FITTED,
        {
            "type": click.IntRange(1),
            "metavar": "N",
            "help": "{models}: where to stop at the latest (1000). Ctrl-C stops earlier, and the best "
            "weights so far are saved.",
        },
        "max_iterations",
    ),
    ModelOption(
        "--shared",
        ["memm"],
        {
            "is_flag": True,
            "help": "{models}: one model in which the label before is a feature, instead of one for each "
            "label before.",
        },
        "models",
        lambda given: "shared",
    ),
    ModelOption(
        "--smoothing",
        ["hmm"],
        {
            "type": click.Choice(["none", "lidstone", "witten-bell", "interpolation"]),
            "help": "{models}: how counts become probabilities (interpolation).",
        },
        "smoothing",
    ),
)


def kind_option(command: Command) -> Command:
    return click.option(
        "--model",
        "kind",
        type=click.Choice([*KINDS]),
        default="tagger",
        show_default=True,
        help="tagger: many contexts at once, the most accurate one. ecrn, ep1, ep2: the papers' models, with "
        "unknown words by the joint value, by the mean or by a log-linear model of their spelling features; "
        "smaller and quicker. crf, memm, maxent, hmm, piecewise, separate: the classical models.",
    )(command)


def model_options(command: Command) -> Command:
    """All of them; the command takes those that it does not name as one dict."""
    made: Command = with_options([option.decorate for option in OPTIONS], command)
    return made


def make(kind: str, given: Mapping[str, Any], encoding: str) -> Any:
    """The untrained model that the options ask for, or UsageError; what they do not say is left to it."""
    told = {option.key: option for option in OPTIONS if _is_told(given[option.key])}
    if len(told.keys() & {"context", "contexts", "words_only"}) > 1:
        raise click.UsageError("--context, --contexts and --words-only do not go together: choose one")
    for option in told.values():
        option.check(kind)
    if "held_out" in told and given["mu_oov"] != AUTO:
        _number_or_auto(given["mu_oov"] or "1")
        raise click.UsageError("--held-out is used by --mu-oov auto alone")
    if given["mu_oov"] == AUTO and "held_out" not in told:
        raise click.UsageError("--mu-oov auto needs --held-out FILE")
    params = {option.parameter: option.value(given[key]) for key, option in told.items() if option.parameter}
    if "contexts" in told:
        from corate.contexts.files import read_contexts

        params["contexts"] = read_contexts(given["contexts"], encoding=encoding)
    if "words_only" in told:
        params["contexts"] = KINDS[kind].cls.word_contexts
    return KINDS[kind].make(**params)


def _is_told(value: Any) -> bool:
    return value is not None and value is not False and value != ()
