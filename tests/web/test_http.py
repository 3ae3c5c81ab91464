"""The HTTP API over real sockets: what it answers, whom it refuses, what it makes of garbage."""

from __future__ import annotations

import json
import random
import socket
from pathlib import Path
from typing import Any

import pytest

from corate import load, load_sample
from corate.evaluation.evaluate import evaluate
from corate.evaluation.queue import suggest
from corate.web.openapi import ANSWERS
from lab.serving import JSON, Server, serving, wait_for

X, Y = load_sample("test")
DOCUMENTED = {*map(int, ANSWERS), 404, 405}
N_MALFORMED = 2_000


def test_tagging_is_that_of_the_model(server: Server, taggers: Path) -> None:
    """As one object, line by line, and from lines; with n best and forced labels."""
    model = load(taggers / "pos.model")
    asked = [{"tokens": words} for words in X[:40]]
    want = [[label for label, _ in labelled] for labelled in model.predict_with_probability(X[:40])]
    whole = server.post("/api/tag", model="pos", sentences=asked, nbest=2).json["sentences"]
    assert [s["predicted"] for s in whole] == want
    ranked = [[(n["predicted"], n["probability"]) for n in s["nbest"]] for s in whole]
    assert ranked == model.predict_nbest(X[:40], 2)
    body = json.dumps({"model": "pos", "sentences": asked}).encode()
    lines = server.request("POST", "/api/tag", body, {**JSON, "accept": "application/x-ndjson"})
    assert [json.loads(line)["predicted"] for line in lines.text.splitlines()] == want
    sent = "\n".join(json.dumps({"tokens": words, "id": k}) for k, words in enumerate(X[:40])).encode()
    answered = server.request("POST", "/api/tag?model=pos", sent, {"content-type": "application/x-ndjson"})
    back = [json.loads(line) for line in answered.text.splitlines()]
    assert [(r["id"], r["predicted"]) for r in back] == list(enumerate(want))
    forced = server.post("/api/tag", model="pos", tokens=["The", "dog"], forced={"1": "VERB"}).json
    assert forced["sentences"][0]["predicted"][1] == "VERB"


def test_reading_any_format(server: Server) -> None:
    """What has more columns than the model looks at has labels."""
    texts: dict[str, list[tuple[list[str], list[str] | None]]] = {
        "a b\nc": [(["a", "b"], None), (["c"], None)]
    }
    texts["a\tDET\nb\tNOUN\n\nc\tVERB\n"] = [(["a", "b"], ["DET", "NOUN"]), (["c"], ["VERB"])]
    texts["a/DET b/NOUN\n"] = [(["a", "b"], ["DET", "NOUN"])]
    texts['{"tokens": ["a"], "labels": ["DET"]}\n{"tokens": ["b"], "labels": ["X"]}'] = [
        (["a"], ["DET"]),
        (["b"], ["X"]),
    ]
    for text, want in texts.items():
        found = server.post("/api/tag", model="pos", text=text).json["sentences"]
        assert [(s["tokens"], s.get("labels")) for s in found] == want
    wrong = server.post("/api/tag", model="pos", text="a\tb\nc\n", name="x.conll")
    assert (wrong.status, wrong.json["error"]) == (422, "x.conll:2: 1 column where the first row has 2: 'c'")


def test_explaining_evaluating_suggesting(server: Server, taggers: Path) -> None:
    model = load(taggers / "pos.model")
    tokens = ["She", "repainted", "boats", "."]
    found = server.post("/api/explain", model="pos", tokens=tokens, position=1).json
    want = model.explain(tokens)[1]
    told = {row["text"]: row["score"] for row in found["why"]["reasons"] if row["text"] is not None}
    assert told == pytest.approx({reason.text: reason.score for reason in want.reasons})
    assert [found["why"]["rival"]["label"], found["why"]["compared"]] == [want.runner_up[0], True]
    best = [next(c["label"] for c in column["candidates"] if c["best"]) for column in found["trellis"]]
    assert best == found["predicted"] == model.predict([tokens])[0]
    labelled = [{"tokens": words, "labels": labels} for words, labels in zip(X[:50], Y[:50], strict=True)]
    evaluated = server.post("/api/evaluate", model="pos", sentences=labelled).json
    assert evaluated["accuracy"] == evaluate(Y[:50], model.predict(X[:50])).accuracy
    order = server.post("/api/suggest", model="pos", sentences=labelled, random_share=0.2, seed=3).json[
        "order"
    ]
    assert [each["sentence"] for each in order] == [s.sentence for s in suggest(model, X[:50], 0.2, 3)]


