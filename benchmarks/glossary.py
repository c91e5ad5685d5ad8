"""The tables of docs/glossary.md: meanings of labels from `spacy.explain`, with examples."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from pathlib import Path

import spacy

from spacy_lal import install_extensions

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "docs/glossary.toml"
LABELS = ROOT / "spacy_lal/annotations/labels.json"


def tables() -> str:
    """Return a table of each section of examples, then the kinds of errors."""
    install_extensions()
    labels = json.loads(LABELS.read_text("utf8"))
    parts = []
    for section, examples in tomllib.loads(EXAMPLES.read_text("utf8")).items():
        rows = [
            f"| `{label}` | {meaning(label)} | {example.replace('*', '**')} |"
            for label, example in examples.items()
        ]
        table = "\n".join(["| label | meaning | example |", "|---|---|---|", *rows])
        parts += [f"## {section}", table]
        if section == "Constituents":
            rest = labels["constituents"].keys() - examples.keys()
            parts.append(listed({label: meaning(label) for label in sorted(rest)}))
    prefixes = {
        prefix: text.removesuffix(": ") for prefix, text in labels["error prefixes"].items()
    }
    parts += ["## Kinds of errors", listed(prefixes), listed(labels["errors"])]
    return "\n\n".join(parts)


def meaning(label: str) -> str:
    """Return what `spacy.explain` says. Raises ValueError for a label that it doesn't know."""
    found = spacy.explain(label)
    if found is None:
        raise ValueError(f"spacy.explain doesn't know {label}")
    return found


def listed(meanings: Mapping[str, str]) -> str:
    """Return labels with their meanings as a sentence."""
    return "; ".join(f"`{label}` {text}" for label, text in meanings.items()) + "."
