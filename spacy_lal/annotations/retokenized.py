"""Retokenisation and joining of annotated Docs: tags, heads, constituents and frames are kept."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, groupby
from typing import NamedTuple

from spacy.tokens import Doc
from spacy.vocab import Vocab

from ..trees.tree import LabelledSpan
from .constituents import CONSTITUENTS_KEY, get_constituents, set_constituents
from .dependency_heads import set_dependencies
from .frames import FRAMES_KEY, PREDICATE, FrameSpans, get_frames, set_frames

PARAGRAPH = "paragraph"
"""Key in `doc.user_data` of the name of a sentence's paragraph."""

WHITESPACE_RELATION = "dep"
"""Relation of a whitespace token."""
_MARKS = {"-": "HYPH", ".": ".", "!": ".", "?": ".", ",": ",", ":": ":", ";": ":"}
_LINKS = frozenset("-–/")


class Piece(NamedTuple):
    """Token of the new text. sources: the old tokens that it comes from, counted over all Docs."""

    text: str
    space: bool
    sources: range


def paragraphs(docs: Iterable[Doc]) -> Iterator[list[Doc]]:
    """Yield runs of Docs with the same paragraph name; each Doc without a name is a run."""
    keyed = ((doc.user_data.get(PARAGRAPH) or number, doc) for number, doc in enumerate(docs))
    for _, group in groupby(keyed, key=lambda pair: pair[0]):
        yield [doc for _, doc in group]


def as_they_are(docs: Sequence[Doc]) -> list[Piece]:
    """Return the tokens of all Docs as pieces, with a space between Docs and none at the end."""
    pieces: list[Piece] = []
    for doc in docs:
        if pieces:
            pieces[-1] = pieces[-1]._replace(space=True)
        for token in doc:
            at = len(pieces)
            pieces.append(Piece(token.text, bool(token.whitespace_), range(at, at + 1)))
    if pieces:
        pieces[-1] = pieces[-1]._replace(space=False)
    return pieces


def join_sentences(docs: Sequence[Doc], vocab: Vocab) -> Doc:
    """Join the Docs to one, with a space between them."""
    return rewritten(docs, as_they_are(docs), vocab)


def rewritten(docs: Sequence[Doc], pieces: Sequence[Piece], vocab: Vocab) -> Doc:
    """Return the Docs as one Doc of these pieces.

    A token in several pieces has a lead: its last piece with a letter or digit where hyphens or
    slashes link them ("e - mail"), else its first ("etc ."). The other pieces depend on the lead as
    compound, goeswith or punct; all pieces of a mark ("! !") have the mark's head.
    A piece of several tokens has the annotation of the highest of them. Whitespace has no tag and
    depends on the token before it. The dependents of a removed token move to its head; removing a
    root raises ValueError. Constituents and roles without characters are removed.
    Heads, tags and frames are kept if all Docs have them. Where some Docs have constituents,
    sentences of the other Docs are "unparsed" (see `set_constituents`).
    """
    old = _Old(docs)
    new = _New(old, pieces)
    tagged = all(doc.has_annotation("TAG") for doc in docs)
    doc = Doc(
        vocab,
        words=[piece.text for piece in pieces],
        spaces=[piece.space for piece in pieces],
        tags=new.tags if tagged else None,
        pos=new.pos if all(doc.has_annotation("POS") for doc in docs) else None,
        lemmas=[old.tokens[top].lemma_ if top >= 0 else "" for top in new.tops],
        morphs=[str(old.tokens[top].morph) if top >= 0 else "" for top in new.tops],
        sent_starts=new.sentence_starts(),
    )
    if all(doc.has_annotation("DEP") for doc in docs):
        set_dependencies(doc, *new.dependencies())
    if any(CONSTITUENTS_KEY in doc.spans for doc in docs):
        trees, unparsed = old.constituents()
        set_constituents(
            doc, new.spans(trees), unparsed=[(i, j) for i, j, _ in new.spans(unparsed)]
        )
    if all(FRAMES_KEY in doc.spans for doc in docs):
        set_frames(doc, new.frames())
    if PARAGRAPH in docs[0].user_data:
        doc.user_data[PARAGRAPH] = docs[0].user_data[PARAGRAPH]
    return doc


