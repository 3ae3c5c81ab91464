"""A model as notebooks show it."""

from __future__ import annotations

from collections.abc import Sequence

from corate import markup

MOST_NAMES = 24  # of labels or contexts


class Shown:
    """Part of `Model`."""

    def _repr_html_(self) -> str:
        rows = [("model", repr(self))]
        labels, contexts = getattr(self, "classes_", None), getattr(self, "context_names", None)
        if labels is None:
            rows.append(("state", "has not been trained"))
        else:
            rows.append((f"{len(labels):,} labels", _some(labels)))
            if contexts is not None:
                rows.append((f"{len(contexts()):,} contexts", _some(contexts())))
        return markup.block(markup.table(("", ""), rows))


def _some(names: Sequence[str]) -> str:
    more = len(names) - MOST_NAMES
    return ", ".join(names[:MOST_NAMES]) + (f" and {more:,} more" if more > 0 else "")
