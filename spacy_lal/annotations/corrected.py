"""The text of a Doc with its errors corrected."""

from __future__ import annotations

import re

from spacy.tokens import Doc, Span, Token

from .grammar_errors import ERRORS_KEY, GrammarError, grammar_errors, is_missing

LIKELY = 0.75
"""Least probability of a suggestion that is made without asking."""
_JOINED = re.compile(r"(?i) (?=(?:n['’]t|['’](?:s|m|re|ve|ll|d))(?!\w))")
"""The space before the end of a contraction."""
_END = re.compile(r"(?i)n['’]t|['’](?:s|m|re|ve|ll|d)")
"""The end of a contraction, as a token."""
_OPENING = {'"', "“", "‘", "``", "«", "„", "("}
_FINAL = {".", "!", "?", "…"}
_CLOSING = (",", ".", ";", ":", "!", "?", ")", "]", "}", "%", "…", "'s", "’s", "n't", "n’t")


def corrected_text(
    doc: Doc, key: str = ERRORS_KEY, *, likely: float = LIKELY, tokenised: bool = False
) -> str:
    """Return the text with the best suggestion in the place of every error in `doc.spans[key]` that
    has one of at least the probability `likely`. Errors without one stay as they are.

    tokenised: whether spaces stand before punctuation, too.
    A word that comes to begin a sentence gets the capital of the word that did. Raises ValueError
    if tokens were merged or split since the errors were found.
    """
    pieces: list[str] = []
    done = 0
    capital = False
    for error in sorted(grammar_errors(doc, key), key=lambda error: error.span.start):
        first, last = error.span.start, error.span.end
        best = error.suggestions[0] if error.suggestions else None
        if best is None or best.probability < likely or first < done:
            continue
        if not _fits(doc, first, last, best.text):
            continue
        pieces += _kept(doc[done:first], capital)
        capital = capital and first == done
        begins = doc[first].text[:1].isupper() and _is_first(doc[first])
        text = _in_sentence(error, best.text) if begins else best.text
        behind = doc[last - 1].whitespace_
        if not text:
            if pieces and not behind and not tokenised:
                pieces[-1] = pieces[-1].rstrip(" ")
            elif doc[first].is_punct or _END.fullmatch(doc[first].text):
                # "said, that", "I'm agree"
                pieces.append(behind)
            capital = capital or begins
        else:
            if not tokenised:
                text = _JOINED.sub("", text)
            if pieces and text.startswith(_CLOSING) and not tokenised:
                pieces[-1] = pieces[-1].rstrip(" ")
            elif _END.fullmatch(doc[first].text) and pieces and not pieces[-1].endswith(" "):
                # "do" and "n't" become "do not"
                text = f" {text}"
            pieces.append((_capital(text) if capital or begins else text) + behind)
            capital = False
        done = last
    return "".join([*pieces, *_kept(doc[done:], capital)])


def _is_first(token: Token) -> bool:
    """Whether a token begins a sentence, or a quotation."""
    if not token.i or token.is_sent_start:
        return True
    before = token.nbor(-1).text
    return before in _OPENING or before in _FINAL or (before.isspace() and "\n" in before)


def _fits(doc: Doc, first: int, last: int, text: str) -> bool:
    """Whether a correction leaves no "n't" or "'s" without the word before, and no full stop away
    before a small letter, which would make one sentence of two."""
    behind = doc[last].text if last < len(doc) else ""
    if not text:
        stop = doc[first].text == "." and behind[:1].islower()
        return not stop and not _END.fullmatch(behind)
    # "ca n't" and "wo n't" without "n't"
    cut = first and doc[first - 1].lower_ in {"ca", "wo", "sha"}
    return not (cut and _END.fullmatch(doc[first].text) and not _END.fullmatch(text))


def _kept(span: Span, capital: bool) -> list[str]:
    words = [token.text_with_ws for token in span]
    return [_capital(words[0]), *words[1:]] if words and capital else words


def _in_sentence(error: GrammarError, text: str) -> str:
    """Return a suggestion for the beginning of a sentence; the word that began it loses its capital
    behind a missing one."""
    word = error.span.text
    if not is_missing(error.label) or word.isupper():
        return text
    return text.removesuffix(word) + word[:1].lower() + word[1:]


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
