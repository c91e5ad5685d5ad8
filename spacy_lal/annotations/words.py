"""Words of a Doc: its tokens other than whitespace."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import accumulate

from spacy.tokens import Doc, Span
from spacy.vocab import Vocab

from ..trees.tree import LabelledSpan


class WordIndex:
    """Token indices of a Doc's n words [n], and numbers of words `before` tokens [tokens + 1]."""

    def __init__(self, doc: Doc) -> None:
        # a Vocab without a language doesn't set `is_space`
        blank = [token.text.isspace() for token in doc]
        self.tokens = [i for i, is_blank in enumerate(blank) if not is_blank]
        self.before = list(accumulate((not is_blank for is_blank in blank), initial=0))

    def range(self, start: int, end: int) -> tuple[int, int]:
        """Convert the tokens `start` to `end` to a range of words."""
        return self.before[start], self.before[end]

    def spans(self, spans: Iterable[LabelledSpan]) -> list[LabelledSpan]:
        """Convert spans of tokens to spans of words; spans of whitespace alone are left out."""
        in_words = [(*self.range(start, end), label) for start, end, label in spans]
        return [span for span in in_words if span[0] < span[1]]


def bare_doc(
    tokens: Doc | Span,
    vocab: Vocab | None = None,
    *,
    sentence_starts: bool = True,
    one_sentence: bool = False,
) -> Doc:
    """Return a Doc of the same words and whitespace, without annotation. sentence_starts: whether
    annotated sentence starts are kept. one_sentence: whether the Doc is one sentence."""
    starts: list[bool | int | None] | None = None
    if one_sentence:
        starts = [i == 0 for i in range(len(tokens))]
    elif sentence_starts and tokens[:].doc.has_annotation("SENT_START"):
        starts = [bool(token.is_sent_start) for token in tokens]
    return Doc(
        vocab or tokens.vocab,
        words=[token.text for token in tokens],
        spaces=[bool(token.whitespace_) for token in tokens],
        sent_starts=starts,
    )
