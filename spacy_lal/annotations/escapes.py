"""Words in the Penn Treebank's escapes (-LRB-, ``, \\/) are read as what they stand for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from spacy.attrs import NORM, PREFIX, SHAPE, SUFFIX
from spacy.tokens import Doc
from spacy.vocab import Vocab

from ..trees.brackets import ESCAPES, plain_word
from .words import bare_doc

_FORMS = {NORM: "norm_", PREFIX: "prefix_", SUFFIX: "suffix_", SHAPE: "shape_"}


def plain_doc(doc: Doc) -> Doc:
    """Return the Doc if no word has escapes, else a copy for encoders: plain words, sentence starts
    and tags."""
    if not ESCAPES.search(doc.text):
        return doc
    return bare_doc(doc, words=[plain_word(token.text) for token in doc], tags=True)


class _OfPlainWord:
    """A lexeme's form by the word that it stands for."""

    def __init__(self, form: Callable[[str], str]) -> None:
        self.form = form

    def __call__(self, text: str) -> str:
        return self.form(plain_word(text))


def read_escapes(vocab: Vocab) -> None:
    """Give escaped words the norm, prefix, suffix and shape of plain ones.

    spaCy's own `senter`, `tagger` and `tok2vec` embed words by these, so that they read the same
    words as our components.
    """
    getters = cast(Any, vocab).lex_attr_getters
    for attribute in _FORMS:
        if attribute in getters and not isinstance(getters[attribute], _OfPlainWord):
            getters[attribute] = _OfPlainWord(getters[attribute])
    for lexeme in vocab:
        if ESCAPES.search(lexeme.text):
            for attribute, name in _FORMS.items():
                if attribute in getters:
                    setattr(lexeme, name, getters[attribute](lexeme.text))
