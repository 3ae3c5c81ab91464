"""corate serve: a page and an HTTP API on this machine."""

from __future__ import annotations

import click

from corate.cli.common import console
from corate.errors import InputError

NEEDED = "corate serve needs Starlette and uvicorn: pip install 'corate[web]'"


@click.command(short_help="Open a page to look at labels, correct them and teach.")
@click.argument("models", nargs=-1, required=True, metavar="MODEL...")
@click.option(
    "--port", default=8300, show_default=True, type=click.IntRange(0, 65535), help="0 takes a free one."
)
@click.option(
    "--learn", is_flag=True, help="Let corrections teach the models; without it they are only read."
)
@click.option(
    "--host", metavar="ADDRESS", help="Listen there instead of on this machine alone; needs --token."
)
@click.option(
    "--token", metavar="T", envvar="CORATE_TOKEN", help="Answer only those who know it; or $CORATE_TOKEN."
)
def serve(models: tuple[str, ...], port: int, learn: bool, host: str | None, token: str | None) -> None:
    """Serve MODEL... on this machine: a page to open in a browser, and an HTTP API (/api describes it).

    With --learn, a sentence that is corrected on the page is learned at once. It is first written to
    MODEL.corrections.conll, from which nothing is lost whatever happens; the model file follows a moment
    later. Other processes may change the model meanwhile: what they change is taken up.

    \b
    Example:
      corate serve pos.model
      corate serve ner.model --learn --port 8301
    """
    start(models, port, learn, host, token)


def start(models: tuple[str, ...], port: int, learn: bool, host: str | None, token: str | None) -> None:
    if host is not None and not token:
        raise InputError(f"--host {host} lets other machines in: give a --token that they have to know")
    if token is not None and (not token.isascii() or not token.isprintable() or " " in token or not token):
        raise InputError("--token has characters that no header can carry: use letters and digits")
    try:
        import starlette  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError as error:
        raise InputError(NEEDED) from error
    from corate.web.server import open_models
    from corate.web.server import serve as run

    out = console()
    opened = open_models(models, learn)
    end = "#token=" if token is not None else ""

    def told(address: str) -> None:
        out.print(f"{address}{end}{'…  (put the token there)' if end else ''}")
        out.print("Ctrl-C ends it; what was learned is then saved.", style="dim")

    run(opened, host, port, token, told)
