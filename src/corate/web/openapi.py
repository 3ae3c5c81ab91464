"""The description of the HTTP API, as OpenAPI: what /api shows and other programs read."""

from __future__ import annotations

from typing import Any

from corate import __version__
from corate.text.spans import SCHEMES
from corate.web.requests import Limits

Schema = dict[str, Any]

TEXT, FLAG, NUMBER, WHOLE = ({"type": kind} for kind in ("string", "boolean", "number", "integer"))
TOKENS: Schema = {
    "type": "array",
    "items": {"oneOf": [TEXT, {"type": "array", "items": TEXT}]},
    "example": ["The", "dog", "barks", "."],
    "description": "Words; or lists of the word and further columns, for models that look at them.",
}
LABELS: Schema = {"type": "array", "items": TEXT, "example": ["DET", "NOUN", "VERB", "PUNCT"]}
MODEL: Schema = {**TEXT, "description": "Which model, where several are served."}
SENTENCE = {"type": "object", "properties": {"tokens": TOKENS, "labels": LABELS}, "required": ["tokens"]}
INPUT: Schema = {
    "model": MODEL,
    "tokens": TOKENS,
    "sentences": {"type": "array", "items": SENTENCE, "description": "Several; instead of tokens."},
    "text": {**TEXT, "description": "Text or a file's content in any format; instead of tokens."},
    "name": {**TEXT, "description": "The file's name, from which its format may be found."},
    "format": {"enum": ["conll", "conllu", "wordtag", "jsonl", "text"]},
}
FORCED: Schema = {
    "oneOf": [{"type": "object"}, {"type": "array", "items": {"type": "object"}}],
    "description": 'Labels that are given, by position: {"0": "NOUN"}; a list of such for several sentences.',
}
VALID: Schema = {"enum": [*SCHEMES], "description": "Only label sequences that are valid in this scheme."}
ANSWERS = {
    "200": "The answer.",
    "400": "The body is no JSON.",
    "401": "The token is missing or wrong.",
    "403": "From a page of another site; or learning where --learn was not given.",
    "408": "The request came too slowly.",
    "413": "Larger than the limits.",
    "415": "Another content type than application/json.",
    "421": "The Host header names another server.",
    "422": "Something in it is wrong: wrong types, unknown labels, sentences that were never learned.",
    "429": "Too many corrections are waiting.",
    "503": "Too much to do, or the corrections file cannot be used.",
    "507": "The disk is full: nothing was learned.",
}

# path: (summary, further fields of the body, text of the answer)
POSTS: dict[str, tuple[str, Schema, str]] = {
    "/api/tag": (
        "Label sentences.",
        {
            "probabilities": {**FLAG, "default": True},
            "nbest": {**WHOLE, "description": "Also the n best label sequences."},
            "valid": VALID,
            "forced": FORCED,
        },
        'In the shape of corate tag --to jsonl: {"sentences": [{"tokens", "predicted", "probabilities"}]}. '
        "With Accept: application/x-ndjson, a line for each sentence once it is labelled. A body of type "
        'application/x-ndjson has a line {"tokens": […]} for each sentence, may be of any length, and is '
        "answered line by line while it comes (?model= names the model).",
    ),
    "/api/explain": (
        "Why a word has its label: counts, against those of the next best label; the trellis; the n best.",
        {"position": {**WHOLE, "default": 0}, "nbest": {**WHOLE, "default": 5}, "forced": FORCED},
        "why.reasons: each with its score, the log of what it multiplies, and that of the rival.",
    ),
    "/api/learn": (
        "Teach corrected sentences. They are on disk before the answer comes.",
        {
            "labels": LABELS,
            "instead": {
                **LABELS,
                "description": "Labels under which the sentence was learned before: forgotten.",
            },
            "source": {"enum": ["page", "queue", "random", "audit", "api"]},
            "by": {**TEXT, "description": "Who says so."},
            "new_labels": {**FLAG, "description": "Allow labels that the model does not have yet."},
        },
        '"done": for each sentence the number of the correction, the labels before and after.',
    ),
    "/api/forget": (
        "Take a correction back, or sentences that the model was trained on: exactly, as if never learned.",
        {"id": {**WHOLE, "description": "Number of a correction; instead of sentences."}, "labels": LABELS},
        "As for /api/learn.",
    ),
    "/api/evaluate": (
        "Compare with given labels.",
        {"labels": LABELS, "valid": VALID},
        "As corate eval --json.",
    ),
    "/api/suggest": (
        "The order in which to label sentences: least certain first, and a random share.",
        {"random_share": {**NUMBER, "default": 0.1}, "seed": {**WHOLE, "default": 0}},
        '"order": number of each sentence, its margin, whether it was drawn at random.',
    ),
    "/api/audit": (
        "Training sentences whose labels are likely wrong, the likeliest first.",
        {"labels": LABELS, "n": {**WHOLE, "default": 200}},
        '"suspects": labels, what the model says without the sentence, suspicion of each label.',
    ),
}
GETS = {
    "/api/models": ("The models that are served.", []),
    "/api/corrections": ("What was taught and taken back, newest first; accuracy so far.", ["model", "n"]),
    "/healthz": ("Whether all is well; needs no token.", []),
    "/metrics": ("Counters in the text that Prometheus reads.", []),
}


def openapi(limits: Limits) -> Schema:
    """The whole description."""
    problem = {"type": "object", "properties": {"error": {**TEXT, "description": "One sentence."}}}

    def responses(text: str) -> Schema:
        found: Schema = {}
        for status, meaning in ANSWERS.items():
            schema = {"type": "object"} if status == "200" else problem
            content = {"application/json": {"schema": schema}}
            found[status] = {"description": text if status == "200" else meaning, "content": content}
        return found

    paths: Schema = {}
    for path, (summary, fields, text) in POSTS.items():
        body = {"type": "object", "properties": {**INPUT, **fields}, "additionalProperties": False}
        content = {"application/json": {"schema": body}}
        request = {"required": True, "content": content}
        paths[path] = {"post": {"summary": summary, "requestBody": request, "responses": responses(text)}}
    for path, (summary, names) in GETS.items():
        parameters = [{"name": name, "in": "query", "schema": TEXT} for name in names]
        answer = {"200": {"description": ANSWERS["200"]}}
        paths[path] = {"get": {"summary": summary, "parameters": parameters, "responses": answer}}
    about = (
        f"A request may have {limits.body_bytes:,} bytes, {limits.sentences:,} sentences, "
        f"{limits.tokens:,} tokens, {limits.sentence_tokens:,} in a sentence; "
        f"it must arrive within {limits.seconds:g} seconds. "
        'An error is one sentence: {"error": …}.'
    )
    return {
        "openapi": "3.1.0",
        "info": {"title": "corate", "version": __version__, "description": about},
        "components": {"securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}},
        "paths": paths,
    }