class _Old:
    def __init__(self, docs: Sequence[Doc]) -> None:
        self.docs = docs
        self.offsets = list(accumulate(map(len, docs), initial=0))[:-1]
        self.tokens = [token for doc in docs for token in doc]
        self.heads = [t.head.i + first for doc, first in self.placed() for t in doc]
        starts = (token.i == 0 or bool(token.is_sent_start) for token in self.tokens)
        self.sentences = list(accumulate(map(int, starts)))

    def placed(self) -> Iterator[tuple[Doc, int]]:
        return zip(self.docs, self.offsets, strict=True)

    def constituents(self) -> tuple[list[LabelledSpan], list[LabelledSpan]]:
        trees, unparsed = [], []
        for doc, first in self.placed():
            if CONSTITUENTS_KEY not in doc.spans:
                unparsed.append((first, first + len(doc), ""))
            trees += [(i + first, j + first, label) for i, j, label in get_constituents(doc)]
        return trees, unparsed


class _New:
    """Annotation of the pieces.

    own: for each old token the range of its pieces.
    tops: for each piece the highest of its old tokens, -1 for whitespace.
    leads: for each old token the piece on which its others depend.
    """

    def __init__(self, old: _Old, pieces: Sequence[Piece]) -> None:
        self.old, self.pieces = old, pieces
        self.own = [range(0)] * len(old.tokens)
        for at, piece in enumerate(pieces):
            for source in piece.sources:
                first = self.own[source].start if self.own[source] else at
                self.own[source] = range(first, at + 1)
        self.tops = [_top(piece.sources, old.heads) for piece in pieces]
        self.leads = [
            own[_lead([pieces[at].text for at in own])] if own else -1 for own in self.own
        ]
        self.tags, self.pos = [], []
        for at, (piece, top) in enumerate(zip(pieces, self.tops, strict=True)):
            if top < 0:
                tag, pos = "", "SPACE"
            elif self._is_new_mark(at):
                tag, pos = self._tag_of_mark(top, piece.text), "PUNCT"
            else:
                tag, pos = old.tokens[top].tag_, old.tokens[top].pos_
            self.tags.append(tag)
            self.pos.append(pos)

    def _is_new_mark(self, at: int) -> bool:
        top = self.tops[at]
        return at != self.leads[top] and _is_mark(self.pieces[at].text)

    def _tag_of_mark(self, token: int, mark: str) -> str:
        old = self.old.tokens[token]
        return _MARKS.get(mark, old.tag_) if old.doc.lang_ == "en" else ""

    def sentence_starts(self) -> list[bool | int | None]:
        starts: list[bool | int | None] = []
        last = -1
        for piece in self.pieces:
            sentences = [self.old.sentences[source] for source in piece.sources]
            starts.append(not starts or bool(sentences and sentences[0] > last))
            last = max(last, *sentences[-1:], -1)
        return starts

    def dependencies(self) -> tuple[list[int], list[str]]:
        heads: list[int] = []
        relations: list[str] = []
        for at, top in enumerate(self.tops):
            if top < 0:
                heads.append(max(at - 1, 0))
                relations.append(WHITESPACE_RELATION)
                continue
            lead, token = self.leads[top], self.old.tokens[top]
            above = self._lead_above(top)
            mark = _is_mark(self.pieces[at].text)
            if at == lead or (above != lead and _is_mark(token.text)):
                heads.append(above)
                relations.append("ROOT" if above == at else token.dep_)
            else:
                heads.append(lead)
                relations.append("punct" if mark else "compound" if at < lead else "goeswith")
        return heads, relations

    def _lead_above(self, token: int) -> int:
        head = self.old.heads[token]
        while not self.own[head]:
            if head == self.old.heads[head]:
                raise ValueError(f"the root {self.old.tokens[head].text!r} is gone")
            head = self.old.heads[head]
        # a piece of several tokens leads for the highest
        return self.leads[self.tops[self.leads[head]]]

    def spans(self, spans: Iterable[LabelledSpan]) -> list[LabelledSpan]:
        moved = []
        for start, end, label in spans:
            inside = [own for own in self.own[start:end] if own]
            if inside:
                moved.append((inside[0].start, inside[-1].stop, label))
        return moved

    def frames(self) -> list[FrameSpans]:
        found = []
        for doc, first in self.old.placed():
            for frame in get_frames(doc):
                old = [(s.start + first, s.end + first, s.label_) for s in frame.spans]
                spans = self.spans(old)
                predicate = self.leads[frame.predicate.i + first]
                if predicate >= 0 and any(label == PREDICATE for *_, label in spans):
                    found.append(FrameSpans(predicate, frame.roleset, spans))
        return found


def _top(sources: range, heads: Sequence[int]) -> int:
    return next((s for s in sources if heads[s] not in sources or heads[s] == s), -1)


def _lead(texts: Sequence[str]) -> int:
    words = [at for at, text in enumerate(texts) if not _is_mark(text)]
    if not words:
        return 0
    linked = any(set(text) <= _LINKS for text in texts[words[0] : words[-1]])
    return words[-1] if linked else words[0]


def _is_mark(text: str) -> bool:
    return not any(character.isalnum() for character in text)