def test_learning_and_forgetting(server: Server) -> None:
    """A word that is learned is known in the next request, and unknown again after it is taken back."""
    tokens, labels = ["Flurbs", "zogged", "quixly"], ["PROPN", "AUX", "NUM"]
    before = server.post("/api/tag", model="taught", tokens=tokens).json
    learned = server.post(
        "/api/learn", model="taught", tokens=tokens, labels=labels, source="queue", by="Ada"
    ).json
    assert learned["done"][0]["before"] == before["sentences"][0]["predicted"]
    assert server.post("/api/tag", model="taught", tokens=tokens).json["sentences"][0]["predicted"] == labels
    listed = server.get("/api/corrections?model=taught")
    right = sum(a == b for a, b in zip(learned["done"][0]["before"], labels, strict=True))
    assert [listed["records"][0][name] for name in ("right", "tokens", "by", "source")] == [
        right,
        3,
        "Ada",
        "queue",
    ]
    number = learned["done"][0]["id"]
    assert server.post("/api/forget", model="taught", id=number).status == 200
    assert server.post("/api/tag", model="taught", tokens=tokens).json == before
    assert "taken back already" in server.post("/api/forget", model="taught", id=number).json["error"]
    never = server.post("/api/forget", model="taught", tokens=tokens, labels=labels)
    assert (never.status, "never learned" in never.json["error"]) == (422, True)


def test_auditing(server: Server) -> None:
    """A training sentence gets other labels: the old ones are forgotten in the same step."""
    words, labels = load_sample("train")
    given = [{"tokens": w, "labels": y} for w, y in zip(words, labels, strict=True)]
    found = server.post("/api/audit", model="taught", sentences=given, n=5).json["suspects"]
    assert len(found) == 5
    first = found[0]
    asked = {
        "model": "taught",
        "tokens": first["tokens"],
        "labels": first["predicted"],
        "instead": first["labels"],
    }
    assert server.post("/api/learn", **asked, source="audit").status == 200
    assert "never learned" in server.post("/api/learn", **asked).json["error"]
    assert "never learned" in server.post("/api/audit", model="taught", sentences=given).json["error"]


