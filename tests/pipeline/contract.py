"""One tiny component of every factory, trained once a run, and what it writes to a Doc."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

from tests.stored import stored

from .toy import DEPENDENCIES, TINY, TRANSFORMER_SPANS, TWO_STAGE, headed_examples, train_on
from .toy_errors import MODEL as DETECTOR
from .toy_errors import agreement_examples
from .toy_frames import SMALL, frames_examples

DEPENDENCY = {k: v for k, v in TINY.items() if k != "hidden_width"} | {"dependencies": DEPENDENCIES}


@dataclass(frozen=True)
class Case:
    """config: of the component. examples: what it learns by heart.

    key: of the span group that it writes, if any. writes: the attributes of tokens that it writes.
    missing: what `initialize` says of 2 Docs without gold.
    """

    factory: str
    config: dict[str, Any]
    examples: Callable[[Language], list[Example]] = headed_examples
    key: str | None = "constituents"
    writes: tuple[str, ...] = ("tag_",)
    missing: str = r"none of the 2 training Docs has a tree in doc.spans\['constituents'\]"

    def blank(self, **config: Any) -> Language:
        nlp = spacy.blank("en")
        nlp.add_pipe(self.factory, config={**self.config, **config})
        return nlp


TOKENS = ("head", "dep_", "tag_")
CASES = {
    "constituency": Case("lal_constituency", {"model": TINY}),
    "joint": Case(
        "lal_constituency",
        {"model": {**TINY, "dependencies": DEPENDENCIES}},
        writes=TOKENS,
    ),
    "two stages": Case("lal_constituency", {"model": TWO_STAGE}),
    "dependency": Case(
        "lal_dependency",
        {"model": DEPENDENCY},
        key=None,
        writes=TOKENS,
        missing="none of the 2 training Docs has dependency heads",
    ),
    "spanformer": Case("spanformer", {"model": {**TWO_STAGE, "spans": TRANSFORMER_SPANS}}),
    "lisa": Case(
        "lisa_srl",
        {"model": SMALL},
        frames_examples,
        key="srl",
        writes=TOKENS,
        missing=r"none of the 2 training Docs has frames in doc.spans\['srl'\]",
    ),
    "detector": Case(
        "gec_detector",
        {"model": DETECTOR},
        lambda nlp: agreement_examples(nlp, 60),
        key="errors",
        writes=(),
        missing=r"none of the 2 training Docs has errors in doc.spans\['errors'\]: .*2 are not",
    ),
}


def _stored(name: str) -> bytes:
    case = CASES[name]

    def make() -> Language:
        spacy.util.fix_random_seed(0)
        nlp = case.blank()
        return train_on(nlp, case.examples(nlp), steps=60)

    return stored(f"contract {name}", make)


@cache
def trained(name: str) -> Language:
    """For tests that leave it as it is."""
    return pickle.loads(_stored(name))


def copy_of(name: str) -> Language:
    """For tests that go on training."""
    return pickle.loads(_stored(name))


def annotations(doc: Doc) -> dict[str, Any]:
    """All that components write to a Doc: tokens, span groups and the values kept with these."""
    found: dict[str, Any] = {
        "tokens": [(t.text, t.tag_, t.head.i, t.dep_, t.is_sent_start) for t in doc]
    }
    for key, group in doc.spans.items():
        found[key] = [(span.start, span.end, span.label_, span.id_) for span in group]
        found[f"{key} attrs"] = dict(group.attrs)
    return found


def same(found: dict[str, Any], expected: dict[str, Any]) -> None:
    """The same annotations, as probable as float32 can tell.

    Which is less of a log-probability, the difference of two large sums.
    """
    assert found.keys() == expected.keys()
    for key, value in expected.items():
        if key.endswith(" attrs"):
            assert found[key].keys() == value.keys()
            for name in value:
                near(found[key][name], value[name], 2e-3 if name == "log_probs" else 1e-3)
        else:
            assert found[key] == value


def near(found: Any, expected: Any, tolerance: float) -> None:
    if isinstance(expected, list):
        assert len(found) == len(expected)
        for mine, theirs in zip(found, expected, strict=True):
            near(mine, theirs, tolerance)
    else:
        assert found == (None if expected is None else pytest.approx(expected, abs=tolerance))
