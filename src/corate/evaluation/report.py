"""An evaluation to look at: as text, as HTML, as data frames; and under seqeval's name for it."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from operator import mul
from typing import TYPE_CHECKING, Any, NamedTuple

from corate import markup

if TYPE_CHECKING:
    from rich.table import Table

    from corate.evaluation.evaluate import Evaluation, Score

MOST_ERRORS = 10


class Part(NamedTuple):
    """A table of a report."""

    title: str | None
    headers: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]


def heading(result: Evaluation) -> str:
    return f"{plural(result.tokens, 'token')} in {plural(result.sentences, 'sentence')}"


def parts(result: Evaluation, n_errors: int = MOST_ERRORS) -> Iterator[Part]:
    """Accuracy, spans where there are some, and the most frequent errors."""
    unknown = None if result.unknown_rate is None else round(result.unknown_rate * result.tokens)
    rows = [("all words", percent(result.accuracy), f"{result.tokens:,}")]
    if unknown is not None:
        rows.append(("known words", percent(result.accuracy_known), f"{result.tokens - unknown:,}"))
        rows.append(("unknown words", percent(result.accuracy_unknown), f"{unknown:,}"))
    rows.append(("whole sentences", percent(result.sentence_accuracy), ""))
    yield Part(None, ("accuracy", "%", "tokens"), rows)
    if result.spans is not None:
        reading = "strictly" if result.strict else "as conlleval does"
        yield Part(
            f"{result.scheme}, read {reading}",
            ("spans", "precision", "recall", "F1", "gold"),
            [
                (name, *map(percent, (score.precision, score.recall, score.f1)), f"{score.support:,}")
                for name, score in {"all": result.spans, **result.by_type}.items()
            ],
        )
    errors = [(gold, label, f"{times:,}") for gold, label, times in result.confusions(n_errors)]
    if errors:
        yield Part("Most frequent errors", ("gold", "predicted", "times"), errors)


def as_text(result: Evaluation, n_errors: int = MOST_ERRORS) -> str:
    """The tables that `corate eval` prints."""
    from rich.console import Console

    out = Console(
        file=io.StringIO(), markup=False, highlight=False, emoji=False, width=200, color_system=None
    )
    out.print(heading(result))
    for title, headers, rows in parts(result, n_errors):
        out.print()
        out.print(table(*headers, title=title, rows=rows))
    assert isinstance(out.file, io.StringIO)
    return "\n".join(line.rstrip() for line in out.file.getvalue().splitlines())


def as_html(result: Evaluation) -> str:
    made = [markup.table(part.headers, part.rows, part.title or "") for part in parts(result)]
    return markup.block(markup.paragraph(heading(result)), *made)


def as_frame(result: Evaluation) -> Any:
    """A pandas DataFrame with a row for each type of span, or for each label where there are none."""
    import pandas as pd

    scores = result.by_label if result.spans is None else result.by_type
    names = ["precision", "recall", "f1", "support", "predicted", "correct"]
    rows = [[getattr(score, name) for name in names] for score in scores.values()]
    return pd.DataFrame(rows, index=pd.Index([*scores], name="label"), columns=names)


def confusion_frame(result: Evaluation) -> Any:
    """A pandas DataFrame: how often each gold label (row) was labelled as each other one (column)."""
    import pandas as pd

    labels = sorted({label for pair in result.confusion for label in pair})
    rows = [[result.confusion.get((gold, label), 0) for label in labels] for gold in labels]
    index, columns = pd.Index(labels, name="gold"), pd.Index(labels, name="predicted")
    return pd.DataFrame(rows, index=index, columns=columns)


def seqeval_report(result: Evaluation, digits: int = 2) -> str:
    """The text of seqeval's `classification_report`."""
    scores = [*result.by_type.values()]
    total = sum(score.support for score in scores)
    shares = {"macro avg": [1] * len(scores), "weighted avg": [score.support for score in scores]}
    width = max(*map(len, result.by_type), len("weighted avg"), digits) if scores else len("weighted avg")

    def row(name: str, rates: Sequence[float], support: int) -> str:
        return f"{name:>{width}s} " + "".join(f" {rate:>9.{digits}f}" for rate in rates) + f" {support:>9}\n"

    headers = ("precision", "recall", "f1-score", "support")
    text = " " * width + " " + "".join(f" {name:>9}" for name in headers) + "\n\n"
    text += "".join(row(name, _rates(score), score.support) for name, score in result.by_type.items()) + "\n"
    if result.spans is not None and scores:
        text += row("micro avg", _rates(result.spans), total)
        for name, each in shares.items():
            columns = zip(*map(_rates, scores), strict=True)
            means = [sum(map(mul, column, each)) / max(sum(each), 1) for column in columns]
            text += row(name, means, total)
    return text


def _rates(score: Score) -> tuple[float, float, float]:
    """In the order of seqeval's own arithmetic, so that the last decimal is rounded as there."""
    p, r = score.precision, score.recall
    return p, r, 2 * p * r / (p + r) if p + r else 0.0


# For tables in general -------------------------------------------------------------------------------


def table(*headers: str, title: str | None = None, rows: Sequence[Sequence[str]] = ()) -> Table:
    """A table whose first column is text and whose other columns are numbers."""
    from rich.table import Table

    made = Table(title=title, title_justify="left", title_style="bold", box=None, pad_edge=False)
    for i, header in enumerate(headers):
        made.add_column(header, justify="left" if i == 0 else "right", header_style="dim")
    for row in rows:
        made.add_row(*row)
    return made


def plural(n: int, thing: str) -> str:
    return f"{n:,} {thing}" if n == 1 else f"{n:,} {thing}s"


def percent(rate: float | None) -> str:
    return "–" if rate is None else f"{100 * rate:.2f}"
