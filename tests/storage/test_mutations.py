"""Model files that are wrong in ways that no checksum shows: are they refused, or sound all the same?

Loading such a file must give one clear error, or a model that works: it labels, its marginals add up to one,
it explains, it saves to a file that loads as the same bytes, and learning a batch and forgetting it leaves it
as it was. Never a crash, a hang, a warning, a traceback or an allocation beyond bounds.
"""

from __future__ import annotations

import math
import os
import random
import resource
import signal
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import mutations
from corate import (
    HMM,
    MEMM,
    ConvergenceWarning,
    CorateError,
    EmpiricalCRF,
    LinearChainCRF,
    MaxEntClassifier,
    ModelFileError,
    PiecewiseCRF,
    RateNetwork,
    SeparateCRF,
    Tagger,
    TreeTagger,
    load,
    merge,
)
from corate.counts.invariants import check
from corate.models.counted import Countable, CountedModel
from corate.models.model import Model
from drafts import Draft
from writers import FORKS, Child

SECONDS = 60  # one mutation takes milliseconds; one that takes this long hangs
MOST_BYTES = 1 << 30  # more memory than the interpreter has at the start
SHORT, LONG, CHUNK = 400, 100_000, 10_000  # mutations; a process of its own for each chunk
NOT_CLEAR = (KeyError, AttributeError, IndexError, OverflowError, AssertionError)  # Python's words, not ours

LABELLED = """
The/D dog/N barks/V ./P
A/D cat/N sleeps/V
The/D old/A dog/N sleeps/V ./P
Anna/N saw/V the/D cat/N ./P
It/N rains/V
Well-being/N matters/V ./_
1984/A ended/V
The/D dog/N saw/V Anna/N
Stop/V
Anna/N barks/V ./P
The/D cat/N and/_ the/D dog/N
It/N sleeps/V ./P
"""
Sentences = list[Any]
X = [[pair.split("/")[0] for pair in line.split()] for line in LABELLED.split("\n")[1:-1]]
y = [[pair.split("/")[1] for pair in line.split()] for line in LABELLED.split("\n")[1:-1]]
UNSEEN = [["The", "dog", "miaows", "."], ["Zoë"], [], ["cat", "It", "1984", "saw", "Käse"]]
BATCH_X, BATCH_Y = [["The", "dog", "talks"], ["A", "cat"]], [["D", "N", "V"], ["D", "X"]]
RING = [("a", "b"), ("b", "c"), ("c", "d"), ("d", "a")]
RINGS = ("0010", "1100", "1101", "0111", "1001", "0000", "1111")
RING_ROWS = [dict(zip("abcd", row, strict=True)) for row in RINGS]
ROWS: list[dict[str, Any]] = [
    {"sky": "rain", "road": "wet", "month": "A"},
    {"sky": "sun", "road": "dry", "month": "A"},
    {"sky": "sun", "road": "dry", "month": "J"},
    {"sky": "rain", "road": "wet", "month": "J"},
    {"sky": "snow", "road": "ice", "month": "A"},
    {"sky": "sun", "road": "wet", "month": "J"},
]
ROWS.append({"sky": "sun", "road": None, "month": "J"})
FEW_VIEWS = ("word", "suffix2", "initial")
FEW_CONTEXTS = ("shape", "tail2", "word", "word-1", "word+1", "word-1,word", "pair:tail2-1")


def with_features(sentences: Sentences) -> Sentences:
    """Tokens as dicts, some of which lack a key."""
    return [
        [{"w": w, "end": w[-2:], **({"upper": True} if w.istitle() else {})} for w in tokens]
        for tokens in sentences
    ]


def on_trees(sentences: Sentences) -> Sentences:
    """Tokens that hang on the first, or, if they are long, on the one before them."""
    return [[(w, str(k if len(w) > 3 else min(k, 1))) for k, w in enumerate(tokens)] for tokens in sentences]


@dataclass(frozen=True)
class Subject:
    """A model to be mutated, and the sentences that it is tried on."""

    data: bytes
    draft: Draft
    unseen: Sentences
    batch: Sentences


