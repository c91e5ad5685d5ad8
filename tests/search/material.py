"""Sentences with trees, heads, roles, lemmas and entities, annotated by hand."""

from __future__ import annotations

from spacy.tokens import Doc, Span

from spacy_lal.annotations import FrameSpans, set_constituents, set_frames
from spacy_lal.formats.treebank_sentence import language_vocab

Rows = list[tuple[str, str, str, int, str]]

BRIDGE: Rows = [
    ("The", "DT", "the", 2, "det"),
    ("old", "JJ", "old", 2, "amod"),
    ("bridge", "NN", "bridge", 4, "nsubj:pass"),
    ("was", "VBD", "be", 4, "aux:pass"),
    ("closed", "VBN", "close", 4, "ROOT"),
    ("by", "IN", "by", 7, "case"),
    ("the", "DT", "the", 7, "det"),
    ("council", "NN", "council", 4, "obl:agent"),
    ("\n", "_SP", "\n", 4, "dep"),
    (".", ".", ".", 4, "punct"),
]
GIFT: Rows = [
    ("Mira", "NNP", "Mira", 1, "nsubj"),
    ("gave", "VBD", "give", 1, "ROOT"),
    ("Tom", "NNP", "Tom", 1, "iobj"),
    ("maps", "NNS", "map", 1, "obj"),
    ("and", "CC", "and", 5, "cc"),
    ("letters", "NNS", "letter", 3, "conj"),
    ("that", "WDT", "that", 8, "nsubj:pass"),
    ("were", "VBD", "be", 8, "aux:pass"),
    ("lost", "VBN", "lose", 5, "acl:relcl"),
    (".", ".", ".", 1, "punct"),
]


def doc() -> Doc:
    """Both sentences, with all annotation. The first has a line break within."""
    rows = [*BRIDGE, *((w, t, m, head + len(BRIDGE), d) for w, t, m, head, d in GIFT)]
    words, tags, lemmas, heads, deps = map(list, zip(*rows, strict=True))
    made = Doc(
        language_vocab("en"), words=words, tags=tags, lemmas=lemmas, heads=heads, deps=deps,
        pos=["NOUN" if tag.startswith("NN") else "X" for tag in tags],
        morphs=["Number=Plur" if tag == "NNS" else "" for tag in tags],
    )  # fmt: skip
    bridge = [(0, 10, "S"), (0, 3, "NP"), (3, 8, "VP"), (4, 8, "VP"), (5, 8, "PP"), (6, 8, "NP")]
    gift = [(0, 10, "S"), (0, 1, "NP"), (1, 9, "VP"), (2, 3, "NP"), (3, 9, "NP"), (3, 6, "NP")]
    gift += [(3, 4, "NP"), (5, 6, "NP"), (6, 9, "SBAR"), (6, 7, "WHNP"), (7, 9, "S"), (7, 9, "VP")]
    gift += [(8, 9, "VP")]
    set_constituents(made, [*bridge, *((s + 10, e + 10, label) for s, e, label in gift)])
    set_frames(
        made,
        [
            FrameSpans(4, "close.01", [(4, 5, "V"), (0, 3, "ARG1"), (5, 8, "ARG0")]),
            FrameSpans(
                11,
                "give.01",
                [(11, 12, "V"), (10, 11, "ARG0"), (12, 13, "ARG2"), (13, 19, "ARG1")],
            ),
            FrameSpans(18, "lose.02", [(18, 19, "V"), (13, 16, "ARG1"), (16, 17, "R-ARG1")]),
        ],
    )
    made.set_ents([Span(made, 10, 11, "PERSON"), Span(made, 12, 13, "PERSON")], default="outside")
    return made
