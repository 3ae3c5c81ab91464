"""The documentation as HTML: no warning, no link that leads nowhere, no public name that is not in it."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from html import unescape
from html.parser import HTMLParser
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import click
import pytest

import corate
import corate.graph
from conftest import Cli
from corate.cli import cli as command_line
from tools.wheel import build_docs

docs = import_module("corate.cli.docs")  # under the name of the command, which is in its place in corate.cli


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All pages, built from nothing; a warning fails."""
    target = tmp_path_factory.mktemp("site") / "html"
    build_docs(target)
    return target


class Links(HTMLParser):
    """Where a page leads to, what it loads, and the places in it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.places: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        self.places.add(found.get("id", ""))
        if tag == "a" and "href" in found:
            self.links.append(found["href"])
        self.loads += [found[name] for name in ("src", "href") if name in found and tag != "a"]


def test_links_lead_somewhere_and_nothing_is_fetched(site: Path) -> None:
    pages = {path: Links(path.read_text(encoding="utf-8")) for path in site.rglob("*.html")}
    assert len(pages) > 20
    for path, page in pages.items():
        for link in page.links + page.loads:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                assert link in page.links, f"{path.name} loads {link}"
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            assert target.is_file(), f"{path.name} points to {link}"
            if parts.fragment and target.suffix == ".html":
                assert unquote(parts.fragment) in pages[target].places, f"{path.name} points to {link}"
    for style in site.rglob("*.css"):
        assert re.findall(r"url\(['\"]?(?:https?:)?//", style.read_text(encoding="utf-8")) == []


OURS = ("corate", __name__)


def public() -> Iterator[tuple[str, Any]]:
    for module in (corate, corate.graph):
        for name in module.__all__:
            yield f"{module.__name__}.{name}", getattr(module, name)


def methods(cls: type) -> Iterator[tuple[type, str, Any]]:
    """Public ones with the class that has them, of ours."""
    for owner in cls.__mro__:
        for name, value in vars(owner).items():
            plain = getattr(value, "__func__", None) or getattr(value, "fget", None) or value
            if (
                owner.__module__.split(".")[0] in OURS
                and not name.startswith("_")
                and inspect.isfunction(plain)
            ):
                yield owner, name, plain


def parameters(function: Any) -> list[str]:
    return [name for name in inspect.signature(function).parameters if name not in ("self", "cls")]


def undocumented(name: str, found: Any) -> Iterator[str]:
    """What a docstring does not say: a parameter is named in it, a method's perhaps in that of its class."""
    text = inspect.getdoc(found) or ""
    if not text or text.startswith(f"{name.split('.')[-1]}("):  # what dataclasses write by themselves
        yield name
    own_errors = isinstance(found, type) and "__init__" not in vars(found)
    if not own_errors or hasattr(found, "__dataclass_fields__"):
        yield from (f"{name}({p})" for p in parameters(found) if not re.search(rf"\b{p}\b", text))
    for owner, method, function in methods(found) if isinstance(found, type) else ():
        about = inspect.getdoc(function)
        if not about:
            yield f"{owner.__name__}.{method}"
        both = f"{about} {inspect.getdoc(owner)}"
        missing = [p for p in parameters(function) if not re.search(rf"\b{p}\b", both)]
        yield from (f"{owner.__name__}.{method}({p})" for p in missing)


def test_every_public_name_and_parameter_is_documented() -> None:
    names = dict(public())
    assert len(names) > 35
    assert sorted({gap for name, found in names.items() for gap in undocumented(name, found)}) == []


def test_a_gap_would_be_found() -> None:
    class Bad(corate.Tagger):
        """It says nothing of what it takes."""

        def __init__(self, secret: int = 1) -> None: ...

        def work(self, hard: bool) -> None:
            """It works."""

        def rest(self) -> None: ...

    assert {"Bad(secret)", "Bad.work(hard)", "Bad.rest"} <= {*undocumented("Bad", Bad)}


def test_every_public_name_and_method_is_on_a_page(site: Path) -> None:
    reference = "".join(path.read_text(encoding="utf-8") for path in (site / "reference").glob("*.html"))
    places = Links(reference).places
    for name, found in public():
        last = name.split(".")[-1]
        assert {f"{home}.{last}" for home in ("corate", "corate.graph", found.__module__)} & places, name
        for owner, method, _ in methods(found) if isinstance(found, type) else ():
            owners = [cls for cls in found.__mro__ if cls.__module__.startswith("corate")]
            homes = {f"{cls.__module__}.{cls.__name__}.{method}" for cls in owners}
            short = {f"corate{graph}.{cls.__name__}.{method}" for cls in owners for graph in ("", ".graph")}
            assert (homes | short) & places, f"{owner.__name__}.{method}"