@pytest.mark.parametrize(
    ("body", "status", "sentence"),
    [
        (b"{", 400, "invalid JSON"),
        (b"[1]", 400, "give a JSON object"),
        (b'{"tokens": ["\\ud800"]}', 400, "surrogate"),
        (b'{"tokens": ["a"], "tokens": []}', 400, "twice"),
        (b'{"tokens": NaN}', 400, "NaN is no JSON"),
        (b"[" * 100_000, 400, "nested too deeply"),
        (b'{"tokens": ["\xff"]}', 400, "not UTF-8"),
        (b'{"model": "pos"}', 422, "give one of"),
        (b'{"model": "no", "tokens": []}', 422, "choose from pos, ner, taught"),
        (b'{"model": "pos", "tokens": "a"}', 422, "give a list"),
        (b'{"model": "pos", "tokens": [1]}', 422, "a token is 1"),
        (b'{"model": "pos", "tokens": [""]}', 422, "empty"),
        (b'{"model": "pos", "tokens": ["a"], "nbest": 1e3}', 422, "whole number"),
        (b'{"model": "pos", "tokens": ["a"], "nbest": 9999}', 422, "from 0 to 50"),
        (b'{"model": "pos", "tokens": ["a"], "wat": 1}', 422, "unknown key"),
        (b'{"model": "pos", "tokens": ["a"], "forced": {"0": "WAT"}}', 422, "no label 'WAT'"),
        (b'{"model": "pos", "tokens": ["a"], "valid": "IOB2"}', 422, "scheme"),
        (b'{"model": "pos", "tokens": ["' + b"a" * 2_000 + b'"]}', 413, "characters"),
        (b'{"model": "pos", "tokens": [' + b'"a",' * 6_000 + b'"a"]}', 413, "5,000"),
        (b'"' + b"a" * (17 << 20) + b'"', 413, "larger than"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_what_is_wrong(server: Server, body: bytes, status: int, sentence: str) -> None:
    answer = server.request("POST", "/api/tag", body, JSON)
    assert (answer.status, sentence in answer.json["error"]) == (status, True), answer.text
    assert "\n" not in answer.json["error"]


@pytest.mark.parametrize(
    ("labels", "sentence"),
    [
        (["WAT"], 'no label "WAT"'),
        (["NOUN", "NOUN"], "1 tokens and 2 labels"),
        ([None], "nothing to learn"),
        (["a\tb"], "cannot be written"),
        (None, 'no "labels"'),
    ],
    ids=str,
)
def test_what_cannot_be_learned(server: Server, labels: Any, sentence: str) -> None:
    answer = server.post("/api/learn", model="pos", tokens=["a"], labels=labels)
    assert (answer.status, sentence in answer.json["error"]) == (422, True), answer.text


def test_strangers_are_refused(server: Server) -> None:
    """Other names of the host, other sites, forms, methods and addresses."""
    body = b'{"model": "pos", "tokens": ["a"]}'
    for headers, status in (
        ({"host": "evil.example"}, 421),
        ({"host": f"evil.example:{server.host.rpartition(':')[2]}"}, 421),
        ({"origin": "http://evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"sec-fetch-site": "cross-site"}, 403),
        ({"content-type": "text/plain"}, 415),
        ({"content-type": "application/x-www-form-urlencoded"}, 415),
        ({"origin": server.address.rstrip("/"), "sec-fetch-site": "same-origin"}, 200),
        ({"host": f"localhost:{server.host.rpartition(':')[2]}"}, 200),
    ):
        answer = server.request("POST", "/api/tag", body, {**JSON, **headers})
        assert answer.status == status, headers
        assert "access-control-allow-origin" not in answer.headers
    assert server.request("OPTIONS", "/api/tag").status == 405
    assert server.request("DELETE", "/api/tag").status == 405
    for path in (
        "/etc/passwd",
        "/static/../app.py",
        "/static/%2e%2e/app.py",
        "/static/..%2fapp.py",
        "/static//etc/passwd",
    ):
        assert server.request("GET", path).status == 404
    policy = server.request("GET", "/").headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy


def test_a_token_and_only_reading(own_model: Path) -> None:
    with serving(own_model, "--token", "open-sesame") as found:
        for given, status in (
            (None, 401),
            ("Bearer x", 401),
            ("Bearer open-sesame", 200),
            ("Bearer open-sesam", 401),
        ):
            headers = {} if given is None else {"authorization": given}
            assert found.request("GET", "/api/models", None, headers).status == status
            assert found.request("GET", "/metrics", None, headers).status == status
        assert found.request("GET", "/").status == found.request("GET", "/healthz").status == 200
        headers = {**JSON, "authorization": "Bearer open-sesame"}
        answer = found.request("POST", "/api/learn", b'{"tokens": ["a"], "labels": ["DET"]}', headers)
        assert (answer.status, "--learn" in answer.json["error"]) == (403, True)
    assert not [*own_model.parent.glob("*corrections*")]


def test_hosts_need_a_token(cli: Any, own_model: Path) -> None:
    found = cli("serve", own_model, "--host", "0.0.0.0")
    assert (found.code, "--token" in found.err) == (2, True)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        found = cli("serve", own_model, "--port", taken.getsockname()[1])
        assert (found.code, "try another --port" in found.err) == (2, True)
    found = cli("serve", own_model.with_name("missing.model"))
    assert (found.code, found.err.count("\n")) == (2, 1)


def test_the_demo() -> None:
    with serving("--page", command="demo") as found:
        assert [model["name"] for model in found.get("/api/models")["models"]] == ["words", "names"]


def test_metrics_and_description(server: Server) -> None:
    """Numbers are those of the requests; the description knows every address that there is."""
    server.request("GET", "/no/such/" + "x" * 100)
    before = _metric(server, 'path="/api/models",status="200"')
    server.get("/api/models")
    wait_for(lambda: _metric(server, 'path="/api/models",status="200"') == before + 1)
    assert _metric(server, 'path="other",status="404"') >= 1
    paths = server.get("/openapi.json")["paths"]
    for path, methods in paths.items():
        for method in methods:
            assert server.request(method.upper(), path, b"{}", JSON).status not in (404, 405), path


def _metric(server: Server, name: str) -> int:
    lines = server.request("GET", "/metrics").text.splitlines()
    return sum(int(line.split()[-1]) for line in lines if line.startswith("corate_requests_total{" + name))


def test_garbage(server: Server) -> None:
    """Thousands of requests, most of them wrong: a documented answer in one sentence, or a closed line."""
    chance = random.Random(17)
    statuses: dict[int, int] = {}
    for _ in range(N_MALFORMED):
        path = chance.choice([*server_paths(), "/api/nothing", "/static/x", "/api/tag/"])
        body = _garbage(chance)
        if chance.random() < 0.1:
            _raw_garbage(server, chance, path, body)
            continue
        kind = chance.choice(["application/json"] * 8 + ["application/x-ndjson", "text/html", ""])
        answer = server.request(
            chance.choice(["POST"] * 6 + ["PUT", "GET"]), path, body, {"content-type": kind}
        )
        statuses[answer.status] = statuses.get(answer.status, 0) + 1
        assert answer.status in DOCUMENTED, (answer.text, path, body)
        assert "Traceback" not in answer.text
        if answer.status >= 400:
            assert "\n" not in answer.json["error"]
    assert {400, 422, 415} <= {*statuses}
    assert server.get("/healthz")["status"] == "ok"
    assert server.post("/api/tag", model="taught", tokens=["a"]).status == 200


def server_paths() -> list[str]:
    return [f"/api/{name}" for name in ("tag", "explain", "learn", "forget", "evaluate", "suggest", "audit")]


ODD: list[Any] = [
    *(None, True, 0, -1, 1.5, 2**70, "", "a", "\0", "\u2028", "a\tb", "a\nb", "-DOCSTART-", "DET", "<b>"),
    *([], {}, [[]], ["a"], ["a", "b"], [["a", "b"]], [None], [""], {"0": "DET"}, {"x": 1}, [{"tokens": 3}]),
    *([{"tokens": ["a"]}], [{"tokens": ["a"], "labels": ["DET"]}], [{"tokens": [], "labels": []}]),
    *("IOB2", "taught", "# {\n\n"),
]
KEYS = (
    *("model", "tokens", "labels", "sentences", "text", "name", "format", "nbest", "probabilities", "valid"),
    *(
        "forced",
        "position",
        "source",
        "by",
        "instead",
        "new_labels",
        "id",
        "random_share",
        "seed",
        "n",
        "wat",
    ),
)


def _garbage(chance: random.Random) -> bytes:
    made: dict[str, Any] = {key: chance.choice(ODD) for key in chance.sample(KEYS, chance.randrange(5))}
    if chance.random() < 0.8:
        made["model"] = "taught"
    if chance.random() < 0.5:
        made["tokens"] = chance.choice([["a"], ["a", "dog"]])
    body = json.dumps(made).encode()
    if chance.random() < 0.4:
        for _ in range(chance.randrange(1, 4)):
            at = chance.randrange(len(body) + 1)
            body = (
                body[:at]
                + bytes(chance.choices(range(256), k=chance.randrange(3)))
                + body[at + chance.randrange(3) :]
            )
    return body


def _raw_garbage(server: Server, chance: random.Random, path: str, body: bytes) -> None:
    """Bytes that are hardly HTTP, from a client that hangs up."""
    host, port = server.host.split(":")
    head = f"POST {path} HTTP/1.1\r\nHost: {server.host}\r\nContent-Type: application/json\r\n".encode()
    lengths = [
        b"Content-Length: -5",
        b"Content-Length: x",
        b"Content-Length: 99999999999999999999",
        b"Transfer-Encoding: chunked",
    ]
    data = head + chance.choice([*lengths, b"Content-Length: 4000"]) + b"\r\n\r\n" + body
    if chance.random() < 0.3:
        data = bytes(chance.choices(range(256), k=200))
    with socket.create_connection((host, int(port)), timeout=30) as connection:
        connection.sendall(data)
        connection.shutdown(socket.SHUT_WR)
        answer = b""
        while part := connection.recv(1 << 16):
            answer += part
    assert b"Traceback" not in answer
    assert not answer.startswith(b"HTTP/1.1 5") or answer.startswith(b"HTTP/1.1 503")
