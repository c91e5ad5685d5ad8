"""Universal tags (UPOS) of English words, from Penn tags, words and relations.

The rules, in universal_tags.json, follow the English Web Treebank of Universal Dependencies.
https://universaldependencies.org/u/pos/
"""

import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from spacy.tokens import Doc

_Table = dict[tuple[str, str], str]


@cache
def _tables() -> tuple[dict[str, str], _Table, _Table, _Table]:
    """Return universal tags by tag; and by tag and relation, word, word without a relation."""
    read = json.loads(Path(__file__).with_name("universal_tags.json").read_text("utf8"))
    tags = {tag: upos for upos, penn in read["tags"].items() for tag in penn.split()}
    by_relation, by_word, alone = (
        {
            (tag, other): upos
            for upos, rules in read[name].items()
            for penn, others in rules.items()
            for tag in penn.split()
            for other in others.split()
        }
        for name in ("relations", "words", "words without a relation")
    )
    return tags, by_relation, by_word, by_word | alone


def universal_tags(
    words: Sequence[str], tags: Sequence[str], relations: Sequence[str] | None = None
) -> list[str]:
    """Return the universal tag of each word, "" for a tag that isn't of the Penn Treebank or of the
    LDC's later English treebanks.

    relations: Universal Dependencies, "" for a word without one. They tell, for example, a
    preposition from a conjunction, both IN. Without them the most frequent reading is taken. Raises
    ValueError if the numbers of words, tags and relations differ.
    """
    by_tag, by_relation, by_word, alone = _tables()
    found = []
    for word, tag, relation in zip(words, tags, relations or [""] * len(words), strict=True):
        key = tag, word.lower()
        kind = relation.partition(":")[0]
        if kind == "goeswith" and tag in by_tag:
            found.append("X")  # a piece of the word before
        else:
            general = (by_word if kind else alone).get(key) or by_tag.get(tag, "")
            found.append(by_relation.get((tag, kind)) or general)
    return found


def set_universal_tags(doc: Doc) -> None:
    """Write `token.pos_` of each token without one, from its tag, word and relation. Whitespace is
    SPACE."""
    found = universal_tags(
        [token.text for token in doc],
        [token.tag_ for token in doc],
        [token.dep_ for token in doc],
    )
    for token, upos in zip(doc, found, strict=True):
        if not token.pos:
            token.pos_ = "SPACE" if token.is_space else upos
