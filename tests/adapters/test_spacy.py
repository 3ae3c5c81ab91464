"""corate's components in spaCy's pipelines, and spaCy's documents as files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import spacy
from spacy import displacy
from spacy.tokens import Doc, DocBin, Span
from spacy.training import Example

import corate
from conftest import Cli
from corate import HMM
from corate.adapters.docbin import read_docbin, write_docbin
from corate.errors import InputError
from corate.text.formats.base import Sentence

X, Y = corate.load_sample()
WORDS = [
    ["Anna", "Smith", "lives", "in", "Paris", "."],
    ["Anna", "works", "."],
    ["In", "Paris", ","],
    ["Bob"],
]
LABELS = [["B-PER", "I-PER", "O", "O", "B-LOC", "O"], ["B-PER", "O", "O"], ["O", "B-LOC", "O"], ["B-PER"]]
CONLL = "\n".join(
    "".join(f"{w}\t{y}\n" for w, y in zip(words, labels, strict=True))
    for words, labels in zip(WORDS, LABELS, strict=True)
)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("models") / "ner.model"
    HMM().fit(WORDS, LABELS).save(path)
    return path


def pipeline(model: Path) -> Any:
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    nlp.add_pipe("corate_ner", config={"model": str(model)})
    return nlp


def found(doc: Doc) -> list[tuple[str, str]]:
    return [(ent.text, ent.label_) for ent in doc.ents]


def test_entities_with_scores(path: Path) -> None:
    nlp, text = pipeline(path), "Anna Smith lives in Paris. \n\n Anna works."
    doc = nlp(text)
    assert found(doc) == [("Anna Smith", "PER"), ("Paris", "LOC"), ("Anna", "PER")]
    sentences = [[t.text for t in sent if not t.is_space] for sent in doc.sents]
    probable = corate.load(path).predict_with_probability([s for s in sentences if s])
    assert doc.ents[0]._.corate_score == min(p for _, p in probable[0][:2])
    assert list(doc.spans["corate_ner"].attrs["scores"]) == [ent._.corate_score for ent in doc.ents]
    assert Span(doc, 2, 3, label="PER")._.corate_score is None
    again = Doc(nlp.vocab).from_bytes(doc.to_bytes())
    assert [ent._.corate_score for ent in again.ents] == [ent._.corate_score for ent in doc.ents]
    assert nlp.pipe_labels["corate_ner"] == ["B-LOC", "B-PER", "I-PER", "O"]
    assert "Anna Smith" in displacy.render(doc, style="ent", jupyter=False)
    assert not nlp("").ents
    assert not nlp(" \n ").ents


def test_batches_are_as_single_documents(path: Path) -> None:
    nlp = pipeline(path)
    texts = ["Anna lives in Paris.", "", "Bob works. In Paris, Bob lives.", "\n"] * 3
    assert [found(doc) for doc in nlp.pipe(texts, batch_size=5)] == [found(nlp(text)) for text in texts]


def test_to_disk_and_back(path: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.model"
    copy.write_bytes(path.read_bytes())
    nlp = pipeline(copy)
    nlp.to_disk(tmp_path / "pipeline")
    data = nlp.to_bytes()
    copy.unlink()  # the pipeline has its own
    text = "Anna Smith lives in Paris."
    assert found(spacy.load(tmp_path / "pipeline")(text)) == found(nlp(text)) != []
    other = pipeline(copy)
    with pytest.raises(InputError, match=r"copy\.model: no such file: give config"):
        other(text)
    assert found(other.from_bytes(data)(text)) == found(nlp(text))


def test_the_tagger() -> None:
    nlp = spacy.blank("en")
    tagger: Any = nlp.add_pipe("corate_tagger")
    tagger.model = hmm = HMM().fit(X, Y)
    doc = nlp(Doc(nlp.vocab, ["the", "dog", "barks"]))
    assert [token.tag_ for token in doc] == [token.pos_ for token in doc] == ["DET", "NOUN", "VERB"]
    ((_, probability), *_), *_ = hmm.predict_with_probability([["the", "dog", "barks"]])
    assert doc[0]._.corate_score == probability
    gold = Doc(nlp.vocab, ["the", "dog", "barks"], tags=["DET", "NOUN", "NOUN"])
    examples = [Example(Doc(nlp.vocab, ["the", "dog", "barks"]), gold)]
    assert nlp.evaluate(examples)["tag_acc"] == pytest.approx(2 / 3)


def test_further_columns_are_attributes() -> None:
    nlp = spacy.blank("en")
    ner: Any = nlp.add_pipe("corate_ner", config={"columns": ["tag_"]})
    tokens = [[("a", "X"), ("b", "Y")], [("b", "X"), ("a", "Y")]] * 3
    ner.model = corate.LinearChainCRF(contexts=["col2"], c2=0.01).fit(tokens, [["B-T", "O"]] * 6)
    assert found(nlp(Doc(nlp.vocab, ["b", "a"], tags=["X", "Y"]))) == [("b", "T")]


def test_what_cannot_be() -> None:
    nlp = spacy.blank("en")
    ner: Any = nlp.add_pipe("corate_ner")
    assert ner.model is None  # spaCy asks for the attribute, now and then
    with pytest.raises(InputError, match="it has no model"):
        nlp("Anna")
    with pytest.raises(InputError, match="take corate_tagger"):
        ner.model = HMM().fit(X[:9], Y[:9])
    with pytest.raises(InputError, match="no model of sentences"):
        ner.model = "ner.model"


# Files -----------------------------------------------------------------------------------------------


def test_documents_as_files(tmp_path: Path) -> None:
    """What spaCy itself writes is read, and it reads what is written."""
    nlp = spacy.blank("en")
    doc = Doc(nlp.vocab, ["Anna", " ", "Smith", "left"], tags=["NNP", "_SP", "NNP", "VBD"])
    doc.ents = [Span(doc, 0, 3, label="PER")]
    DocBin(docs=[doc]).to_disk(tmp_path / "theirs.spacy")
    (sentence,) = read_docbin(tmp_path / "theirs.spacy")
    assert sentence.columns == [["Anna", "Smith", "left"], ["NNP", "NNP", "VBD"]]
    assert sentence.labels == ["B-PER", "I-PER", "O"]
    (tagged,) = read_docbin(tmp_path / "theirs.spacy", "tag")
    assert tagged.labels == ["NNP", "NNP", "VBD"]
    assert (
        write_docbin([Sentence([w], y) for w, y in zip(WORDS, LABELS, strict=True)], tmp_path / "a.spacy")
        == 4
    )
    docs = list(DocBin().from_disk(tmp_path / "a.spacy").get_docs(nlp.vocab))
    assert [found(doc) for doc in docs][:2] == [[("Anna Smith", "PER"), ("Paris", "LOC")], [("Anna", "PER")]]
    write_docbin([Sentence([["a", "b"]], ["DET", "_"])], tmp_path / "tags.spacy")
    (back,) = read_docbin(tmp_path / "tags.spacy")
    assert back.labels == ["DET", "_"]


@pytest.mark.parametrize("way", [["a.spacy"], ["a.jsonl", "b.spacy"], ["a.conllu"], ["a.spacy", "b.jsonl"]])
def test_convert_there_and_back(way: list[str], tmp_path: Path, cli: Cli) -> None:
    here = tmp_path / "in.conll"
    here.write_text(CONLL)
    for name in [*way, "out.conll"]:
        assert cli("convert", "-q", str(here), str(tmp_path / name)).code == 0
        here = tmp_path / name
    assert (tmp_path / "out.conll").read_text().split("\n\n") == [*CONLL.split("\n\n")[:-1], "Bob\tB-PER", ""]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("in.conll", "out.strange"), "its name tells no format"),
        (("in.conll", "-", "--to", "spacy"), "not written to standard output"),
        (("in.conll", "none/out.jsonl"), "cannot be written"),
        (("in.conll", "."), "its name tells no format"),
        (("none.spacy", "out.conll"), "none.spacy: cannot be read"),
        (("bad.spacy", "out.conll"), "bad.spacy: no documents of spaCy"),
        (("in.conll", "out.jsonl", "--format", "jsonl"), "in.conll:1: invalid JSON"),
        (("tags.spacy", "out.jsonl", "--label", "ner"), "have no ner"),
        (("tags.spacy", "out.jsonl", "--label", "head"), "label 'head'"),
    ],
)
def test_convert_says_what_is_wrong(
    arguments: tuple[str, ...], message: str, tmp_path: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("in.conll").write_text(CONLL)
    Path("bad.spacy").write_bytes(b"\x00nothing")
    Path("out.jsonl").write_text("kept\n")
    write_docbin([Sentence([["a"]], ["DET"])], "tags.spacy")
    before = sorted(tmp_path.iterdir())
    result = cli("convert", *arguments)
    assert result.code == 2
    assert message in result.err
    assert result.err.count("\n") == 1
    assert Path("out.jsonl").read_text() == "kept\n"
    assert sorted(tmp_path.iterdir()) == before
