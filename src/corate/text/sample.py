"""The bundled sample corpus: English sentences with parts of speech and entities (see data/README.md)."""

from __future__ import annotations

from pathlib import Path

from corate.errors import InputError
from corate.text.formats import read

FOLDER = Path(__file__).parent / "data"
PARTS = ("train", "test")
LABEL_COLUMNS = {"upos": "2", "entity": "3"}

Sentences = list[list[str]]


def load_sample(part: str = "train", label: str = "upos") -> tuple[Sentences, Sentences]:
    """Token lists and label lists of the bundled sample: 380 English sentences to train on, 299 to test.

    Parameters
    ----------
    part : {"train", "test"}
        Which of the two.
    label : {"upos", "entity"}
        Parts of speech, or entities in IOB2.

    Examples
    --------
    >>> X, y = load_sample()
    >>> len(X)
    380
    """
    if part not in PARTS:
        raise InputError(f"the sample has no part {part!r}: choose from {', '.join(PARTS)}")
    if label not in LABEL_COLUMNS:
        raise InputError(f"the sample has no labels {label!r}: choose from {', '.join(LABEL_COLUMNS)}")
    sentences = [s for s in read(FOLDER / f"{part}.conll", "conll", label=LABEL_COLUMNS[label]) if s.labels]
    return [s.words for s in sentences], [s.labels or [] for s in sentences]
