"""Scores by label, and the README of a package that shows them."""

from __future__ import annotations

import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

from spacy_lal.annotations.constituents import set_constituents
from spacy_lal.cli.package import LEAST, licence, model_card, performance
from spacy_lal.evaluation.parse_scores import measure_parses

META = {
    "lang": "en",
    "name": "toy",
    "version": "1.0",
    "spacy_version": ">=3.8",
    "license": "MIT",
    "notes": "What it gets wrong: all.",
    "labels": {},
    "performance": {"tag_acc": 0.5, "speed": 3.0},
}


@Language.component("test_model_card_parser")
def flat_parser(doc: Doc) -> Doc:
    """One NP over the first word, one S over all; each word depends on the first."""
    doc[0].dep_ = "ROOT"
    for token in doc[1:]:
        token.head, token.dep_ = doc[0], "obj"
    set_constituents(doc, [(0, len(doc), "S"), (0, 1, "NP")])
    return doc


def gold(nlp: Language, last: str) -> Example:
    words = ["Dogs", "see", "cats"]
    doc = Doc(nlp.vocab, words, heads=[0, 0, 0], deps=["ROOT", "dep", "obj"])
    set_constituents(doc, [(0, 3, "S"), (0, 1, "NP"), (1, 3, "VP"), (2, 3, last)])
    return Example(Doc(nlp.vocab, words), doc)


def test_scores_by_label() -> None:
    """By hand: two sentences, one with a second NP."""
    nlp = spacy.blank("en")
    nlp.add_pipe("test_model_card_parser")
    scores = measure_parses(nlp, [gold(nlp, "NP"), gold(nlp, "ADVP")])
    assert scores["by_label"]["constituents"] == {
        "ADVP": {"p": 0.0, "r": 0.0, "f": 0.0, "gold": 1},
        "NP": {"p": 1.0, "r": pytest.approx(2 / 3), "f": pytest.approx(0.8), "gold": 3},
        "S": {"p": 1.0, "r": 1.0, "f": 1.0, "gold": 2},
        "VP": {"p": 0.0, "r": 0.0, "f": 0.0, "gold": 2},
    }
    assert scores["by_label"]["relations"] == {
        "dep": {"p": 0.0, "r": 0.0, "f": 0.0, "gold": 2},
        "obj": {"p": 0.5, "r": 1.0, "f": pytest.approx(2 / 3), "gold": 2},
        "root": {"p": 1.0, "r": 1.0, "f": 1.0, "gold": 2},
    }
    stored = performance({"results": [scores]})
    assert stored["spans_constituents_per_type"]["NP"]["p"] == 1.0
    assert stored["dep_las_per_type"]["obj"]["r"] == 1.0
    assert "by_label" not in stored


def of(count: int) -> dict[str, float]:
    return {"p": 0.1234, "r": 1.0, "f": 0.2197, "gold": count}


def test_card() -> None:
    """Frequent labels first, rare ones left out; texts of meta.json before the tables."""
    labels = {
        "constituents": {"VP": of(LEAST), "NP": of(1234), "X": of(LEAST - 1)},
        "roles": {"ARG0": of(99)},
        "relations": {"obj": of(1)},
    }
    parses = {"results": [{"by_label": labels}, {"by_label": {"roles": {}}}]}
    row = {"pairs": 8, "found": 0.25, "marked_elsewhere": 0.0, "right_marked": 0.125}
    errors = {"kinds": {"articles": row}, "all": row}
    card = model_card(META, [parses, errors])
    assert card.index("What it gets wrong") < card.index("### Constituents by label")
    assert (
        "| `NP` | 1,234 | 12.3 | 100.0 | 22.0 |\n| `VP` | 20 | 12.3 | 100.0 | 22.0 |\n\n###" in card
    )
    assert "| `ARG0` | 99 |" in card
    assert "`X`" not in card
    assert "Relations" not in card
    assert card.endswith("| articles | 8 | 25.0% | 12.5% |\n| all | 8 | 25.0% | 12.5% |\n")


def test_scores_of_roles_and_errors_for_meta() -> None:
    keys = [f"srl_{part}{key}" for part in ("", "pred_") for key in "prf"]
    first = dict.fromkeys([*keys, "ged_f05"], 0.5) | {"roles": [], "ged_p": None, "words": 3}
    stored = performance({"results": [first, {"srl_f": 1.0}]})
    assert stored == dict.fromkeys([*keys, "ged_f05"], 0.5)
    assert performance({"kinds": {}, "all": {}}) == {}


def test_licence_names_the_text_and_the_sources() -> None:
    source = {"name": "A treebank", "url": "https://a.example", "license": "CC0", "author": "Ann"}
    assert licence({**META, "license": "CC BY 4.0", "author": "Bob", "sources": [source]}) == (
        "en_toy, by Bob\nLicence: CC BY 4.0\n\n"
        "https://creativecommons.org/licenses/by/4.0/legalcode\n\n"
        "Made with:\n\n- A treebank\n  Ann; CC0\n  https://a.example\n"
    )
    assert licence(META) == "en_toy, by its authors\nLicence: MIT\n"
