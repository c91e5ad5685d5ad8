"""Sentences of Docs, for models that read one sentence at a time."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy
from spacy.attrs import IS_SPACE, SENT_START
from spacy.tokens import Doc, SpanGroup, Token

from ..annotations.escapes import plain_doc
from ..trees.tree import LabelledSpan

SentencePolicy = Literal["split", "existing", "doc"]
LongSentencePolicy = Literal["split", "flat", "error"]

_FINAL = {".", "!", "?", "…", "。", "！", "？", "।", "۔", "؟"}
_CLOSING = {"”", "’", ")", "]", "}"}
# Marks that open or close, and what each closes. “ and « close in German, » opens there.
_QUOTES = {
    '"': {'"'},
    "'": {"'"},
    "''": {"''", "``"},
    "“": {"„"},
    "‘": {"‚"},
    "«": {"»"},
    "‹": {"›"},
    "»": {"«"},
    "›": {"‹"},
}
_OPENING = {"``", "„", "‚"}
_BREAKS = {";", ":", ",", "--", "—", "–", "-", "...", "…"}


class Sentence(NamedTuple):
    """The words of one sentence, or of one piece of a sentence that is too long to parse whole.

    doc: index in the batch of Docs. start, end: the tokens covered, whitespace included. words:
    indices of words. parsed: False where the policy is "flat". first: False for later pieces.
    """

    doc: int
    start: int
    end: int
    words: numpy.ndarray
    parsed: bool = True
    first: bool = True


def in_words(spans: Iterable[LabelledSpan], sentence: Sentence) -> list[LabelledSpan]:
    """Returns the spans inside the sentence, counted in its words, without spans of whitespace."""
    words = sentence.words
    inside = [s for s in spans if sentence.start <= s[0] and s[1] <= sentence.end]
    starts = numpy.searchsorted(words, [s[0] for s in inside])
    ends = numpy.searchsorted(words, [s[1] for s in inside])
    return [
        (int(i), int(j), label)
        for i, j, (_, _, label) in zip(starts, ends, inside, strict=True)
        if i < j
    ]


def places_of(group: SpanGroup) -> numpy.ndarray:
    """Returns the starts and ends [K,2] of a group's spans, by their starts."""
    found = numpy.array([(span.start, span.end) for span in group], dtype=numpy.int64)
    found = found.reshape(-1, 2)
    return found[found[:, 0].argsort(kind="stable")]


def within(spans: numpy.ndarray, sentence: Sentence) -> numpy.ndarray:
    """Returns what `in_words` does, without labels, of `places_of`: one look at each span of a Doc
    for all of its sentences."""
    first, last = numpy.searchsorted(spans[:, 0], [sentence.start, sentence.end])
    own = spans[first:last]
    found = numpy.searchsorted(sentence.words, own[own[:, 1] <= sentence.end])
    return found[found[:, 0] < found[:, 1]]


def heads_in_words(heads: numpy.ndarray, sentence: Sentence) -> numpy.ndarray:
    """Returns the head of each word: 0 the root, k the sentence's word k, -1 none.

    heads: for every token of the Doc the index of its head, the index itself for a root, -1 for
    none. A head outside of the sentence, or on whitespace, counts as none.
    """
    words = sentence.words
    heads = heads[words]
    position = numpy.searchsorted(words[:-1], heads)
    found = numpy.where(words[position] == heads, position + 1, -1)
    return numpy.where(words == heads, 0, found)


@dataclass(frozen=True)
class Reading:
    """The settings of all components that read sentence by sentence.

    sentences: "split" keeps the Doc's sentences, and finds sentences by rule in a Doc without;
    "existing" raises an error for a Doc without; "doc" reads every Doc as one sentence.
    max_sentence_length: maximum in words. long_sentences: "split" reads a longer sentence in
    pieces, which end after punctuation where possible, else at the maximum length; "flat" doesn't
    read it; "error" raises an error.
    """

    sentences: SentencePolicy = "split"
    max_sentence_length: int = 512
    long_sentences: LongSentencePolicy = "split"

    def __post_init__(self) -> None:
        if self.max_sentence_length < 1:
            raise ValueError(
                f"max_sentence_length must be at least 1, got {self.max_sentence_length}"
            )

    def split(self, docs: Iterable[Doc]) -> list[Sentence]:
        """Returns the sentences of all docs, in order, without sentences that have no words. Raises
        ValueError, where the settings say so, for a Doc without sentences or a long sentence."""
        longest = self.max_sentence_length
        sentences = []
        for d, doc in enumerate(docs):
            starts = sentence_starts(doc, self.sentences)
            spaces = doc.to_array(IS_SPACE).astype(bool)
            for start, end in zip(starts, [*starts, len(doc)][1:], strict=True):
                words = start + numpy.flatnonzero(~spaces[start:end])
                if len(words) <= longest or self.long_sentences == "flat":
                    if len(words):
                        parsed = len(words) <= longest
                        sentences.append(Sentence(d, start, end, words, parsed))
                    continue
                if self.long_sentences == "error":
                    raise ValueError(
                        f"a sentence has {len(words)} words, but max_sentence_length is {longest}: "
                        f'{doc[start : start + 8].text!r}… Set long_sentences = "split" or "flat" '
                        "to read it anyway."
                    )
                for k, piece in enumerate(_pieces(doc, words, longest)):
                    first = start if k == 0 else int(piece[0])
                    sentences.append(Sentence(d, first, int(piece[-1]) + 1, piece, first=k == 0))
        return sentences


