"""The OpenAPI description of `POST /parse`."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field
from pydantic.json_schema import models_json_schema

from ..annotate.records import AnnotatedText
from .worker import Limits


class RankedTree(BaseModel):
    """One of the best trees of a sentence."""

    brackets: str
    log_prob: float | None
    picture: str


class Contribution(BaseModel):
    """The heads that contribute most to a constituent, each with its share."""

    start: int
    end: int
    heads: list[tuple[int, float]]


class Answer(BaseModel):
    """All annotations of the pipeline, and further results on request."""

    model: str
    record: AnnotatedText
    brackets: list[str] = []
    conllu: str
    picture: str = Field("", description="SVG or HTML, which are XML.")
    kbest: list[list[RankedTree]] = []
    contributions: list[Contribution] = []
    threshold: float = Field(0.5, description="The detector's own.")
    seconds: float


class Health(BaseModel):
    """The server is running."""

    status: str
    models: list[str]
    waiting: int


class Refusal(BaseModel):
    """The description of an error."""

    error: str


REFUSALS = {
    "400": "The request is not as it should be.",
    "413": "The text is too long.",
    "415": "The request is not JSON.",
    "500": "The pipeline failed.",
    "503": "Too many texts are waiting, or this one took too long.",
}
"""Reasons for answers without annotation, by status code."""


def openapi(models: dict[str, list[str]], limits: Limits, version: str) -> dict[str, Any]:
    """Return the description. models: pipelines and their views."""
    bodies: list[Any] = [(body, "validation") for body in (Answer, Health, Refusal)]
    _, schemas = models_json_schema(bodies, ref_template="#/components/schemas/{model}")
    views = sorted({view for known in models.values() for view in known})
    question = {
        "type": "object",
        "properties": {
            "text": {"type": "string", "maxLength": limits.max_chars},
            "model": {"type": "string", "enum": list(models), "default": next(iter(models))},
            "view": {"type": "string", "enum": ["", *views], "default": ""},
            "trees": {
                "type": "integer",
                "minimum": 0,
                "maximum": limits.max_trees,
                "default": 0,
                "description": "How many of the most probable trees to list; 0 of view kbest is 2.",
            },
        },
        "required": ["text"],
        "additionalProperties": False,
    }
    parse = {
        "summary": "Annotate a text.",
        "requestBody": {"required": True, "content": {"application/json": {"schema": question}}},
        "responses": {
            "200": _response(Answer, "All that the pipeline finds."),
            **{status: _response(Refusal, reason) for status, reason in REFUSALS.items()},
        },
    }
    health = {
        "summary": "Whether the server is there.",
        "responses": {"200": _response(Health, "It is.")},
    }
    return {
        "openapi": "3.1.0",
        "info": {"title": "spacy-lal", "version": version},
        "paths": {"/parse": {"post": parse}, "/health": {"get": health}},
        "components": {"schemas": schemas["$defs"]},
    }


def _response(body: type[BaseModel], description: str) -> dict[str, Any]:
    schema = {"$ref": f"#/components/schemas/{body.__name__}"}
    return {"description": description, "content": {"application/json": {"schema": schema}}}
