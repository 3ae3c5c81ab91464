"""spaCy's binary documents (`.spacy`, DocBin) as sentences, and sentences as documents.

Span labels are entities there, other labels tags. A document that is read falls into its sentences, if it
has them; blanks that are tokens of their own are left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from corate.errors import InputError
from corate.storage.replacing import replacing
from corate.text.corpus import UNLABELLED
from corate.text.formats.base import Sentence
from corate.text.spans import NO_SPAN, detect_scheme, spans

SUFFIX = ".spacy"
KINDS = ("ner", "tag", "pos")
NEEDS_SPACY = "a .spacy file needs spaCy: pip install 'corate[spacy]'"


def read_docbin(path: str | Path, label: str | None = None) -> Iterator[Sentence]:
    """Sentences with their labels: "ner" (entities, as B-X, I-X, O), "tag" or "pos"; None: what there is.

    With entities, tags are a further column.
    """
    if label not in (None, *KINDS):
        raise InputError(f"label {label!r}: choose from {', '.join(KINDS)}", str(path))
    docs = _docs(path)
    has = {
        kind: any(doc.has_annotation(name) for doc in docs)
        for kind, name in zip(KINDS, ("ENT_IOB", "TAG", "POS"), strict=True)
    }
    kind = label or next((kind for kind in KINDS if has[kind]), None)
    if kind is None or not has[kind]:
        raise InputError(
            f"the documents have no {kind or 'entities, tags or pos'}: nothing to label by", str(path)
        )
    for doc in docs:
        for part in doc.sents if doc.has_annotation("SENT_START") else [doc]:
            tokens = [token for token in part if not token.is_space]
            if not tokens:
                continue
            columns = [[token.text for token in tokens]]
            if kind == "ner" and has["tag"]:
                columns.append([token.tag_ or UNLABELLED for token in tokens])
            yield Sentence(columns, [_label(token, kind) for token in tokens])


def write_docbin(sentences: Iterable[Sentence], path: str | Path, language: str = "xx") -> int:
    """A document for every sentence; how many there are. The file is replaced when the new one is whole."""
    spacy = _spacy()
    from spacy.tokens import Doc, DocBin, Span

    vocab, docs = spacy.blank(language).vocab, DocBin(store_user_data=False)
    kept = [sentence for sentence in sentences if len(sentence)]
    are_spans = detect_scheme([s.labels for s in kept if s.labels is not None]) is not None
    for sentence in kept:
        doc = Doc(vocab, sentence.words, sent_starts=[k == 0 for k in range(len(sentence))])
        if sentence.labels is not None and are_spans:
            doc.ents = [Span(doc, span.start, span.end, label=span.type) for span in spans(sentence.labels)]
        elif sentence.labels is not None:
            for token, label in zip(doc, sentence.labels, strict=True):
                if label != UNLABELLED:
                    token.tag_ = label
        docs.add(doc)
    with replacing(Path(path)) as file:
        file.write(docs.to_bytes())
    return len(kept)


def _label(token: Any, kind: str) -> str:
    if kind != "ner":
        return str(token.tag_ if kind == "tag" else token.pos_) or UNLABELLED
    if not token.ent_iob_:
        return UNLABELLED
    return NO_SPAN if token.ent_iob_ == "O" else f"{token.ent_iob_}-{token.ent_type_}"


def _docs(path: str | Path) -> list[Any]:
    spacy = _spacy()
    from spacy.tokens import DocBin

    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", str(path)) from error
    try:
        return list(DocBin().from_bytes(data).get_docs(spacy.blank("xx").vocab))
    except Exception as error:  # spaCy says in many ways that bytes are no documents
        raise InputError(f"no documents of spaCy ({type(error).__name__})", str(path)) from error


def _spacy() -> Any:
    try:
        import spacy
    except ImportError as error:
        raise InputError(NEEDS_SPACY) from error
    return spacy