def sentence_starts(doc: Doc, policy: SentencePolicy) -> list[int]:
    """Returns token indices at which sentences start. Raises ValueError if the policy is "existing"
    and the Doc has no sentence boundaries."""
    if len(doc) == 0:
        return []
    if policy == "doc":
        return [0]
    if doc.has_annotation("SENT_START"):
        starts = doc.to_array(SENT_START)
        return [0, *(numpy.flatnonzero(starts[1:] == 1) + 1).tolist()]
    if policy == "existing":
        raise ValueError(
            f"the Doc {doc.text[:40]!r} has no sentence boundaries. Add a 'senter', 'sentencizer' "
            "or 'parser' before this component (when training, name it in "
            '[training] annotating_components), set sentences = "split" to have them found by '
            'rule, or sentences = "doc" to read each Doc as one sentence.'
        )
    return _starts_by_rule(plain_doc(doc))


def _starts_by_rule(doc: Doc) -> list[int]:
    """Ends sentences at blank lines, and at final punctuation before a likely beginning. The rule
    is cautious: a missed boundary costs less than a broken sentence. Whitespace and marks that
    close belong to the sentence before them."""
    starts = [0]
    words = 0  # of the sentence so far
    final = blank = False
    quotes: list[str] = []  # open so far
    for token in doc:
        text = token.text
        if token.is_space:
            if text.count("\n") > 1 and words:
                blank = True
                quotes.clear()
            continue
        closes = _closes(token, quotes)
        if (blank and not closes) or (final and not closes and _begins(token)):
            starts.append(token.i)
            words = 0
        if not closes:
            final = blank = False
        final = final or set(text) <= _FINAL
        words += 1
    return starts


def _closes(token: Token, quotes: list[str]) -> bool:
    """Returns whether the token is a mark that closes. `quotes`, the quotes that are open before
    it, are brought up to date."""
    text = token.text
    if text in _OPENING:
        quotes.append(text)
    if text not in _QUOTES:
        return text in _CLOSING
    doc = token.doc
    before = token.i > 0 and (bool(doc[token.i - 1].whitespace_) or doc[token.i - 1].is_space)
    rest = next((t for t in doc[token.i + 1 :] if not t.is_space), None)
    behind = bool(token.whitespace_) or rest is None or rest.i > token.i + 1
    opened = next((k for k, quote in enumerate(quotes) if quote in _QUOTES[text]), None)
    if token.i == 0:
        closes = False
    elif rest is None:
        closes = True
    elif before != behind:
        closes = behind
    else:
        closes = opened is not None or (text in {"»", "›"} and not quotes)
    if not closes:
        quotes.append(text)
    elif opened is not None:
        del quotes[opened:]
    return closes


def _begins(token: Token) -> bool:
    first = token.text[0]
    return not first.islower() and (first.isalnum() or first in "\"'“‘„‚«‹»›([`¿¡#*-•")


def _pieces(doc: Doc, words: numpy.ndarray, max_length: int) -> list[numpy.ndarray]:
    """Cuts after the last break in the second half of each piece, else at full length."""
    doc, pieces = plain_doc(doc), []
    while len(words) > max_length:
        second_half = range(max_length, max_length // 2, -1)
        breaks = (k for k in second_half if doc[int(words[k - 1])].text in _BREAKS | _FINAL)
        cut = next(breaks, max_length)
        pieces.append(words[:cut])
        words = words[cut:]
    return [*pieces, words]
