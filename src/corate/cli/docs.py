"""corate docs: the pages of the documentation, which are inside the wheel."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import click

from corate.errors import InputError

PACKAGE = Path(__file__).parent.parent
# Inside an installed wheel; or in a checkout, where `make docs` puts them.
PLACES = (PACKAGE / "docs", PACKAGE.parent.parent / "build" / "docs" / "html")
NEEDED = (
    "this installation has no pages: in a checkout, `make docs` builds them, and `make wheel` a wheel that "
    "has them; `corate COMMAND --help` is always there"
)


@click.command(short_help="Open the documentation, which comes with the package.")
@click.argument("page", default="index")
@click.option("--print-path", is_flag=True, help="Say where the page is, and open nothing.")
@click.option("--list", "list_pages", is_flag=True, help="Say which pages there are.")
@click.option("--serve", is_flag=True, help="Serve the pages to this machine, for a browser elsewhere.")
@click.option("--port", default=8310, show_default=True, type=click.IntRange(0, 65535), help="For --serve.")
def docs(page: str, print_path: bool, list_pages: bool, serve: bool, port: int) -> None:
    """Open PAGE of the documentation in a browser: tutorials, how-to pages, reference.

    The pages are files on this machine; nothing is fetched. Without a browser, --print-path says where they
    are, and --serve shows them at http://127.0.0.1:8310/ (on another machine, through a tunnel).

    \b
    Example:
      corate docs
      corate docs start
      corate docs --list
      corate docs --serve
    """
    folder = pages_folder()
    path = page_path(folder, page)
    if list_pages:
        click.echo("\n".join(sorted(page_names(folder))))
    elif serve:
        _serve(folder, port, "" if page == "index" else f"{path.relative_to(folder).as_posix()}")
    elif print_path or not _opened(path):
        click.echo(path)


def pages_folder() -> Path:
    """Where the pages are, or what to do to have them."""
    for place in PLACES:
        if (place / "index.html").is_file():
            return place
    raise InputError(NEEDED)


def page_names(folder: Path) -> list[str]:
    """Names that `corate docs` takes: `start`, `tutorials/names`, `reference/commands`."""
    made_by_sphinx = ("genindex", "search", "py-modindex")
    names = (path.relative_to(folder).with_suffix("").as_posix() for path in folder.rglob("*.html"))
    return [name for name in names if name not in made_by_sphinx and not name.startswith("_")]


def page_path(folder: Path, page: str) -> Path:
    """The file of a page, by its name or the last part of it."""
    wanted = page.removesuffix(".html").removesuffix(".md").removeprefix("docs/")
    names = page_names(folder)
    found = [name for name in names if name == wanted] or [n for n in names if n.split("/")[-1] == wanted]
    if len(found) != 1:
        what = (
            f"no page is called {page!r:.60}" if not found else f"{page!r} is " + " or ".join(sorted(found))
        )
        raise InputError(f"{what}: corate docs --list shows all")
    return folder / f"{found[0]}.html"


def _opened(path: Path) -> bool:
    import webbrowser

    try:
        return webbrowser.open(path.as_uri())
    except webbrowser.Error:
        return False


def _serve(folder: Path, port: int, page: str) -> None:
    from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

    class Quiet(SimpleHTTPRequestHandler):
        log_message: Callable[..., None] = lambda *_: None

    try:
        server = ThreadingHTTPServer(("127.0.0.1", port), partial(Quiet, directory=str(folder)))
    except OSError as error:
        raise InputError(
            f"port {port}: {error.strerror}: give another one, --port 0 takes a free one"
        ) from error
    with server:
        click.echo(f"http://127.0.0.1:{server.server_port}/{page}")
        sys.stdout.flush()
        click.echo("Ctrl-C ends it.", err=True)
        server.serve_forever()
