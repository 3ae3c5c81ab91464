"""The guard: what every request passes before anything is done for it, and every answer on its way out.

    Host         one of the server's own names: no page of another site reaches it by a name of its own (DNS)
    Origin       the server's own, where there is one: no page of another site can post to it
    token        where one is asked for, compared in constant time; requests are not logged
    body         of a known type, no larger and no slower than the limits
    number       of requests at a time

Answers get a content security policy that allows this server's own files and nothing else.
"""

from __future__ import annotations

import asyncio
import contextlib
import hmac
from collections.abc import Sequence
from typing import TYPE_CHECKING

from starlette.responses import JSONResponse

from corate.web.metrics import Metrics
from corate.web.requests import Limits

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
PUBLIC = ("/healthz",)  # besides files of the page, which are no secret
NEEDS_TOKEN = ("/api/", "/metrics")
NDJSON = "application/x-ndjson"
TYPES = ("application/json", NDJSON)
MOST_DRAINED, DRAIN_SECONDS = 256 << 20, 2.0  # bytes of a body that is too large, and pauses between them
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}


class RefusalError(Exception):
    """An answer in one sentence, and its status."""

    def __init__(self, status: int, sentence: str) -> None:
        self.status, self.sentence = status, sentence
        super().__init__(sentence)


def refusal(status: int, sentence: str) -> JSONResponse:
    headers = {"retry-after": "1"} if status in (429, 503) else {}
    if status == 401:
        headers["www-authenticate"] = "Bearer"
    if status in (408, 413):
        headers["connection"] = "close"
    return JSONResponse({"error": sentence}, status, headers)


class Guard:
    """ASGI: wraps the application."""

    def __init__(
        self, app: ASGIApp, hosts: Sequence[str], token: str | None, limits: Limits, metrics: Metrics
    ) -> None:
        self.app, self.token, self.limits, self.metrics = app, token, limits, metrics
        self.hosts = {host.lower() for host in hosts}
        self.n_requests = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        status = 0

        async def sending(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                named = {name for name, _ in message["headers"]}
                message["headers"] += [
                    (name.encode(), value.encode())
                    for name, value in HEADERS.items()
                    if name.encode() not in named
                ]
            await send(message)

        self.n_requests += 1
        try:
            with self.metrics.request(scope["path"], lambda: status):
                await self._answer(scope, receive, sending)
        finally:
            self.n_requests -= 1
        return None

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            if self._check(scope) == NDJSON:  # which may be of any length, and is read as it comes
                return await self.app(scope, receive, send)
            body = await asyncio.wait_for(self._body(scope, receive), self.limits.seconds)
        except asyncio.TimeoutError:
            sentence = f"the request did not arrive within {self.limits.seconds:g} seconds: send it faster"
            return await refusal(408, sentence)(scope, receive, send)
        except RefusalError as error:
            if error.status == 413:  # a client that is still sending would not see the answer
                await self._drain(receive)
            return await refusal(error.status, error.sentence)(scope, receive, send)
        if body is None:  # the client has hung up
            return None
        return await self.app(scope, _replay(body, receive), send)

    def _check(self, scope: Scope) -> str:
        """Refuse what must not be; the content type of what may."""
        headers: dict[str, list[str]] = {}
        for name, value in scope["headers"]:
            headers.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1"))
        host = headers.get("host", [])
        if len(host) != 1 or host[0].lower() not in self.hosts:
            raise RefusalError(
                421, "the Host header names another server: open the address that corate serve printed"
            )
        own = {f"{scheme}://{host[0].lower()}" for scheme in ("http", "https")}
        if any(origin.lower() not in own for origin in headers.get("origin", [])):
            raise RefusalError(403, "a page of another site has sent this request")
        if headers.get("sec-fetch-site", ["none"])[0] not in ("none", "same-origin"):
            is_visit = scope["method"] == "GET" and headers.get("sec-fetch-mode") == ["navigate"]
            if not is_visit or scope["path"].startswith(NEEDS_TOKEN):
                raise RefusalError(403, "a page of another site has sent this request")
        if self.token is not None and scope["path"].startswith(NEEDS_TOKEN):
            self._check_token(headers.get("authorization", []))
        if self.n_requests > self.limits.requests and scope["path"] not in PUBLIC:
            raise RefusalError(
                503, f"{self.limits.requests} requests are being answered already: try again in a second"
            )
        if scope["method"] == "POST":
            given = headers.get("content-type", [""])[0].partition(";")[0].strip().lower()
            if given not in TYPES:
                raise RefusalError(415, f"the content type is not one of {', '.join(TYPES)}")
            length = headers.get("content-length", ["0"])[0]
            if given == NDJSON and scope["path"] == "/api/tag":
                return given
            if len(length) > 18 or (length.isdecimal() and int(length) > self.limits.body_bytes):
                raise RefusalError(413, self._too_large())
        return ""

    def _check_token(self, given: list[str]) -> None:
        expected = f"Bearer {self.token}".encode()
        if len(given) != 1 or not hmac.compare_digest(given[0].encode("latin-1"), expected):
            raise RefusalError(
                401, "this server wants its token: send the header Authorization: Bearer TOKEN"
            )

    def _too_large(self) -> str:
        return f"the body is larger than {self.limits.body_bytes:,} bytes: send several requests"

    async def _drain(self, receive: Receive) -> None:
        """Take in what still comes, for a while."""
        left = MOST_DRAINED
        with contextlib.suppress(asyncio.TimeoutError):
            while left > 0:
                message = await asyncio.wait_for(receive(), DRAIN_SECONDS)
                left -= max(1, len(message.get("body", b"")))
                if not message.get("more_body", False):
                    return

    async def _body(self, scope: Scope, receive: Receive) -> bytes | None:
        """All of it; None if the client hangs up before its end."""
        parts, size = [], 0
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                return None
            parts.append(message.get("body", b""))
            size += len(parts[-1])
            if size > self.limits.body_bytes:
                raise RefusalError(413, self._too_large())
            if not message.get("more_body", False):
                return b"".join(parts)


def _replay(body: bytes, receive: Receive) -> Receive:
    """The body as one message, and then whatever comes: that the client hangs up."""
    left: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replayed() -> Message:
        return left.pop() if left else await receive()

    return replayed