@pytest.fixture(scope="module", autouse=True)
def small_blocks() -> Iterator[None]:
    """So that the files have many, and tables fences."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("corate.storage.archive.LEAST_BLOCK", 256)
        patch.setattr("corate.counts.unread.STEP", 4)
        yield


@pytest.fixture(scope="module")
def subjects(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Subject]:
    models: dict[str, Model] = {
        "Tagger, fixed": Tagger(weights="fixed").fit(X, y),
        "Tagger, fitted": Tagger(contexts=FEW_CONTEXTS).fit(X, y),
        "Tagger, features": Tagger(weights="fixed").fit(with_features(X), y),
        "Tagger, pruned": Tagger(weights="fixed", contexts=FEW_CONTEXTS).fit(X, y).prune(2),
        "EmpiricalCRF": EmpiricalCRF().fit(X, y),
        "EmpiricalCRF, words": EmpiricalCRF(pair="word", mu_oov=None, ledger=False).fit(X, y),
        "TreeTagger": TreeTagger(weights="fixed").fit(on_trees(X), y),
        "RateNetwork": RateNetwork().fit(ROWS),
        "RateNetwork, loop": RateNetwork(RING, loops="ipf", alpha=0.5, ledger=False).fit(RING_ROWS),
        "EP2": EmpiricalCRF("maxent", "word", FEW_VIEWS, c2=1.0).fit(X, y),
        "HMM": HMM("witten-bell").fit(X, y),
        "LinearChainCRF": LinearChainCRF(contexts=("word", "word-1,shape", "pair:shape")).fit(X, y),
        "LinearChainCRF, features": LinearChainCRF(all_transitions=True).fit(with_features(X), y),
        "MaxEntClassifier": MaxEntClassifier(contexts=FEW_VIEWS).fit(X, y),
        "MEMM": MEMM(contexts=FEW_VIEWS).fit(X, y),
        "MEMM, shared": MEMM("shared", contexts=FEW_VIEWS).fit(X, y),
        "PiecewiseCRF": PiecewiseCRF(contexts=FEW_VIEWS).fit(X, y),
        "SeparateCRF": SeparateCRF(contexts=("bias", *FEW_VIEWS)).fit(X, y),
    }
    path, made = tmp_path_factory.mktemp("subjects") / "subject", {}
    for name, model in models.items():
        model.save(path)
        if isinstance(model, RateNetwork):
            data, rows = path.read_bytes(), ROWS if model.columns_ == sorted(ROWS[0]) else RING_ROWS
            made[name] = Subject(data, Draft.of(data), rows[2:4], rows[:2])
            continue
        given = with_features if "features" in name else on_trees if "Tree" in name else list
        made[name] = Subject(path.read_bytes(), Draft.of(path.read_bytes()), given(UNSEEN), given(BATCH_X))
    return made


# Trying ----------------------------------------------------------------------------------------------


def try_out(path: Path, subject: Subject) -> bool:
    """Whether the file was loaded; one that was must work."""
    try:
        model = load(path)
    except ModelFileError as error:
        check_message(error)
        clearly(lambda: use(load(path, lazily=True), subject))
        return False
    if isinstance(model, Tagger):
        in_parts = load(path, lazily=True)
        for sentence in filter(None, subject.unseen):
            assert in_parts.predict([sentence]) == model.predict([sentence]), "read in parts, other labels"
        assert in_parts.counts_ == model.counts_, "read in parts, other counts"
    same = path.with_name("same")
    model.save(same)
    saved = same.read_bytes()
    use(model, subject)
    load(same).save(same)
    assert same.read_bytes() == saved, "saved, loaded and saved again it is another file"
    if not isinstance(model, Countable):
        return True
    check(model.counts_, model.pruned_, model._on_trees)
    assert (model.ledger_ is None) != model._fitted_params["ledger"]
    clearly(lambda: check_merged(model))
    clearly(lambda: change(model, subject))
    return True


def check_message(error: Exception) -> None:
    text = str(error)
    assert "\n" not in text, text
    assert text.isprintable(), text
    assert len(text) <= 1000, text
    assert not isinstance(error.__cause__, NOT_CLEAR), (
        f"does not say what is wrong: {text} ({error.__cause__!r})"
    )


def clearly(action: Callable[[], None]) -> None:
    """It works, or says in a line why not."""
    try:
        action()
    except CorateError as error:
        check_message(error)


def use(model: Any, subject: Subject) -> None:
    if isinstance(model, RateNetwork):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # tables that do not fit one another say so
            clearly(lambda: use_network(model, subject))
        return
    try:
        labels = model.predict(subject.unseen)
        marginals = model.predict_marginals(subject.unseen)
        model.predict_nbest(subject.unseen, 2)
    except CorateError as error:
        check_message(error)
        return
    for sentence, found, tokens in zip(subject.unseen, labels, marginals, strict=True):
        assert len(sentence) == len(found)
        assert set(found) <= set(model.classes_), f"{sentence} is labelled {found}"
        for token in tokens:
            assert math.isclose(math.fsum(token.values()), 1.0, abs_tol=1e-6), token
    clearly(lambda: model.explain(subject.unseen[0]))


def use_network(model: RateNetwork, subject: Subject) -> None:
    model.impute(subject.unseen)
    model.explain(subject.unseen[0])
    for values in model.marginals().values():
        assert math.isclose(math.fsum(values.values()), 1.0, abs_tol=1e-6), values


def change(model: Countable, subject: Subject) -> None:
    """Learn, forget: what is left is what was there."""
    before, ledger = model.counts_, model.ledger_
    if isinstance(model, RateNetwork):
        model.partial_fit(subject.batch).forget(subject.batch)
        assert (model.counts_, model.ledger_) == (before, ledger), "other counts are left"
        return
    assert isinstance(model, CountedModel)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # of EP2's weights, which are fitted anew
        model.partial_fit(subject.batch, BATCH_Y)
        model.predict(subject.unseen)
    if not model.pruned_:
        model.forget(subject.batch, BATCH_Y)
        assert (model.counts_, model.ledger_) == (before, ledger), (
            "learning and forgetting leave other counts"
        )
        model.forget(subject.batch[:1], BATCH_Y[:1])
        raise AssertionError("what was never learned can be forgotten")


def check_merged(model: Countable) -> None:
    both = merge(model, model)
    check(both.counts_, both.pruned_, both._on_trees)


def one(seed: int, subjects: dict[str, Subject], path: Path) -> tuple[str, str]:
    """The kind of mutation, and what came of it: refused, loaded, unchanged, or what is wrong."""
    rng = random.Random(seed)
    subject = subjects[rng.choice(list(subjects))]
    kind, data = mutations.mutated(rng, subject.data, subject.draft)
    path.write_bytes(data)
    if data == subject.data:
        return kind, "unchanged"
    try:
        return kind, "loaded" if try_out(path, subject) else "refused"
    except (Exception, SystemExit) as error:  # whatever is raised is what is looked for
        return kind, f"violation: seed {seed}, {kind}: {error!r:.200}"


# Tests -----------------------------------------------------------------------------------------------


def violations(outcomes: list[tuple[str, str]]) -> list[str]:
    return [outcome for _, outcome in outcomes if outcome.startswith("violation")]


def test_mutations_with_checksums_repaired(subjects: dict[str, Subject], scratch: Path) -> None:
    found = [one(seed, subjects, scratch / "m.model") for seed in range(SHORT)]
    assert violations(found) == []
    assert {kind for kind, _ in found} == {*mutations.KINDS}
    outcomes = [outcome for _, outcome in found]
    assert outcomes.count("refused") > outcomes.count("loaded") > 50


@pytest.mark.long
@FORKS
@pytest.mark.parametrize("first", range(0, LONG, CHUNK), ids="from-{}".format)
def test_many_mutations(subjects: dict[str, Subject], scratch: Path, first: int) -> None:
    """In a process of its own, so that a crash or a hang is a finding, with the seed at which it happened."""
    begun = scratch / "begun"

    def work() -> int:
        warnings.simplefilter("error")
        if "libasan" not in os.environ.get("LD_PRELOAD", ""):  # which maps terabytes
            used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
            resource.setrlimit(resource.RLIMIT_AS, (used + MOST_BYTES, used + MOST_BYTES))
        found = []
        for seed in range(first, first + CHUNK):
            signal.alarm(SECONDS)  # which ends the process, in a kernel, too
            begun.write_text(str(seed))
            found.append(one(seed, subjects, scratch / "m.model"))
        signal.alarm(0)
        (scratch / "outcomes").write_text("\n".join(f"{kind}: {outcome}" for kind, outcome in found))
        os.write(2, "\n".join(violations(found)).encode())
        return 0

    child = Child.of(work)
    child.start()
    done = child.wait(seconds=10 * CHUNK)
    assert (done.code, done.err) == (0, ""), f"seed {begun.read_text()}"
    print(Counter((scratch / "outcomes").read_text().splitlines()))


def test_the_mutations_find_a_model_that_is_not_sound(
    subjects: dict[str, Subject], scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the validation there are violations."""
    monkeypatch.setattr("corate.models.counted_file.check", lambda counts, pruned=0, trees=False: None)
    assert violations([one(seed, subjects, scratch / "m.model") for seed in range(200)])


