"""What English says by which words, tags and relations (english.toml); heads of other schemes."""

import tomllib
from pathlib import Path

from spacy.tokens import Doc

_READ = tomllib.loads(Path(__file__).with_name("english.toml").read_text("utf8"))
ENGLISH: dict[str, dict[str, frozenset[str]]] = {
    table: {name: frozenset(words.split()) for name, words in entries.items()}
    for table, entries in _READ.items()
}
"""Tables of english.toml: sets of words, tags and relations by their names."""
_OTHER_SCHEME = ENGLISH["heads"]["other"]


def has_other_relations(doc: Doc) -> bool:
    """Whether the heads have relations of spaCy's English pipelines, and no universal ones."""
    return any(token.dep_ in _OTHER_SCHEME for token in doc)


def check_heads(doc: Doc, view: str) -> None:
    """Raise ValueError unless the Doc has tags, heads and relations of Universal Dependencies."""
    if has_other_relations(doc):
        found = next(token.dep_ for token in doc if token.dep_ in _OTHER_SCHEME)
        raise ValueError(
            f"{view} reads relations of Universal Dependencies, and the Doc has {found!r}, as of "
            "spaCy's English pipelines. Take heads of lal_constituency, lal_dependency or lisa_srl."
        )
    if doc.has_annotation("DEP") and doc.has_annotation("TAG"):
        return
    if doc.text.strip():
        raise ValueError(
            f"{view} needs heads and tags (token.dep_ and token.tag_), and the Doc has none: add a "
            "component that writes them, such as lal_constituency with joint heads"
        )
