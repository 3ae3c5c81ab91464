"""Why a label won, against its rival: the reasons of both side by side, in the words of `corate explain`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from corate.errors import ConstraintError
from corate.lattice.constraints import Constraints, constrain
from corate.lattice.lattice import Lattice
from corate.models.base import Estimator
from corate.models.explanation import Explanation, Reason
from corate.models.tagger.explain import explain as explain_tagger
from corate.models.tagger.lattices import LatticeMaker
from corate.models.tagger.tagger import Tagger
from corate.text.corpus import Corpus
from corate.web.corrections import Token


class _Forced(LatticeMaker):
    """A Tagger's lattices in which some labels are given."""

    def __init__(self, maker: LatticeMaker, forced: Mapping[int, str], classes: Sequence[str]) -> None:
        super().__init__(maker.rates, maker.weights, maker.settings, rows=maker.rows)
        self._constraints, self._classes = Constraints(forced=[forced]), classes

    def lattice(self, corpus: Corpus, n_threads: int = 1) -> Lattice:
        return constrain(super().lattice(corpus, n_threads), self._constraints, self._classes)


def explanations(
    model: Estimator, tokens: Sequence[Token], forced: Mapping[int, str] | None = None
) -> list[Explanation] | None:
    """Of every token, some labels being given; None where the model cannot say."""
    if not forced:
        plain: Any = model
        found: list[Explanation] = plain.explain([t[0] if len(t) == 1 else t for t in tokens])
        return found
    if not isinstance(model, Tagger):
        return None
    maker = _Forced(model._lattice_maker(), forced, model.classes_)
    corpus = model._corpus([tokens])
    Constraints(forced=[forced]).check(corpus, model.classes_)
    try:
        return explain_tagger(maker, corpus, model.classes_)
    except (ConstraintError, IndexError):  # a label that no count speaks for
        return None


class _Side(NamedTuple):
    """What a reason is about, apart from the label that it speaks for."""

    what: str
    text: str
    score: float


def compare(
    model: Estimator, tokens: Sequence[Token], position: int, forced: Mapping[int, str]
) -> dict[str, Any]:
    """One token: the label, its rival, and what spoke for which, the greatest differences first."""
    found = explanations(model, tokens, forced)
    if found is None:
        return {"label": forced.get(position), "rival": None, "reasons": []}
    won = found[position]
    rival = None if won.runner_up is None else won.runner_up[0]
    others = None if rival is None else explanations(model, tokens, {**forced, position: rival})
    mine = {side.what: side for side in map(_side, won.reasons, [won.label] * len(won.reasons))}
    theirs: dict[str, _Side] = {}
    if others is not None:
        reasons = others[position].reasons
        theirs = {side.what: side for side in map(_side, reasons, [rival or ""] * len(reasons))}
    rows = [_row(what, mine.get(what), theirs.get(what)) for what in dict.fromkeys([*mine, *theirs])]
    rows.sort(key=lambda row: -abs((row["score"] or 0.0) - (row["rival_score"] or 0.0)))
    return {
        "word": won.word,
        "label": won.label,
        "probability": won.probability,
        "rival": None if won.runner_up is None else {"label": rival, "probability": won.runner_up[1]},
        "compared": others is not None,
        "reasons": rows,
    }


def _row(what: str, mine: _Side | None, theirs: _Side | None) -> dict[str, Any]:
    return {
        "what": what,
        "text": None if mine is None else mine.text,
        "score": None if mine is None else mine.score,
        "rival_text": None if theirs is None else theirs.text,
        "rival_score": None if theirs is None else theirs.score,
    }


def _side(reason: Reason, label: str) -> _Side:
    """`tail1='d x' was VERB 161 of 382 times, …` is about tail1='d x'; `VERB after …` about labels."""
    context, was, _ = reason.text.partition(f" was {label} ")
    if was:
        return _Side(context, reason.text, reason.score)
    rest = reason.text.removeprefix(label).lstrip()
    if rest.startswith("is "):
        return _Side("the label by itself", reason.text, reason.score)
    before, at, context = rest.partition(" at ")
    if before.startswith("after ") and at:
        return _Side(f"the label before, at {context.rpartition(',')[0]}", reason.text, reason.score)
    if before.startswith("after "):
        two = before.partition(":")[0].count(" ") > 1
        return _Side("the two labels before" if two else "the label before", reason.text, reason.score)
    return _Side(rest.partition(",")[0], reason.text, reason.score)
