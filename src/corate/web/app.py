"""The application: routes, and how work gets to threads and errors to answers."""

from __future__ import annotations

import asyncio
import contextlib
import json
import mimetypes
import sys
import threading
import time
import traceback
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from corate.errors import CorateError, InputError
from corate.web import answers
from corate.web.corrections import CorrectionsError, NoSpaceError
from corate.web.guard import NDJSON, Guard, RefusalError, refusal
from corate.web.metrics import Metrics
from corate.web.openapi import openapi
from corate.web.requests import BadJSONError, Fields, Limits, TooLargeError, parse, shown
from corate.web.served import Served

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

STATIC = Path(__file__).parent / "static"
LINE_BYTES = 1 << 20  # of a line of a stream
LEAST_SPEED = 100  # bytes a second of a stream, after a while
SAVE_CHECK_SECONDS = 0.25
WORKERS = 4  # requests that are worked at together
STATUS: list[tuple[type[Exception], int]] = [  # the first that fits
    (BadJSONError, 400),
    (TooLargeError, 413),
    (answers.NotAllowedError, 403),
    (NoSpaceError, 507),
    (CorrectionsError, 503),
    (CorateError, 422),
    (ValueError, 422),
    (TypeError, 422),
    (MemoryError, 503),
]
Answer = Callable[[Served, Fields], dict[str, Any]]
Result = TypeVar("Result")

mimetypes.add_type("text/javascript", ".js")


