"""Meanings of the labels of trees, relations, frames and errors, for `spacy.explain`."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

from spacy.glossary import GLOSSARY


@cache
def label_meanings() -> dict[str, str]:
    """Return the meaning of each label in `labels.json`. Roles have the prefixes C- and R- too, and
    types of errors M:, R: and U:."""
    known = json.loads(Path(__file__).with_name("labels.json").read_text("utf8"))
    meanings = {"ERROR": "grammatical error", **known["constituents"], **known["tags"]}
    meanings |= known["relations"] | known["roles"]
    for prefix, before in known["role prefixes"].items():
        arguments = {role: text for role, text in known["roles"].items() if role.startswith("ARG")}
        meanings |= {prefix + role: f"{before}{text}" for role, text in arguments.items()}
    for prefix, before in known["error prefixes"].items():
        meanings |= {prefix + kind: f"{before}{text}" for kind, text in known["errors"].items()}
    return meanings


def install_glossary() -> None:
    """Add the labels to spaCy's glossary, which `spacy.explain` reads. Labels that spaCy explains
    stay, but for SBAR, which it takes for a conjunction."""
    known = label_meanings()
    GLOSSARY.update({**known, **GLOSSARY, "SBAR": known["SBAR"]})
