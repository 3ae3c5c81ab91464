"""The page in a real browser: look, explain, correct, learn, undo; by mouse and keys, small and dark."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from corate import load
from corate.web.corrections import beside
from lab.serving import Server, serving

FLAGS = (
    "--no-sandbox --disable-gpu --disable-background-networking --disable-component-update --disable-sync "
    "--no-first-run"
)
PROBE = "<img src=x onerror=\"document.title='owned'\">"
TEXT = "Ada Lovelace visited Flurbia .\nThey saw Flurbia again .\nThe dog barks .\n"

expect.set_options(timeout=60_000)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    path = shutil.which("chromium")
    assert path is not None, "no chromium: make test installs it"
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=path, args=FLAGS.split())
        yield found
        found.close()


class Visit:
    """A page that is looked at; whatever goes wrong in it is remembered."""

    def __init__(self, context: BrowserContext, address: str) -> None:
        self.page, self.troubles, self.address = context.new_page(), list[str](), address
        self.page.set_default_timeout(60_000)
        self.page.on(
            "console", lambda m: self.troubles.append(m.text) if m.type in ("error", "warning") else None
        )
        self.page.on("pageerror", lambda error: self.troubles.append(str(error)))
        self.page.on("request", lambda request: self._check(request.url))
        self.page.goto(address)
        expect(self.page.locator("#facts")).not_to_be_empty()

    def _check(self, url: str) -> None:
        if not url.startswith((self.address, "data:", "blob:")):
            self.troubles.append(f"a request to {url}")

    def read(self, model: str, text: str) -> Page:
        self.page.select_option("#model", model)
        self.page.fill("#input", text)
        self.page.click("text=Label it")
        expect(self.page.locator("#status")).to_contain_text("sentences,")
        return self.page


@pytest.fixture
def ner_server(taggers: Path, tmp_path: Path) -> Iterator[tuple[Server, Path]]:
    path = tmp_path / "ner.model"
    path.write_bytes((taggers / "ner.model").read_bytes())
    with serving(path, "--learn") as found:
        yield found, path


def test_the_whole_loop(browser: Browser, ner_server: tuple[Server, Path]) -> None:
    """Paste, look at an explanation, correct a span: the next sentence has it. Undo: the same bytes."""
    server, path = ner_server
    before = path.read_bytes()
    visit = Visit(browser.new_context(), server.address)
    page = visit.read("ner", TEXT)
    expect(page.locator(".sentence")).to_have_count(3)
    expect(page.locator(".span", has_text="MISC")).to_have_count(0)
    page.locator(".sentence").nth(0).locator(".word").nth(1).click()
    expect(page.locator("#panel h2")).to_contain_text("Lovelace")
    model = load(path)
    why = model.explain(TEXT.split("\n")[0].split())[1]
    expect(page.locator(".reasons")).to_contain_text(max(why.reasons, key=lambda r: abs(r.score)).text)
    expect(page.locator(".trellis .node.best")).to_have_count(5)

    words = page.locator(".sentence").nth(0).locator(".word")
    words.nth(0).hover()
    page.mouse.down()
    words.nth(2).hover()
    page.mouse.up()
    expect(page.locator(".word.chosen")).to_have_count(3)
    words.nth(3).click()
    expect(page.locator("#panel h2")).to_contain_text("Flurbia")
    page.locator(".choice", has_text="MISC").click()
    expect(page.locator(".sentence").nth(0).locator(".span", has_text="Flurbia")).to_contain_text("MISC")
    page.click("#save")
    expect(page.locator("#status")).to_contain_text("changed their label")
    second = page.locator(".sentence").nth(1)
    expect(second.locator(".span")).to_contain_text("MISC")
    expect(second.locator(".word.changed")).to_have_count(1)
    assert "Flurbia\tB-MISC" in beside(path).read_text()
    server.saved()
    assert path.read_bytes() != before

    page.click("#undo")
    expect(page.locator("#status")).to_contain_text("as if it had never seen")
    server.saved()
    assert path.read_bytes() == before
    page.click("[data-view=history]")
    expect(page.locator("#history tbody tr")).to_have_count(2)
    assert visit.troubles == []


def test_by_keyboard_alone(browser: Browser, ner_server: tuple[Server, Path]) -> None:
    """Tab into the text, arrows, a span of two words, a label by its number, save, undo."""
    server, path = ner_server
    visit = Visit(browser.new_context(), server.address)
    page = visit.page
    page.focus("#input")
    page.keyboard.type("Zog Blim sang .")
    page.keyboard.press("Control+Enter")
    expect(page.locator(".sentence")).to_have_count(1)
    for _ in range(6):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.classList.contains('word')"):
            break
    expect(page.locator(".word").nth(0)).to_be_focused()
    page.keyboard.press("Shift+ArrowRight")
    expect(page.locator("#panel h2")).to_contain_text("Blim")
    names = [text.lstrip("123456789") for text in page.locator(".choice").all_inner_texts()]
    page.keyboard.press(str(1 + [name.strip() for name in names].index("ORG")))
    expect(page.locator(".span")).to_have_count(1)
    expect(page.locator(".span")).to_contain_text("ORG")
    page.keyboard.press("s")
    expect(page.locator("#status")).to_contain_text("Learned.")
    assert "Zog\tB-ORG\nBlim\tI-ORG\nsang\tO\n" in beside(path).read_text()
    page.keyboard.press("u")
    expect(page.locator("#status")).to_contain_text("Taken back")
    page.keyboard.press("Enter")
    expect(page.locator("#panel")).to_be_focused()
    page.keyboard.press("?")
    expect(page.locator("#keys")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#keys")).to_be_hidden()
    assert visit.troubles == []


def test_text_is_text(browser: Browser, taggers: Path, tmp_path: Path) -> None:
    """Words, labels, names of files and of models that look like HTML or a script."""
    path = tmp_path / "<img src=x onerror=alert(1)>.model"
    path.write_bytes((taggers / "pos.model").read_bytes())
    with serving(path, "--learn") as server:
        word, label = PROBE.replace(" ", "\u00a0"), PROBE
        learned = server.post(
            "/api/learn", tokens=[word, "dog"], labels=[label, "NOUN"], new_labels=True, by=PROBE
        )
        assert learned.status == 200
        visit = Visit(browser.new_context(), server.address)
        page = visit.page
        page.on("dialog", lambda dialog: visit.troubles.append(dialog.message))
        content = f"{word} dog\n<script>document.title='owned'</script> ."
        page.set_input_files(
            "#file",
            {"name": f"{PROBE}.txt".replace("/", ""), "mimeType": "text/plain", "buffer": content.encode()},
        )
        expect(page.locator(".sentence")).to_have_count(2)
        expect(page.locator(".form").first).to_have_text(word)
        page.locator(".word").first.click()
        expect(page.locator("#panel h2")).to_contain_text(word)
        expect(page.locator("#source")).to_contain_text("onerror")
        page.click("[data-view=history]")
        expect(page.locator("#history tbody tr")).to_have_count(1)
        expect(page.locator("#history tbody")).to_contain_text("onerror")
        assert page.locator("img").count() == page.locator("body script").count() == 0
        assert page.title() == "corate"
        assert visit.troubles == []


def test_thousands_of_sentences(browser: Browser, server: Server) -> None:
    """Only what is in sight is in the document; the end is reached, and the queue orders them."""
    visit = Visit(browser.new_context(viewport={"width": 390, "height": 844}), server.address)
    page, text = visit.page, "".join(f"The dog number {k} barks .\n" for k in range(4_000))
    page.set_input_files("#file", {"name": "dogs.txt", "mimeType": "text/plain", "buffer": text.encode()})
    expect(page.locator("#status")).to_contain_text("4,000 sentences, 24,000 words")
    assert page.locator(".sentence").count() < 100
    page.locator("#text").evaluate("(e) => { e.scrollTop = e.scrollHeight; }")
    expect(page.locator(".sentence .form", has_text="3999")).to_be_visible()
    assert page.locator(".sentence").count() < 100
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.check("#queue")
    expect(page.locator(".sentence .badge").first).to_be_visible()
    assert visit.troubles == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_everybody_can_read_it(browser: Browser, server: Server, scheme: str) -> None:
    """axe finds nothing serious, in any view."""
    found = []
    visit = Visit(browser.new_context(color_scheme="dark" if scheme == "dark" else "light"), server.address)
    page = visit.read("ner" if scheme == "dark" else "pos", TEXT)
    page.locator(".sentence").nth(0).locator(".word").nth(1).click()
    expect(page.locator(".reasons li").first).to_be_visible()
    for view in ("look", "history", "audit", "api"):
        if view == "api":
            page.goto(server.address + "api")
            expect(page.locator(".endpoint").first).to_be_visible()
        else:
            page.click(f"[data-view={view}]")
            expect(page.locator(f"#{view}")).to_be_visible()
        results = Axe().run(page).response["violations"]
        found += [
            (view, each["id"], node["html"][:120], node["failureSummary"][:300])
            for each in results
            if each["impact"] in ("serious", "critical")
            for node in each["nodes"][:3]
        ]
    assert found == []
    assert visit.troubles == []
