"""Docs as nobody would make them, drawn by hypothesis: any text, any tokens, half an annotation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st
from spacy.language import Language
from spacy.tokens import Doc

WORDS = """
The the cat dogs gave gives She they saw man with a telescope old book to her and not n't . ! ? , ;
( ) " '' `` -- - : 's who which because been being walks informations New York 3.5 % $ http://x.y/z
a@b.co #tag :-) -LRB- *T*-1 can't don't U.S. e.g. … « » “ ” ’ the.The
""".split()  # noqa: SIM905
ELSEWHERE = """
猫が座った 我们 今天 ไม่เป็นไร مرحبا שלום Привет Grüße façade naïve ñandú Việt_Nam हिन्दी
안녕 ǅ İ ß ﬃ e\u0301
👍🏽 🏳️\u200d🌈 🧑\u200d🚀 𝔘𝔫𝔦 \u200b \u200d \u202e \ufeff \u00ad \ue000 \ufffd \U0010ffff ٣ Ⅷ
""".split()  # noqa: SIM905
CONTROL = ["\x00", "\x01", "\x1b[31m", "\x7f", "\x85", "a\x00b", "\x0b", "\x1c", "\ufffe"]
SPACES = [" ", "  ", "\n", "\n\n", "\r\n", "\t", "\u00a0", "\u2003", "\u2028", "\u3000", "\x0c"]

characters = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8)
pieces = st.one_of(
    st.sampled_from(WORDS),
    st.sampled_from(WORDS),
    st.sampled_from(ELSEWHERE),
    st.sampled_from(CONTROL),
    st.sampled_from(SPACES),
    characters,
    st.builds(lambda text, n: text * n, st.sampled_from("xA.-1\u0301猫😀"), st.integers(30, 400)),
)


@dataclass(frozen=True)
class Made:
    """A Doc to be made, as often as one likes.

    text: of a Doc that the pipeline's tokenizer makes, else `words` and `spaces` are its tokens.
    starts, tags, heads: what is annotated, None where a token isn't; all shorter or longer than
        the Doc is, no matter. merged: (start, length) of tokens that become one. parts: of a Doc
        that `Doc.from_docs` makes of others.
    """

    text: str = ""
    words: tuple[str, ...] = ()
    spaces: tuple[bool, ...] = ()
    starts: tuple[bool | None, ...] = ()
    tags: tuple[str | None, ...] = ()
    heads: tuple[bool, ...] = ()
    merged: tuple[int, int] | None = None
    parts: tuple[Made, ...] = ()

    @property
    def has_heads(self) -> bool:
        return any(self.heads) or any(part.has_heads for part in self.parts)

    def doc(self, nlp: Language) -> Doc:
        if self.parts:
            parts = [part.doc(nlp) for part in self.parts]
            doc = Doc.from_docs(parts) or Doc(nlp.vocab)
        elif self.words:
            count = len(self.words)
            spaces = [*self.spaces, *[True] * count][:count]
            doc = Doc(nlp.vocab, words=list(self.words), spaces=spaces)
        else:
            doc = nlp.make_doc(self.text)
        for token, tag in zip(doc, self.tags, strict=False):
            if tag is not None:
                token.tag_ = tag
        if any(self.heads) and len(doc) > 1:
            # each token hangs on the one before it; some have no relation, which spaCy takes for
            # "has no head"
            deps = ["dep" if known else "" for known, _ in zip(self.heads, doc, strict=False)]
            deps = [*deps, *[""] * (len(doc) - len(deps))]
            for token, dep in zip(doc, deps, strict=True):
                if dep:
                    token.head = doc[max(token.i - 1, 0)]
                    token.dep_ = dep
        elif not self.has_heads:  # spaCy refuses both
            for token, start in zip(doc, self.starts, strict=False):
                token.is_sent_start = start
        if self.merged is not None and len(doc) > self.merged[0]:
            start, length = self.merged
            with doc.retokenize() as retokenizer:
                retokenizer.merge(doc[start : start + length])
        return doc


def _optional(values: Any) -> Any:
    return st.one_of(st.just(()), st.lists(values, max_size=20).map(tuple))


def _made(leaves: Any) -> Any:
    return st.builds(
        Made,
        text=st.one_of(
            st.lists(pieces, max_size=25).map(" ".join),
            st.lists(pieces, max_size=12).map("".join),
            st.lists(st.sampled_from(SPACES), max_size=3).map("".join),
        ),
        words=st.one_of(st.just(()), st.lists(pieces, max_size=15).map(tuple)),
        spaces=st.lists(st.booleans(), max_size=15).map(tuple),
        starts=_optional(st.sampled_from([None, True, False])),
        tags=_optional(st.sampled_from([None, None, "NN", "_SP", "NONSENSE"])),
        heads=st.one_of(st.just(()), st.just(()), _optional(st.booleans())),
        merged=st.one_of(st.none(), st.tuples(st.integers(0, 6), st.integers(1, 4))),
        parts=leaves,
    )


made = _made(st.one_of(*[st.just(())] * 5, st.lists(_made(st.just(())), max_size=3).map(tuple)))
batches = st.lists(made, min_size=1, max_size=6)
