"""Entities in a spaCy pipeline: spaCy's own component, trained as its documentation does, and corate's.

Both are trained on the same few documents and put `doc.ents` on the same texts; then the pipeline with corate
goes to disk and back, and displaCy shows what it found.

    pip install 'corate[spacy]'
    python examples/spacy_entities.py
"""

from __future__ import annotations

import random
import tempfile
from typing import Any

import spacy
from spacy import displacy
from spacy.language import Language
from spacy.training import Example
from thinc.api import fix_random_seed

import corate

PEOPLE, PLACES, FIRMS = ("Anna", "Peter", "Maria", "Tom"), ("Paris", "London", "Rome"), ("Acme", "Globex")
PATTERNS = ("{0} lives in {1}", "{0} works for {2}", "{2} has an office in {1}", "In {1} , {0} met {0}")
TEXTS = ["Maria works for Acme", "Tom lives in London", "Globex has an office in Rome", "Nobody lives here"]


def documents() -> list[tuple[list[str], list[str]]]:
    """Words and labels, every pattern with every name."""
    kinds = {**dict.fromkeys(PEOPLE, "PER"), **dict.fromkeys(PLACES, "LOC"), **dict.fromkeys(FIRMS, "ORG")}
    every = [p.format(a, b, c).split() for p in PATTERNS for a in PEOPLE for b in PLACES for c in FIRMS]
    every.append(["Nobody", "works", "here"])
    return [(words, [f"B-{kinds[w]}" if w in kinds else "O" for w in words]) for words in every]


def examples_of(nlp: Language, data: list[tuple[list[str], list[str]]]) -> list[Example]:
    """All names are single words here, which spaCy labels U-."""
    return [
        Example.from_dict(
            nlp.make_doc(" ".join(words)), {"entities": [y.replace("B-", "U-") for y in labels]}
        )
        for words, labels in data
    ]


def trained_by_spacy(data: list[tuple[list[str], list[str]]]) -> Language:
    nlp = spacy.blank("en")
    nlp.add_pipe("ner")
    examples = examples_of(nlp, data)
    nlp.initialize(lambda: examples)
    for _ in range(3):
        random.shuffle(examples)
        for begin in range(0, len(examples), 8):
            nlp.update(examples[begin : begin + 8])
    return nlp


def trained_by_corate(data: list[tuple[list[str], list[str]]]) -> Language:
    nlp = spacy.blank("en")
    ner: Any = nlp.add_pipe("corate_ner")
    ner.model = corate.Tagger(weights="fixed").fit([words for words, _ in data], [y for _, y in data])
    return nlp


def entities(nlp: Language) -> list[list[tuple[str, str]]]:
    return [[(ent.text, ent.label_) for ent in doc.ents] for doc in nlp.pipe(TEXTS)]


def main() -> None:
    random.seed(0)
    fix_random_seed(0)
    data = documents()
    theirs, ours = entities(trained_by_spacy(data)), entities(nlp := trained_by_corate(data))
    same = 0
    for text, a, b in zip(TEXTS, theirs, ours, strict=True):
        print(f"{text}\n  spaCy  {a}\n  corate {b}")
        same += a == b
    assert same >= 3, "both find the names that they have learned"
    assert ours[0] == [("Maria", "PER"), ("Acme", "ORG")]
    assert ours[3] == []

    with tempfile.TemporaryDirectory() as folder:
        nlp.to_disk(folder)
        again = spacy.load(folder)
    assert entities(again) == ours
    doc = again(TEXTS[0])
    print("scores", [(ent.text, round(ent._.corate_score, 3)) for ent in doc.ents])
    html = displacy.render(doc, style="ent", jupyter=False)
    assert "Maria" in html
    assert "PER" in html
    score = again.evaluate(examples_of(again, data))["ents_f"]
    print(f"nlp.evaluate: F1 {score:.3f} on the training documents")


if __name__ == "__main__":
    main()