class Lines(StreamingResponse):
    """Lines as they are made; it reads nothing of the request, which somebody else does."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        with contextlib.suppress(OSError, ClientDisconnect):
            await self.stream_response(send)


class App:
    """The models, and what may be asked of them."""

    def __init__(self, models: Sequence[Served], limits: Limits) -> None:
        self.models, self.limits = {served.name: served for served in models}, limits
        self._turns = asyncio.Semaphore(WORKERS)
        self._learners = 0

    def routes(self, metrics: Metrics) -> list[Route | Mount]:
        metrics.gauges = self._gauges
        return [
            Route("/", lambda _: FileResponse(STATIC / "index.html")),
            Route("/api", lambda _: FileResponse(STATIC / "api.html")),
            Route("/openapi.json", lambda _: JSONResponse(openapi(self.limits))),
            Route("/healthz", self.health),
            Route(
                "/metrics",
                lambda _: PlainTextResponse(metrics.text(), media_type="text/plain; version=0.0.4"),
            ),
            Route("/api/models", self.list_models),
            Route("/api/corrections", self.list_corrections),
            Route("/api/tag", self.tag, methods=["POST"]),
            *(Route(f"/api/{f.__name__}", self._post(f), methods=["POST"]) for f in READING),
            *(Route(f"/api/{f.__name__}", self._learning(f), methods=["POST"]) for f in LEARNING),
            Mount("/static", StaticFiles(directory=STATIC)),
        ]

    # Work --------------------------------------------------------------------------------------------

    async def _work(self, work: Callable[[], Result]) -> Result:
        """Done by a thread, when it is its turn."""
        try:
            await asyncio.wait_for(self._turns.acquire(), self.limits.seconds)
        except asyncio.TimeoutError as error:
            raise RefusalError(503, "too much to do: try again in a second") from error
        try:
            return await asyncio.to_thread(work)
        finally:
            self._turns.release()

    def _asked(self, body: dict[str, Any]) -> tuple[Served, Fields]:
        name = body.pop("model", None)
        return self._model(name), Fields(body, self.limits)

    def _model(self, name: Any) -> Served:
        if name is None and len(self.models) == 1:
            return next(iter(self.models.values()))
        if not isinstance(name, str) or name not in self.models:
            raise InputError(f'"model" is {shown(name)}: choose from {", ".join(self.models)}')
        return self.models[name]

    async def _body(self, request: Request) -> dict[str, Any]:
        if not request.headers.get("content-type", "").lower().startswith("application/json"):
            raise RefusalError(415, "the content type of this request is application/json")
        return parse(await request.body())

    def _post(self, answer: Answer) -> Callable[[Request], Any]:
        async def endpoint(request: Request) -> Response:
            body = await self._body(request)
            return JSONResponse(await self._work(lambda: answer(*self._asked(body))))

        return endpoint

    def _learning(self, answer: Answer) -> Callable[[Request], Any]:
        post = self._post(answer)

        async def endpoint(request: Request) -> Response:
            if self._learners >= self.limits.learners:
                raise RefusalError(
                    429, f"{self._learners} corrections are waiting already: try again in a second"
                )
            self._learners += 1
            try:
                response: Response = await post(request)
                return response
            finally:
                self._learners -= 1

        return endpoint

    # Answers -----------------------------------------------------------------------------------------

    async def tag(self, request: Request) -> Response:
        """Labels: as one JSON object, or line by line where lines are sent or asked for."""
        if request.headers.get("content-type", "").lower().startswith(NDJSON):
            served = self._model(request.query_params.get("model"))
            return Lines(self._lines(served, request), media_type=NDJSON)
        body = await self._body(request)
        if request.headers.get("accept") != NDJSON:
            return JSONResponse(await self._work(lambda: answers.tag(*self._asked(body))))
        tagging = await self._work(lambda: answers.Tagging(*self._asked(body)))
        return Lines(self._batches(tagging.batches()), media_type=NDJSON)

    async def _batches(self, batches: Iterator[list[dict[str, Any]]]) -> AsyncIterator[str]:
        while batch := await self._work(lambda: next(batches, [])):
            yield "".join(_line(record) for record in batch)

    async def _lines(self, served: Served, request: Request) -> AsyncIterator[str]:
        """Sentences as they come, each a line; what is wrong with one is told in a line, the last."""

        def tagged(lines: Sequence[bytes]) -> str:
            records = [parse(line) for line in lines if line.strip()]
            fields = Fields(
                {"sentences": [{"tokens": record.get("tokens")} for record in records]}, self.limits
            )
            found = answers.tag(served, fields)["sentences"]
            return "".join(
                _line({**record, "predicted": answer["predicted"], "probabilities": answer["probabilities"]})
                for record, answer in zip(records, found, strict=True)
            )

        left, started, size = b"", time.monotonic(), 0
        chunks = request.stream()
        try:
            while True:
                chunk = await asyncio.wait_for(anext(chunks, b""), self.limits.seconds)
                size, took = size + len(chunk), time.monotonic() - started
                if not chunk and left:
                    yield await self._work(lambda last=left: tagged([last]))  # type: ignore[misc]
                if not chunk:
                    return
                if took > self.limits.seconds and size < LEAST_SPEED * took:
                    raise InputError("the lines come too slowly: send them faster")
                *lines, left = (left + chunk).split(b"\n")
                if len(left) > LINE_BYTES:
                    raise InputError(f"a line is longer than {LINE_BYTES:,} bytes")
                if lines:
                    yield await self._work(lambda whole=lines: tagged(whole))  # type: ignore[misc]
        except asyncio.TimeoutError:
            yield _line({"error": f"no line came for {self.limits.seconds:g} seconds"})
        except (CorateError, ValueError, TypeError, RefusalError) as error:
            yield _line({"error": one_line(error)})

    async def list_models(self, request: Request) -> Response:
        every = [*self.models.values()]
        return JSONResponse({"models": await self._work(lambda: [*map(answers.describe, every)])})

    async def list_corrections(self, request: Request) -> Response:
        served, n = self._model(request.query_params.get("model")), request.query_params.get("n", "200")
        if not n.isascii() or not n.isdecimal() or len(n) > 6:
            raise InputError(f"n is {shown(n)}: give a whole number")
        return JSONResponse(await self._work(lambda: answers.corrections(served, int(n))))

    async def health(self, request: Request) -> Response:
        troubles = {served.name: served.trouble for served in self.models.values() if served.trouble}
        return JSONResponse({"status": "trouble" if troubles else "ok", "troubles": troubles})

    def _gauges(self) -> dict[str, dict[str, float]]:
        every = self.models.values()
        return {
            "corrections": {s.name: s.corrections.last for s in every},
            "unsaved_corrections": {s.name: s.unsaved for s in every},
            "model_in_trouble": {s.name: s.trouble is not None for s in every},
        }

    # Saving ------------------------------------------------------------------------------------------

    @contextlib.asynccontextmanager
    async def saving(self, _: Starlette) -> AsyncIterator[None]:
        """While the server runs, a thread saves what was learned; at its end, all of it."""
        stop = threading.Event()

        def save() -> None:
            while not stop.wait(SAVE_CHECK_SECONDS):
                for served in self.models.values():
                    if served.is_due():
                        served.save()

        thread = threading.Thread(target=save, name="saving", daemon=True)
        thread.start()
        try:
            yield
        finally:
            stop.set()
            await asyncio.to_thread(thread.join)
            for served in self.models.values():
                await asyncio.to_thread(served.save)


READING: tuple[Answer, ...] = (answers.explain, answers.evaluate, answers.suggest, answers.audit)
LEARNING: tuple[Answer, ...] = (answers.learn, answers.forget)


def make_app(
    models: Sequence[Served], hosts: Sequence[str], token: str | None = None, limits: Limits | None = None
) -> Guard:
    """What uvicorn runs."""
    limits = limits or Limits()
    app = App(models, limits)
    metrics = Metrics(())
    routes = app.routes(metrics)
    metrics.know([route.path for route in routes if isinstance(route, Route)])
    handlers: dict[Any, Any] = {Exception: _failed, RefusalError: _refused, HTTPException: _not_there}
    handlers |= {kind: _refused for kind, _ in STATUS}
    inner = Starlette(routes=routes, lifespan=app.saving, exception_handlers=handlers)
    inner.router.redirect_slashes = False
    return Guard(inner, hosts, token, limits, metrics)


async def _refused(_: Request, error: Exception) -> Response:
    if isinstance(error, RefusalError):
        return refusal(error.status, error.sentence)
    status = next(status for kind, status in STATUS if isinstance(error, kind))
    return refusal(status, one_line(error) or type(error).__name__)


async def _not_there(request: Request, error: HTTPException) -> Response:
    if error.status_code == 405:
        return refusal(405, f"{request.method} is not for this address: see /api")
    return refusal(error.status_code, "there is nothing at this address: see /api")


async def _failed(_: Request, error: Exception) -> Response:
    traceback.print_exception(error, file=sys.stderr)
    return refusal(500, "an error in corate itself: the server's terminal shows it")


def one_line(error: Exception) -> str:
    return " ".join(str(error).split())


def _line(record: dict[str, Any]) -> str:
    return json.dumps(record, ensure_ascii=False) + "\n"
