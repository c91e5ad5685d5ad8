"""The pipelines of docs/usage/other-pipelines.md, with small ones in the place of the large."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc

from spacy_lal.annotate import annotate_batch

from .toy_shared import bilstm_pipeline, shared_examples, step

PAGE = Path(__file__).parents[2] / "docs/usage/other-pipelines.md"
TEXT = "The cat sat."


@Language.component("chain_of_heads")
def chain_of_heads(doc: Doc) -> Doc:
    """A parser: every word depends on the next one."""
    for token in doc:
        token.head = doc[min(token.i + 1, len(doc) - 1)]
        token.dep_ = "ROOT" if token.i == len(doc) - 1 else "pobj"
    return doc


def web() -> Language:
    """Heads, names, universal tags by the tag, and lemmas by the universal tag."""
    nlp = spacy.blank("en")
    nlp.add_pipe("chain_of_heads", name="parser")
    names: Any = nlp.add_pipe("entity_ruler", name="ner")
    names.add_patterns([{"label": "ANIMAL", "pattern": "cat"}])
    ruler: Any = nlp.add_pipe("attribute_ruler")
    ruler.add([[{"TAG": {"REGEX": "^NN"}}]], {"POS": "NOUN"})
    ruler.add([[{"TAG": {"REGEX": "^(?!NN)"}}]], {"POS": "X"})
    lemmas: Any = nlp.add_pipe("attribute_ruler", name="lemmatizer")
    lemmas.add([[{"POS": "NOUN"}]], {"LEMMA": "beast"})
    lemmas.add([[{"POS": "X"}]], {"LEMMA": "thing"})
    return nlp


def lal() -> Language:
    """A little trained, so that there are nouns."""
    spacy.util.fix_random_seed(0)
    nlp = bilstm_pipeline()
    optimizer = nlp.initialize(lambda: shared_examples(nlp))
    optimizer.learn_rate = 0.01
    for _ in range(20):
        step(nlp, shared_examples(nlp), optimizer)
    return nlp


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> dict[str, Callable[[], Language]]:
    """The functions that the page shows."""
    small = {"en_core_web_sm": web, "en_lal_sm": lal}
    monkeypatch.setattr(spacy, "load", lambda name: small[name]())
    found: dict[str, Any] = {}
    for block in re.findall(r"```python\n(.*?)```", PAGE.read_text("utf8"), re.DOTALL):
        if "def " in block:
            exec(block, found)
    return found


def labels(doc: Doc, key: str) -> list[tuple[int, int, str]]:
    return [(span.start, span.end, span.label_) for span in doc.spans[key]]


def test_trees_beside_the_heads_of_others(made: dict[str, Callable[[], Language]]) -> None:
    doc = made["with_trees"]()(TEXT)
    assert [token.dep_ for token in doc] == ["pobj", "pobj", "pobj", "ROOT"]
    assert [token.head.i for token in doc] == [1, 2, 3, 3]
    assert [entity.text for entity in doc.ents] == ["cat"]
    assert len(doc._.trees) == 1
    # there may be none
    assert "constituents" in doc.spans
    assert "srl" in doc.spans


def test_names_beside_our_heads(made: dict[str, Callable[[], Language]]) -> None:
    """All of it is in the records, too."""
    nlp, own = made["with_names"](), lal()
    doc, alone = nlp(TEXT), own(TEXT)
    assert [token.head.i for token in doc] == [token.head.i for token in alone]
    assert [token.tag_ for token in doc] == [token.tag_ for token in alone]
    for key in ("constituents", "srl"):
        assert labels(doc, key) == labels(alone, key)
    (record,) = annotate_batch([{"text": TEXT}], nlp)
    assert [entity["label"] for entity in record["entities"]] == ["ANIMAL"]
    nouns = [tag.startswith("NN") for tag in record["tags"]]
    assert any(nouns)
    assert [pos == "NOUN" for pos in record["pos"]] == nouns
    assert [lemma == "beast" for lemma in record["lemmas"]] == nouns
