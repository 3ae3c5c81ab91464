"""The report's page: it parses, loads nothing, can be read without eyes, and shows the results' figures."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from corate import load_sample
from experiments import label_bias, measure, page, parameterizations, published, test_time_problem, theorem
from experiments.claims import verdicts
from experiments.measure import DONE, NOT_RUN, STOPPED
from experiments.models import MODELS
from lab import machine, pictures
from lab.corpora import CONLL_SPLIT, Part, Split, Splits
from lab.store import Record, Store
from lab.tables import value_at

VOID = {"meta", "br"}
WORDS = ("reason", "words")  # cells without figures of the results
NEAR = ["ep1", "ecrn", "tagger", "tnt", "crfsuite-1", "crfsuite-0.1"]


@dataclass
class Element:
    tag: str
    attributes: dict[str, str]
    parent: Element | None
    children: list[Element] = field(default_factory=list)
    text: str = ""

    def all(self, *tags: str) -> list[Element]:
        found = [child for child in self.children if child.tag in tags]
        return found + [deeper for child in self.children for deeper in child.all(*tags)]

    def whole_text(self) -> str:
        return self.text + "".join(child.whole_text() for child in self.children)


class Strict(HTMLParser):
    """Builds a tree and refuses what browsers would quietly mend."""

    def __init__(self) -> None:
        super().__init__()
        self.root = self.here = Element("", {}, None)
        self.ids: Counter[str] = Counter()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = {name: value or "" for name, value in attrs}
        assert len(attributes) == len(attrs), f"an attribute twice in {tag}"
        if "id" in attributes:
            self.ids[attributes["id"]] += 1
        made = Element(tag, attributes, self.here)
        self.here.children.append(made)
        if tag not in VOID:
            self.here = made

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """As SVG has them: `<path …/>`."""
        self.handle_starttag(tag, attrs)
        self.here = self.here.parent or self.root
        assert any(of == "svg" for of in self._around())

    def _around(self) -> list[str]:
        here, tags = self.here, []
        while here.parent is not None:
            tags.append(here.tag)
            here = here.parent
        return tags

    def handle_endtag(self, tag: str) -> None:
        assert tag == self.here.tag, f"</{tag}> ends <{self.here.tag}>"
        assert self.here.parent is not None
        self.here = self.here.parent

    def handle_data(self, data: str) -> None:
        self.here.text += data


def parse(text: str) -> Strict:
    parser = Strict()
    parser.feed(text)
    parser.close()
    assert parser.here is parser.root, f"<{parser.here.tag}> is not closed"
    return parser


@pytest.fixture(scope="module")
def results() -> Record:
    """Real results on the sample, as small as they come; slow models as if measured, stopped or not begun."""
    (X, y), (X_test, y_test) = load_sample(), load_sample("test")
    entities = load_sample(label="entity")[1], load_sample("test", "entity")[1]
    pos = _measured(
        "pos", Splits(Part([], []), {"1000/4000": Split(Part(X, y), Part(X_test, y_test))}), "1000/4000"
    )
    ner = _measured(
        "ner",
        Splits(Part([], []), {CONLL_SPLIT: Split(Part(X, entities[0]), Part(X_test, entities[1]))}),
        CONLL_SPLIT,
    )
    pos["splits"]["1000/4000"]["published"] = published.POS["1000/4000"]
    larger = json.loads(json.dumps(pos["splits"]["1000/4000"]))
    larger["sizes"]["tokens"] *= 4
    larger["models"]["crfsuite-0.1"] = {"status": NOT_RUN, "seconds": 12_345.0, "scaled_from": "1000/4000"}
    larger["models"]["crfsuite-1"] = {"status": STOPPED, "cap": 300}
    larger["comparisons"] = [
        pair for pair in larger["comparisons"] if not {pair["a"], pair["b"]} & {"crfsuite-0.1", "crfsuite-1"}
    ]
    larger["published"] = published.POS["32623/1000"]
    pos["splits"]["32623/1000"] = larger
    ner["splits"][CONLL_SPLIT]["published"] = published.NER
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(label_bias, "ROUNDS", 2)
        patch.setattr(label_bias, "N_TRAIN", 200)
        patch.setattr(label_bias, "TRAINED", ("crf-tuned", "memm"))
        bias = label_bias.collect(None)  # type: ignore[arg-type]
        failing = parameterizations.collect(None)  # type: ignore[arg-type]
    found = {
        "machine": machine.describe(),
        "pos_order": {**pos, "experiment": "pos_order"},
        "ner_longer": {**ner, "experiment": "ner_longer"},
        "theorem": theorem.collect(None),  # type: ignore[arg-type]
        "pos": pos,
        "ner": ner,
        "label_bias": bias,
        "test_time_problem": test_time_problem.collect(None),  # type: ignore[arg-type]
        "parameterizations": failing,
    }
    found["claims"] = verdicts.collect(found)
    return json.loads(json.dumps(found))  # type: ignore[no-any-return]


def _measured(experiment: str, corpus: Splits, name: str) -> Record:
    measurements = measure.Measurements("sample", corpus, Store(None), 60)
    split = corpus.splits[name]
    with pytest.MonkeyPatch.context() as patch:

        def in_this_process(path: Path, key: str, cap: int) -> Record:
            """CRFsuite and TnT may not be installed: another model answers for them."""
            model = MODELS[key] if MODELS[key].package == "corate" else MODELS["hmm"]
            return measure.measure(model, split, split.test) | {"seconds": 0.1 + 10 * len(key)}

        patch.setattr(measure, "run_child", in_this_process)
        patch.setattr(measure, "sources_of", str)
        measurements.add(name, NEAR)
    return {"experiment": experiment, "title": "sample", "cap": 60, "splits": measurements.splits}


@pytest.fixture(scope="module")
def text(results: Record) -> str:
    return page.render(results)


@pytest.fixture(scope="module")
def tree(text: str) -> Strict:
    return parse(text)


def test_it_is_one_small_file_that_loads_nothing(text: str, tree: Strict) -> None:
    assert len(text.encode()) < 1_000_000
    for element in tree.root.all("link", "img", "iframe", "object", "embed", "source", "audio", "video"):
        pytest.fail(f"<{element.tag}> would be loaded")
    for element in tree.root.all("script", "svg", "a", "use"):
        for name in ("src", "href", "xlink:href"):
            assert element.attributes.get(name, "#").startswith("#")
    assert not re.search(r"https?://|//[a-z]|@import|url\((?!#)|/home/|/tmp/|/work/", text)


def test_ids_are_unique_and_references_lead_somewhere(tree: Strict) -> None:
    assert [name for name, n in tree.ids.items() if n > 1] == []
    for element in tree.root.all("a", "svg", "section"):
        href = element.attributes.get("href", "#").removeprefix("#")
        for name in [*element.attributes.get("aria-labelledby", "").split(), *([href] if href else [])]:
            assert name in tree.ids


def test_it_can_be_read_without_eyes(tree: Strict) -> None:
    (root,) = tree.root.all("html")
    assert root.attributes["lang"] == "en"
    levels = [int(element.tag[1]) for element in root.all("h1", "h2", "h3")]
    assert levels.count(1) == 1
    assert len(root.all("svg")) >= 10
    for svg in root.all("svg"):
        assert svg.attributes["role"] == "img"
        (title,), (description,) = svg.all("title"), svg.all("desc")
        assert title.text
        assert len(description.text) > 20


def test_every_table_has_headers_and_full_rows(tree: Strict) -> None:
    tables = tree.root.all("table")
    assert len(tables) >= 12
    for table in tables:
        (caption,), (head,), (body,) = table.all("caption"), table.all("thead"), table.all("tbody")
        assert caption.whole_text()
        assert all(th.attributes.get("scope") in ("col", "row", "colgroup") for th in table.all("th"))
        columns = len(head.all("tr")[-1].children)
        for row in body.all("tr"):
            assert len(row.children) == columns, caption.whole_text()
            assert row.children[0].tag == "th"
        assert table.parent is not None
        assert table.parent.attributes["class"] == "scroll"


def test_figures_in_tables_are_those_of_the_results(tree: Strict, results: Record) -> None:
    """Every cell with a figure says where it comes from; what it shows is that value, rounded."""
    checked = 0
    for cell in tree.root.all("td"):
        text, place = cell.whole_text(), cell.attributes.get("data-from")
        if place is None:
            assert not re.search(r"\d\.\d|\d{3}", text) or cell.attributes.get("class") in WORDS, text
            continue
        value = value_at(results, place)
        assert shows(text, value), f"{place}: {text} for {value}"
        checked += 1
    assert checked > 300


def shows(text: str, value: Any) -> bool:
    if isinstance(value, str):
        return text == value
    shown = text.replace(",", "").replace("−", "-").split(" to ")[0]
    if shown.startswith("< "):
        return bool(value < float(shown[2:]))
    decimals = len(shown.partition(".")[2].partition("e")[0])
    if "e" in shown:
        return f"{value:.{decimals}e}" == shown
    half = 0.5 * 10.0**-decimals + 1e-9
    return any(abs(times * value - float(shown)) <= half for times in (1, 100))


def test_what_was_not_run_is_said(tree: Strict) -> None:
    reasons = [cell.text for cell in tree.root.all("td") if cell.attributes.get("class") == "reason"]
    assert "not run: ≈ 3.4 h" in reasons
    assert "stopped after 300" in reasons


def test_an_order_that_is_not_the_papers_is_said(results: Record) -> None:
    split = json.loads(json.dumps(results["pos"]["splits"]["1000/4000"]))
    split["models"]["crf"] = split["models"]["tagger"]
    split["comparisons"].append(
        {**next(p for p in split["comparisons"] if p["b"] == "tagger" and p["a"] == "ep1"), "b": "crf"}
    )
    (line,) = page.inversions("1000/4000", split)
    assert "published EP1 86.7, CRF++ 82.6" in line
    assert "more than chance" in line
    split["published"]["EP1"]["overall"] = 1.0
    assert not list(page.inversions("1000/4000", split))


def test_models_look_different_and_colours_are_in_the_style_sheet(text: str) -> None:
    looks = [(model.colour, model.mark) for model in MODELS.values()]
    assert len(set(looks)) == len(looks)
    assert {mark for _, mark in looks} <= set(page.GLYPHS)
    for colour in pictures.COLOURS:
        assert text.count(f"--{colour}:") == 3  # light, dark, paper


def test_pictures_take_their_colours_from_the_page(text: str, results: Record) -> None:
    """But for black and white there is none of their own; and the same results make the same page."""
    body = text.partition("</style>")[2]
    assert not re.search(r"#[0-9a-f]{6}\b(?!-)", re.sub("#(000000|ffffff)", "", body))
    assert page.render(results) == text


def test_the_machine_is_described_without_its_name() -> None:
    import socket

    found = machine.describe()
    assert found["corate"] != "not installed"
    assert socket.gethostname() not in json.dumps(found)


def test_done_models_are_marked_done(results: Record) -> None:
    assert {of["status"] for of in results["pos"]["splits"]["1000/4000"]["models"].values()} == {DONE}