def commands(command: click.Command, path: str = "corate") -> Iterator[tuple[str, click.Command]]:
    yield path, command
    if isinstance(command, click.Group):
        for name, child in command.commands.items():
            yield from commands(child, f"{path} {name}")


def test_every_command_and_option_is_on_the_page(site: Path) -> None:
    text = unescape(
        re.sub(r"<[^>]+>", "", (site / "reference" / "commands.html").read_text(encoding="utf-8"))
    )
    for path, command in commands(command_line):
        assert path in text
        assert command.help, path
        for parameter in (p for p in command.params if not p.is_eager):  # but --version
            for option in parameter.opts if isinstance(parameter, click.Option) else ():
                assert option in text, f"{path} {option}"
                assert getattr(parameter, "help", None), f"{path} {option}"


def test_help_cites_no_file_of_the_project() -> None:
    """Someone who has the wheel alone has no README.md, no docs/ and no src/."""
    for path, command in commands(command_line):
        text = command.get_help(click.Context(command, info_name=path))
        assert re.findall(r"\S+\.md\b|\bdocs/\S*|\bsrc/\S*|\w+/\w+\.py\b", text) == [], path


def test_no_message_cites_one() -> None:
    """What commands print besides: strings of cli/ that are no docstrings."""
    files = [*(Path(corate.__file__).parent / "cli").glob("*.py")]
    assert len(files) > 20
    for path in files:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                assert not re.search(r"\w\.md\b|docs/\w", node.value), f"{path.name}:{node.lineno}"


# corate docs -----------------------------------------------------------------------------------------------


def test_docs_opens_pages_by_name(site: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []

    def browser(address: str) -> bool:
        opened.append(address)
        return True

    monkeypatch.setattr(docs, "PLACES", (site / "nowhere", site))
    monkeypatch.setattr("webbrowser.open", browser)
    assert cli("docs", "--print-path") == (0, f"{site / 'index.html'}\n", "")
    assert cli("docs", "docs/changing.md", "--print-path").out == f"{site / 'changing.html'}\n"
    assert cli("docs", "teaching", "--print-path").out == f"{site / 'tutorials' / 'teaching.html'}\n"
    assert opened == []
    assert cli("docs", "start") == (0, "", "")
    assert opened == [(site / "start.html").as_uri()]
    names = cli("docs", "--list").out.split()
    assert {"index", "start", "tutorials/names", "reference/models"} <= {*names}
    assert "genindex" not in names


def test_docs_without_a_browser_says_where(site: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(docs, "PLACES", (site,))
    monkeypatch.setattr("webbrowser.open", lambda _: False)
    assert cli("docs").out == f"{site / 'index.html'}\n"


def test_docs_of_an_unknown_page(site: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(docs, "PLACES", (site,))
    code, out, err = cli("docs", "nothing")
    assert (code, out) == (2, "")
    assert err == "no page is called 'nothing': corate docs --list shows all\n"
    assert (
        cli("docs", "commands", "--print-path").out == f"{site / 'commands.html'}\n"
    )  # not the one in reference


def test_docs_where_none_were_built(tmp_path: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(docs, "PLACES", (tmp_path,))
    code, out, err = cli("docs")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "make docs" in err


def test_sample_writes_files_and_replaces_none(tmp_path: Path, cli: Cli) -> None:
    assert cli("sample", tmp_path / "new") == (0, "", "")
    corpus = corate.read_corpus(tmp_path / "new" / "train.conll", label="2")
    assert corpus.labels is not None
    assert corpus.labels.strings() == [label for labels in corate.load_sample()[1] for label in labels]
    (tmp_path / "test.conll").write_text("mine")
    code, _, err = cli("sample", tmp_path)
    assert code == 2
    assert "test.conll is there already" in err
    assert not (tmp_path / "train.conll").exists()
    assert (tmp_path / "test.conll").read_text() == "mine"
    assert cli("sample", tmp_path, "--force").code == 0
    assert (tmp_path / "test.conll").read_text() != "mine"
