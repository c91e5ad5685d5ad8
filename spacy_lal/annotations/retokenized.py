"""Retokenisation and joining of annotated Docs: tags, heads, constituents and frames are kept."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, groupby
from typing import NamedTuple

from spacy.tokens import Doc
from spacy.vocab import Vocab

from ..trees.tree import LabelledSpan
from .constituents import CONSTITUENTS_KEY, get_constituents, set_constituents
from .frames import FRAMES_KEY, PREDICATE, FrameSpans, get_frames, set_frames
from .words import set_dependencies

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
    moved = _Moved(docs, pieces)
    tags, pos = moved.tags()
    tops = [moved.tokens[top] if top >= 0 else None for top in moved.tops]
    doc = Doc(
        vocab,
        words=[piece.text for piece in pieces],
        spaces=[piece.space for piece in pieces],
        tags=tags if all(doc.has_annotation("TAG") for doc in docs) else None,
        pos=pos if all(doc.has_annotation("POS") for doc in docs) else None,
        lemmas=[token.lemma_ if token else "" for token in tops],
        morphs=[str(token.morph) if token else "" for token in tops],
        sent_starts=moved.sentence_starts(),
    )
    if all(doc.has_annotation("DEP") for doc in docs):
        set_dependencies(doc, *moved.dependencies())
    if any(CONSTITUENTS_KEY in doc.spans for doc in docs):
        trees, unparsed = list[LabelledSpan](), list[LabelledSpan]()
        for old, first in moved.placed:
            trees += [(i + first, j + first, label) for i, j, label in get_constituents(old)]
            if CONSTITUENTS_KEY not in old.spans:
                unparsed.append((first, first + len(old), ""))
        bare = [(start, end) for start, end, _ in moved.spans(unparsed)]
        set_constituents(doc, moved.spans(trees), unparsed=bare)
    if all(FRAMES_KEY in doc.spans for doc in docs):
        set_frames(doc, moved.frames())
    if PARAGRAPH in docs[0].user_data:
        doc.user_data[PARAGRAPH] = docs[0].user_data[PARAGRAPH]
    return doc


class _Moved:
    """Annotation of Docs on pieces; tokens are counted through all Docs.

    placed: the Docs with the number of tokens before them.
    own: for each token the range of its pieces.
    tops: for each piece the highest of its tokens, -1 for whitespace.
    leads: for each token the piece on which its others depend, -1 without any.
    """

    def __init__(self, docs: Sequence[Doc], pieces: Sequence[Piece]) -> None:
        self.pieces = pieces
        self.placed = list(zip(docs, accumulate(map(len, docs), initial=0), strict=False))
        self.tokens = [token for doc in docs for token in doc]
        self.heads = [token.head.i + first for doc, first in self.placed for token in doc]
        self.own = [range(0)] * len(self.tokens)
        for at, piece in enumerate(pieces):
            for source in piece.sources:
                first = self.own[source].start if self.own[source] else at
                self.own[source] = range(first, at + 1)
        self.tops = [_top(piece.sources, self.heads) for piece in pieces]
        self.leads = [
            own[_lead([pieces[at].text for at in own])] if own else -1 for own in self.own
        ]

    def tags(self) -> tuple[list[str], list[str]]:
        """Return the tag and the universal tag of every piece. Marks beside a lead have their own;
        in other languages than English they have no tag."""
        tags, pos = [], []
        for at, (piece, top) in enumerate(zip(self.pieces, self.tops, strict=True)):
            tag, universal = "", "SPACE"
            if top >= 0:
                tag, universal = self.tokens[top].tag_, self.tokens[top].pos_
                if at != self.leads[top] and _is_mark(piece.text):
                    english = self.tokens[top].doc.lang_ == "en"
                    tag, universal = _MARKS.get(piece.text, tag) if english else "", "PUNCT"
            tags.append(tag)
            pos.append(universal)
        return tags, pos

    def sentence_starts(self) -> list[bool | int | None]:
        old = accumulate(token.i == 0 or bool(token.is_sent_start) for token in self.tokens)
        sentences = list(old)
        starts: list[bool | int | None] = []
        last = -1
        for piece in self.pieces:
            found = [sentences[source] for source in piece.sources]
            starts.append(not starts or bool(found and found[0] > last))
            last = max(last, *found[-1:], -1)
        return starts

    def dependencies(self) -> tuple[list[int], list[str]]:
        heads: list[int] = []
        relations: list[str] = []
        for at, top in enumerate(self.tops):
            head, relation = max(at - 1, 0), WHITESPACE_RELATION
            if top >= 0:
                head, lead = self._above(top), self.leads[top]
                relation = "ROOT" if head == at else self.tokens[top].dep_
                if at != lead and (head == lead or not _is_mark(self.tokens[top].text)):
                    head, relation = lead, "compound" if at < lead else "goeswith"
                    if _is_mark(self.pieces[at].text):
                        relation = "punct"
            heads.append(head)
            relations.append(relation)
        return heads, relations

    def _above(self, token: int) -> int:
        """Return the lead of the nearest head that has pieces."""
        head = self.heads[token]
        while not self.own[head]:
            if head == self.heads[head]:
                raise ValueError(f"the root {self.tokens[head].text!r} is gone")
            head = self.heads[head]
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
        for doc, first in self.placed:
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
