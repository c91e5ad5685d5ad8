"""What `POST /parse` takes and gives, in OpenAPI's words."""

from __future__ import annotations

from typing import Any

from .worker import Limits

_PLACE = {"start": {"type": "integer"}, "end": {"type": "integer"}}
_SCORE = {"type": ["number", "null"]}


def _object(properties: dict[str, Any], required: list[str]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": required}


def _list(items: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": items}


def openapi(models: dict[str, list[str]], limits: Limits, version: str) -> dict[str, Any]:
    """The document. models: pipelines and what can be drawn of their results."""
    words, whole = _list({"type": "string"}), _list({"type": "integer"})
    span = _object({**_PLACE, "label": {"type": "string"}, "score": _SCORE}, ["start", "end"])
    frame = _object(
        {"predicate": {"type": "integer"}, "roleset": {"type": "string"}, "spans": _list(span)},
        ["predicate", "roleset", "spans"],
    )
    record = _object(
        {
            "text": {"type": "string"},
            "words": words,
            "starts": whole,
            "sentences": _list(_object(_PLACE, ["start", "end"])),
            "tags": words,
            "pos": words,
            "lemmas": words,
            "heads": whole,
            "relations": words,
            "constituents": _list(span),
            "frames": _list(frame),
            "errors": _list(span),
            "error_scores": _list({"type": "number"}),
        },
        ["text", "words", "starts"],
    )
    tree = _object(
        {"brackets": {"type": "string"}, "log_prob": _SCORE, "picture": {"type": "string"}},
        ["brackets", "log_prob", "picture"],
    )
    heads = _list({"type": "array", "prefixItems": [{"type": "integer"}, {"type": "number"}]})
    parsed = _object(
        {
            "model": {"type": "string"},
            "record": record,
            "brackets": words,
            "conllu": {"type": "string"},
            "picture": {"type": "string", "description": "SVG or HTML, which are XML."},
            "kbest": _list(_list(tree)),
            "contributions": _list(_object({**_PLACE, "heads": heads}, ["start", "end", "heads"])),
            "threshold": {"type": "number", "description": "The detector's own."},
            "seconds": {"type": "number"},
        },
        ["model", "record", "conllu", "seconds"],
    )
    every = sorted({view for known in models.values() for view in known})
    question = _object(
        {
            "text": {"type": "string", "maxLength": limits.max_chars},
            "model": {"type": "string", "enum": list(models), "default": next(iter(models))},
            "view": {"type": "string", "enum": ["", *every], "default": ""},
            "trees": {
                "type": "integer",
                "minimum": 0,
                "maximum": limits.max_trees,
                "default": 0,
                "description": "How many of the most probable trees to list; 0 of view kbest is 2.",
            },
        },
        ["text"],
    )
    question["additionalProperties"] = False
    said = _object({"error": {"type": "string"}}, ["error"])
    refused = {"content": {"application/json": {"schema": said}}}
    responses = {
        "200": {
            "description": "All that the pipeline finds.",
            "content": {"application/json": {"schema": parsed}},
        },
        **{
            status: {"description": what, **refused}
            for status, what in {
                "400": "The request is not as it should be.",
                "413": "The text is too long.",
                "415": "The request is not JSON.",
                "500": "The pipeline failed.",
                "503": "Too many texts are waiting, or this one took too long.",
            }.items()
        },
    }
    healthy = _object(
        {"status": {"type": "string"}, "models": words, "waiting": {"type": "integer"}},
        ["status", "models", "waiting"],
    )
    return {
        "openapi": "3.1.0",
        "info": {"title": "spacy-lal", "version": version},
        "paths": {
            "/parse": {
                "post": {
                    "summary": "Annotate a text.",
                    "requestBody": {
                        "required": True,
                        "content": {"application/json": {"schema": question}},
                    },
                    "responses": responses,
                }
            },
            "/health": {
                "get": {
                    "summary": "Whether the server is there.",
                    "responses": {
                        "200": {
                            "description": "It is.",
                            "content": {"application/json": {"schema": healthy}},
                        }
                    },
                }
            },
        },
    }
