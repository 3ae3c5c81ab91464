"""How far the probability of a chosen label can be believed, run as a child.

reliability.py MODEL FILE      tokens of FILE by the probability of their label, in ten bins, as JSON
"""

from __future__ import annotations

import json
import sys
from itertools import chain
from pathlib import Path

import numpy as np

import corate
from rows import read_rows

BINS = 10


def bins(model: Path, file: Path) -> list[dict[str, float]]:
    sentences = read_rows(file)
    found = corate.load(model).predict_with_probability([[word for word, _ in rows] for rows in sentences])
    pairs = zip(chain.from_iterable(found), chain.from_iterable(sentences), strict=True)
    probability, right = np.array([(p, label == gold) for (label, p), (_, gold) in pairs]).T
    number = np.minimum(probability * BINS, BINS - 1).astype(int)
    return [
        {
            "n": int(chosen.sum()),
            "probability": float(probability[chosen].mean()),
            "right": float(right[chosen].mean()),
        }
        if (chosen := number == b).any()
        else {"n": 0, "probability": 0.0, "right": 0.0}
        for b in range(BINS)
    ]


if __name__ == "__main__":
    print(json.dumps({"bins": bins(Path(sys.argv[1]), Path(sys.argv[2]))}))