# Counts that cannot be those of sentences -----------------------------------------------------------

TABLE = {name: f"counts/{name}.n.npy" for name in ("y", "y.y", "y.y.y", "^y", "y$", "word.y", "tail2-1.y.y")}


def moved(table: str, step: int = 1) -> Callable[[Draft], None]:
    """One count goes from one row to another, so that the sum of the table stays."""

    def change(draft: Draft) -> None:
        n = draft.array(TABLE[table])
        n[n.argmax()] -= step
        n[n.argmin()] += step
        draft.put(TABLE[table], n)

    return change


def more(table: str) -> Callable[[Draft], None]:
    def change(draft: Draft) -> None:
        n = draft.array(TABLE[table])
        n[n.argmin()] += 1
        draft.put(TABLE[table], n)

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (moved("word.y"), "'word.y' does not add up to the counts of the labels"),
        (moved("y"), "does not add up to the counts of the labels"),
        (moved("tail2-1.y.y"), "'tail2-1.y.y' does not add up"),
        (moved("y.y.y"), "'y.y.y' does not add up"),
        (more("y.y.y"), "'y.y.y' does not add up"),
        (more("^y"), "more pairs of labels, first or last ones than there are labels"),
        (more("y$"), "more pairs of labels, first or last ones than there are labels"),
        (lambda draft: draft.header.update(n_sentences=True), "True sentences"),
        (lambda draft: draft.header["params"].update(n_jobs=7), "'n_jobs' belongs to no such model"),
        (lambda draft: draft.header["params"].update(ledger=1), "ledger=1"),
        (
            lambda draft: draft.put("learned/weights.npy", draft.array("learned/weights.npy") * 1e9),
            "a weight",
        ),
        (lambda draft: draft.members.update({"x.json": b"[]"}), "the vocabulary 'x'"),
        (lambda draft: draft.members.update({"notes.txt": b""}), "'notes.txt' belongs to no model"),
        (lambda draft: draft.members.pop("counts/y.n.npy"), "'counts/y.n' is missing"),
        (lambda draft: draft.members.pop("ledger.npy"), "'ledger' is missing"),
    ],
)
def test_counts_of_no_sentences(tmp_path: Path, change: Callable[[Draft], object], message: str) -> None:
    path = tmp_path / "m.model"
    labelled = [["P" if label == "_" else label for label in labels] for labels in y]
    Tagger(weights="fixed", contexts=FEW_CONTEXTS).fit(X, labelled).save(path)
    draft = Draft.of(path.read_bytes())
    change(draft)
    path.write_bytes(draft.data())
    with pytest.raises(ModelFileError) as caught:
        load(path)
    assert message in str(caught.value)


def test_pairs_of_words_agree_with_the_words(tmp_path: Path) -> None:
    """φ is divided by P̃(y | x): a pair of words whose words never had its labels has no rate."""
    path = tmp_path / "m.model"
    EmpiricalCRF(pair="word").fit([["a", "b"], ["b", "a"]], [["X", "Y"], ["Y", "X"]]).save(path)
    draft = Draft.of(path.read_bytes())
    name = "counts/word-1.word.y.y.ids.npy"
    ids = draft.array(name)
    ids[:, [2, 3]] = ids[:, [3, 2]]
    draft.put(name, ids)
    path.write_bytes(draft.data())
    with pytest.raises(ModelFileError, match=r"'word-1\.word\.y\.y' does not add up"):
        load(path)
