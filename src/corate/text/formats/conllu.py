"""CoNLL-U, the format of Universal Dependencies: ten tab-separated fields a token.

    # text = Vámonos al mar           kept, not a token
    1-2  Vámonos  _  _  …             a range (multiword token): kept, not a token
    1    Vamos    ir VERB …           ID FORM LEMMA UPOS XPOS FEATS HEAD DEPREL DEPS MISC
    2    nos      nosotros PRON …
    2.1  …                            an empty node: kept, not a token

The observed column is FORM; the label is in UPOS, in XPOS, in DEPREL (UPOS is then observed, too), or a
feature of FEATS. `deprel+head` observes HEAD as well, behind the others: for models on trees.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from corate.errors import InputError
from corate.text.formats.base import (
    Format,
    Labelling,
    Sentence,
    comment_line,
    cut_return,
    is_blank,
    paragraphs,
    shortened,
)

N_FIELDS = 10
ID, FORM, UPOS, XPOS, FEATS, HEAD, DEPREL, MISC = 0, 1, 3, 4, 5, 6, 7, 9
LABEL_FIELDS = {"upos": UPOS, "xpos": XPOS, "deprel": DEPREL}
ON_TREE = "+head"
EMPTY = "_"
NO_FEATURE = "-"  # label of the tokens without the feature
NOT_A_TOKEN = re.compile(r"[1-9][0-9]*-[1-9][0-9]*|[0-9]+\.[1-9][0-9]*")


class Conllu(Format):
    """`label` is `upos` (default), `xpos`, `deprel`, or `feats:NAME`, e.g. `feats:Number`; `deprel+head`."""

    name = "conllu"
    extensions = (".conllu",)

    def __init__(self, label: str | None = None, *, labelled: bool = True) -> None:
        super().__init__(label, labelled=labelled)
        self._on_tree = bool(label) and str(label).endswith(ON_TREE)
        label = label.removesuffix(ON_TREE) if label else label
        kind, _, self._feature = (label or "upos").partition(":")
        self._field = FEATS if self._feature else LABEL_FIELDS.get(kind, FEATS)
        if (self._field == FEATS) != (re.fullmatch(r"feats:[^=|\t\r\n]+", label or "") is not None):
            raise InputError(f"label {label!r} is no field of CoNLL-U: give upos, xpos, deprel or feats:NAME")
        # What is looked at beside the word.
        self._observed = [UPOS] * (self._field == DEPREL) + [HEAD] * self._on_tree

    def read(self, lines: Iterable[str], source: str, line: int = 1) -> Iterator[Sentence]:
        for first, group in paragraphs(lines):
            yield self._sentence(first + line - 1, group, source)

    def _sentence(self, first: int, lines: list[str], source: str) -> Sentence:
        columns: list[list[str]] = [[] for _ in (FORM, *self._observed)]
        words = columns[0]
        labels: list[str] = []
        places: list[int] = []
        for place, line in enumerate(lines):
            if line.startswith("#") or is_blank(line):
                continue
            where = source, first + place
            fields = _fields(line, where)
            if NOT_A_TOKEN.fullmatch(fields[ID]):
                continue
            _check_token(fields, len(words) + 1, where)
            for field, column in zip((FORM, *self._observed), columns, strict=True):
                column.append(fields[field])
            places.append(place)
            if self.labelled:
                labels.append(self._label(fields, where))
        return Sentence(
            columns if words else [], labels if self.labelled else None, lines, places, first, self.name
        )

    def _label(self, fields: list[str], where: tuple[str, int]) -> str:
        if self._feature:
            return _features(fields[FEATS], where).get(self._feature, NO_FEATURE)
        label = fields[self._field]
        if label in ("", EMPTY):
            name = {field: name.upper() for name, field in LABEL_FIELDS.items()}[self._field]
            raise InputError(f"no label: {name} of {shortened(fields[FORM])} is {label!r}", *where)
        return label

    def annotate(self, sentence: Sentence, added: Labelling) -> list[str]:
        lines = list(sentence.lines)
        rows = [cut_return(lines[place])[0].split("\t") for place in sentence.places]
        for place, row in zip(sentence.places, self._filled(rows, added), strict=True):
            lines[place] = row + cut_return(lines[place])[1]
        if added.remark is not None and sentence.places:
            # Not at places[0]: a comment may not stand between a range and its first token.
            top = next(i for i, line in enumerate(lines) if not (line.startswith("#") or is_blank(line)))
            lines.insert(top, comment_line(added.remark) + cut_return(lines[top])[1])
        return lines

    def compose(self, sentence: Sentence, added: Labelling | None) -> list[str]:
        self.check_writable("word", sentence.words, "\t\r\n")
        rows = [[str(i), word, *[EMPTY] * (N_FIELDS - 2)] for i, word in enumerate(sentence.words, 1)]
        if added is None and sentence.labels is not None:
            added = Labelling(sentence.labels)
        filled = ["\t".join(row) for row in rows] if added is None else self._filled(rows, added)
        comments = [] if added is None or added.remark is None else [comment_line(added.remark)]
        return [*comments, *filled, ""]

    def _filled(self, rows: list[list[str]], added: Labelling) -> list[str]:
        self.check_writable("label", added.labels, "|\t\r\n" if self._feature else "\t\r\n")
        for row, label in zip(rows, added.labels, strict=True):
            row[self._field] = _with_feature(row[FEATS], self._feature, label) if self._feature else label
        for row, probability in zip(rows, added.probabilities or [], strict=False):
            row[MISC] = _with(row[MISC], "Prob", f"{probability:.4f}")
        for k, row in enumerate(rows if added.marginals is not None else []):
            row[MISC] = _with(row[MISC], "Probs", added.chances(k, ":", ","))
        return ["\t".join(row) for row in rows]


def _fields(line: str, where: tuple[str, int]) -> list[str]:
    text, _ = cut_return(line)
    fields = text.split("\t")
    if len(fields) != N_FIELDS:
        raise InputError(f"{len(fields)} tab-separated fields instead of 10: {shortened(text)}", *where)
    return fields


def _check_token(fields: list[str], expected: int, where: tuple[str, int]) -> None:
    if fields[ID] != str(expected):
        if re.fullmatch("[0-9]+", fields[ID]):
            raise InputError(f"ID {shortened(fields[ID])} where {expected} should follow", *where)
        raise InputError(
            f"bad ID {shortened(fields[ID])}: expected {expected}, a range or an empty node", *where
        )
    if not fields[FORM]:
        raise InputError(f"empty FORM in the token with ID {expected}", *where)


def _features(feats: str, where: tuple[str, int] | tuple[()] = ()) -> dict[str, str]:
    features: dict[str, str] = {}
    for feature in [] if feats == EMPTY else feats.split("|"):
        name, _, value = feature.partition("=")
        if not (name and value):
            raise InputError(f"bad feature {shortened(feature)}: expected Name=Value", *where)
        features[name] = value
    return features


def _with_feature(feats: str, name: str, label: str) -> str:
    features = {**_features(feats), name: label}
    if label == NO_FEATURE:
        del features[name]
    return "|".join(f"{key}={features[key]}" for key in sorted(features, key=str.lower)) or EMPTY


def _with(misc: str, name: str, value: str) -> str:
    kept = [item for item in misc.split("|") if item != EMPTY and not item.startswith(f"{name}=")]
    return "|".join([*kept, f"{name}={value}"])
