"""Extension attributes: views of span groups, as functions that worker processes can pickle; and
the meanings of labels for `spacy.explain`."""

import json
from functools import cache
from pathlib import Path
from typing import Any

from spacy.glossary import GLOSSARY
from spacy.tokens import Doc, Span, Token

from .clauses import get_clauses
from .constituents import constituent_tree, sentence_trees
from .corrected import corrected_text
from .frames import FRAMES_KEY, Frame, frame_at, frame_positions, get_frames
from .grammar_errors import ERRORS_KEY, error_scores, grammar_errors
from .phrases import (
    constituent_children,
    constituent_head,
    constituent_labels,
    constituent_parent,
    constituent_siblings,
    get_phrases,
)
from .span_groups import LoopIndex, current_spans, span_scores
from .triples import get_triples

_FRAMES = LoopIndex(frame_positions)
_WRONG = LoopIndex(lambda group: {i for s in current_spans(group) for i in range(s.start, s.end)})
_SCORES = LoopIndex(lambda group: error_scores(group.doc))


def _token_frame(token: Token) -> Frame | None:
    found = _FRAMES.at(token.doc, FRAMES_KEY, token.i, again=lambda index: token.i in index)
    if not found or token.i not in found:
        return None
    group = token.doc.spans[FRAMES_KEY]
    return frame_at(group, span_scores(group), found[token.i])


def _is_error(token: Token) -> bool:
    return token.i in (_WRONG.at(token.doc, ERRORS_KEY, token.i) or ())


def _error_score(token: Token) -> float | None:
    scores = _SCORES.at(token.doc, ERRORS_KEY, token.i)
    return None if scores is None else scores[token.i]


_VIEWS: list[tuple[Any, str, Any]] = [
    (Doc, "trees", sentence_trees),
    (Span, "tree", constituent_tree),
    (Doc, "frames", get_frames),
    (Token, "frame", _token_frame),
    (Doc, "grammar_errors", grammar_errors),
    (Doc, "corrected", corrected_text),
    (Token, "is_error", _is_error),
    (Token, "error_score", _error_score),
    (Span, "constituent_parent", constituent_parent),
    (Span, "constituent_children", constituent_children),
    (Span, "constituent_siblings", constituent_siblings),
    (Span, "constituent_labels", constituent_labels),
    (Span, "constituent_head", constituent_head),
    (Doc, "clauses", get_clauses),
    (Doc, "triples", get_triples),
]


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
        meanings[prefix.rstrip(":")] = before.rstrip(": ")
    return meanings


def install_extensions() -> None:
    """Register the extension attributes of Docs, Spans and Tokens; names already taken stay.

    These are `Doc._.trees`, `Span._.tree`, `Doc._.frames`, `Token._.frame` (first frame whose
    predicate is the token, or None), `Doc._.grammar_errors`, `Doc._.corrected` (the text with
    likely suggestions in it), `Token._.is_error` and `Token._.error_score` (probability of a
    grammatical error, None if unknown); of constituents
    `Span._.constituent_parent`, `…_children`, `…_siblings`, `…_labels` and `…_head`, and
    `Doc._.phrases(label)`; of English `Doc._.clauses` and `Doc._.triples`. A loop over tokens,
    sentences or constituents reads each span group once. `spacy.explain` learns the meanings of
    labels; those that it knows stay, but for SBAR, which it takes for a conjunction.
    """
    known = label_meanings()
    GLOSSARY.update({**known, **GLOSSARY, "SBAR": known["SBAR"]})
    for kind, name, getter in _VIEWS:
        if not kind.has_extension(name):
            kind.set_extension(name, getter=getter)
    if not Doc.has_extension("phrases"):
        Doc.set_extension("phrases", method=get_phrases)
