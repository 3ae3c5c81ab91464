"""The corrections file and the models that follow it: nothing that was acknowledged is ever lost."""

from __future__ import annotations

import resource
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from corate import CorateError, Corpus, InputError, Tagger, load, load_sample, read_corpus
from corate.web.corrections import Corrections, CorrectionsError, NoSpaceError, Record, beside
from corate.web.served import Served

X, Y = load_sample("test")


def record(k: int, **about: Any) -> Record:
    return Record("learn", tuple((word,) for word in X[k]), tuple(Y[k]), about=about)


def sentences(corpus: Corpus) -> list[tuple[list[str], list[str]]]:
    assert corpus.labels is not None
    words, labels = corpus.words.strings(), corpus.labels.strings()
    return [(words[a:b], labels[a:b]) for a, b in corpus.spans()]


def test_the_file_is_plain_conll_of_what_stands(own_model: Path) -> None:
    """Undone sentences are no rows any more; learning the rows is what the model has learned."""
    base = load(own_model)
    served = Served("pos", own_model, learns=True)
    for k in range(4):
        served.learn([record(k)])
    served.undo(2)
    found = read_corpus(beside(own_model), "conll")
    assert sentences(found) == [(X[k], Y[k]) for k in (0, 2, 3)]
    assert isinstance(served.model, Tagger)
    assert served.model.counts_ == base.partial_fit(found).counts_
    served.save()
    assert load(own_model).counts_ == base.counts_


def test_undo_gives_the_same_bytes(own_model: Path) -> None:
    before = own_model.read_bytes()
    served = Served("pos", own_model, learns=True)
    served.learn([record(0), record(1)])
    replaced = Record("learn", tuple((w,) for w in X[0]), ("X",) * len(X[0]), instead=tuple(Y[0]))
    served.learn([replaced])
    served.save()
    assert own_model.read_bytes() != before
    for number in (3, 1, 2):
        served.undo(number)
    served.save()
    assert own_model.read_bytes() == before
    with pytest.raises(InputError, match="taken back already"):
        served.undo(1)


def test_cut_anywhere(own_model: Path) -> None:
    """Whatever is left of the file when its writer is killed: all whole records are learned, no others."""
    served = Served("pos", own_model, learns=True)
    ends = [0]
    for k in range(3):
        served.learn([record(k)])
        ends.append(beside(own_model).stat().st_size)
    data = beside(own_model).read_bytes()
    want = [load(own_model).counts_]
    want += [load(own_model).partial_fit(X[:k], Y[:k]).counts_ for k in range(1, 4)]
    for cut in {*range(0, len(data) + 1, 7), *ends, *(end - 1 for end in ends[1:])}:
        beside(own_model).write_bytes(data[:cut])
        found = Served("pos", own_model, learns=True)
        assert isinstance(found.model, Tagger)
        whole = max(k for k, end in enumerate(ends) if end <= cut)
        assert found.model.counts_ == want[whole], cut
    beside(own_model).write_bytes(data[: ends[2] + 30])
    again = Served("pos", own_model, learns=True)
    again.learn([record(2)])
    assert isinstance(again.model, Tagger)
    assert again.model.counts_ == want[3]  # the new record took the place of the torn one


def test_two_servers_and_a_command(own_model: Path, tmp_path: Path, cli: Callable[..., Any]) -> None:
    """They change one model in turn, saving or not: in the end all of it is in each of them and on disk."""
    base = load(own_model)
    one, two = Served("pos", own_model, learns=True), Served("pos", own_model, learns=True)
    one.learn([record(0)])
    two.learn([record(1)])
    (tmp_path / "more.conll").write_text(
        "".join(f"{w}\t{y}\n" for w, y in zip(X[2], Y[2], strict=True)) + "\n"
    )
    assert cli("update", own_model, tmp_path / "more.conll").code == 0
    one.learn([record(3)])
    one.save()
    two.undo(1)
    two.save()
    want = base.partial_fit(X[1:4], Y[1:4]).counts_
    assert load(own_model).counts_ == want
    for served in (one, two, Served("pos", own_model)):
        model = served.current()
        assert isinstance(model, Tagger)
        assert model.counts_ == want
        assert served.unsaved == 0


def test_a_full_disk(own_model: Path) -> None:
    """Nothing is written, nothing is learned, and afterwards all goes on."""
    served = Served("pos", own_model, learns=True)
    served.learn([record(0)])
    before, written, model = served.corrections.last, beside(own_model).read_bytes(), served.model
    old = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(written) + 20, old[1]))
    try:
        with pytest.raises(NoSpaceError, match=r"corrections\.conll: cannot be written: File too large"):
            served.learn([record(1)])
        with pytest.raises(NoSpaceError):
            served.undo(1)
        served.save()
        assert served.trouble is not None
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, old)
        signal.signal(signal.SIGXFSZ, ignored)
    assert (served.corrections.last, beside(own_model).read_bytes()) == (before, written)
    assert served.model is model
    served.learn([record(1)])
    served.save()
    assert served.unsaved == 0
    assert str(served.trouble) == "None"


@pytest.mark.parametrize(
    "content",
    [
        "The\tDET\n\n",
        '# {"op": "learn"}\n\n',
        "# {}\n\n",
        '# {"op": "forget", "id": 1, "of": 9}\n\n',
        "#\n\n\n",
    ],
)
def test_a_file_of_somebody_else(own_model: Path, content: str) -> None:
    beside(own_model).write_text(content)
    with pytest.raises(CorrectionsError, match=r"pos\.model\.corrections\.conll: .*move it away"):
        Served("pos", own_model, learns=True)
    assert beside(own_model).read_text() == content


def test_a_model_that_is_replaced(own_model: Path) -> None:
    """Another process trains anew: it is served. A damaged file is not, and is left as it is."""
    served = Served("pos", own_model, learns=True)
    Tagger("fixed").fit(X[:50], Y[:50]).save(own_model)
    model = served.current()
    assert isinstance(model, Tagger)
    assert model.counts_.n_sentences == 50
    served.undo(served.learn([record(60)]).records[0].id)
    Tagger("fixed").fit(X[:40], Y[:40]).save(own_model)  # which has never learned what was taken back
    model = served.current()
    assert isinstance(model, Tagger)
    assert (served.trouble, model.counts_.n_sentences) == (None, 40)
    own_model.write_bytes(b"no model")
    assert served.current() is model
    assert "not a corate model" in (served.trouble or "")
    served.learn([record(60)])
    served.save()
    assert own_model.read_bytes() == b"no model"
    assert isinstance(CorrectionsError("…"), CorateError)
    assert Corrections(beside(own_model)).last == 0  # which has read nothing yet
