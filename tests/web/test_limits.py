"""The limits, small ones, at the application itself: who is too slow, too many, too late."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from corate.web.app import make_app
from corate.web.requests import Limits
from corate.web.served import Served

BODY = b'{"tokens": ["a"], "labels": ["DET"]}'


@pytest.fixture
def ask(own_model: Path) -> Callable[..., tuple[int, str]]:
    """A request under these limits: status and sentence. `later`: its body comes byte by byte."""
    served = Served("pos", own_model, learns=True)

    def call(limits: Limits, path: str = "/api/learn", later: float | None = None) -> tuple[int, str]:
        async def run() -> tuple[int, str]:
            app = make_app([served], ["127.0.0.1:1"], None, limits)
            left, sent = [BODY[k : k + 1] for k in range(len(BODY))], list[Any]()

            async def receive() -> dict[str, Any]:
                if later is None:
                    return {"type": "http.request", "body": BODY, "more_body": False}
                await asyncio.sleep(later)
                return {"type": "http.request", "body": left.pop(0), "more_body": bool(left)}

            async def send(message: Any) -> None:
                sent.append(message)

            headers = [(b"host", b"127.0.0.1:1"), (b"content-type", b"application/json")]
            scope = {"type": "http", "method": "POST", "path": path, "headers": headers, "query_string": b""}
            await app({**scope, "root_path": "", "scheme": "http", "client": None}, receive, send)
            body = b"".join(message.get("body", b"") for message in sent)
            return sent[0]["status"], json.loads(body).get("error", "")

        return asyncio.run(run())

    return call


def test_limits(ask: Callable[..., tuple[int, str]], own_model: Path) -> None:
    assert ask(Limits(seconds=0.2), later=10.0) == (
        408,
        "the request did not arrive within 0.2 seconds: send it faster",
    )
    assert ask(Limits(requests=0))[0] == 503
    assert ask(Limits(learners=0))[0] == 429
    assert ask(Limits(body_bytes=8))[0] == 413
    assert ask(Limits(tokens=0))[0] == 413
    assert ask(Limits(sentences=0))[0] == 413
    assert not [*own_model.parent.glob("*corrections*")]
    assert ask(Limits())[0] == 200


def test_a_server_that_is_behind(ask: Callable[..., tuple[int, str]], own_model: Path) -> None:
    """The folder of the model is gone: one sentence, and the same model as before."""
    own_model.rename(own_model.with_name("elsewhere"))
    assert ask(Limits())[0] == 200  # the correction is on disk, for the model when it comes back
    own_model.parent.joinpath("pos.model.corrections.conll").unlink()
    own_model.parent.joinpath("pos.model.corrections.conll").mkdir()
    status, sentence = ask(Limits())
    assert (status, "pos.model.corrections.conll" in sentence) == (503, True)
