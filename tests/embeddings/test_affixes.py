"""Words by form, affixes and shape; with the signs of keyboards if asked for."""

import numpy
import pytest
import spacy
import torch
from spacy.tokens import Doc
from spacy.vocab import Vocab

from spacy_lal.embeddings.forms import build_word_affix_embed_v1
from spacy_lal.embeddings.vocabulary import learn_vocabulary

TYPED = ["l'", "amico", "ha", "detto", '"', "no", '"', "-", "e", "poi", "..."]


@pytest.mark.parametrize(
    "printed",
    [
        ["l’", "amico", "ha", "detto", "“", "no", "”", "–", "e", "poi", "…"],
        ["l‘", "amico", "ha", "detto", "«", "no", "»", "—", "e", "poi", "…"],
        ["l‛", "amico", "ha", "detto", "„", "no", "“", "−", "e", "poi", "..."],
    ],
)
@pytest.mark.parametrize("plain_signs", [True, False])
def test_typographic_signs(printed: list[str], plain_signs: bool) -> None:
    """Only where it is asked for do they look like the signs that were seen in training."""
    vocab = spacy.blank("it").vocab
    docs = [Doc(vocab, words=words) for words in (TYPED, printed)]
    torch.manual_seed(0)
    model = build_word_affix_embed_v1(
        word_width=8, affix_width=4, min_count=1, plain_signs=plain_signs
    )
    learn_vocabulary(model, docs[:1])
    model.initialize(X=docs[:1])
    first, second = model.predict(docs)
    changed = [one != other for one, other in zip(TYPED, printed, strict=True)]
    same = [numpy.array_equal(one, other) for one, other in zip(first, second, strict=True)]
    assert same == [plain_signs or not other for other in changed]


def test_docs_of_several_vocabularies() -> None:
    docs = [Doc(Vocab(), words=words) for words in (["Hello", "you"], ["Bye", "you"])]
    model = build_word_affix_embed_v1(word_width=8, affix_width=4, min_count=1)
    learn_vocabulary(model, docs)
    model.initialize(X=docs)
    for alone, together in zip(docs, model.predict(docs), strict=True):
        numpy.testing.assert_array_equal(model.predict([alone])[0], together)


def test_parts_of_compounds() -> None:
    """Of a word that wasn't seen: what has its first and its last part looks like it there."""
    vocab = Vocab()
    model = build_word_affix_embed_v1(word_width=8, affix_width=4, min_count=1, compounds=True)
    docs = [Doc(vocab, ["Bộ_trưởng", "hiệu_thư", "2_năm"])]
    learn_vocabulary(model, docs)
    model.initialize(X=docs)
    seen = model.predict(docs)[0]
    (new,) = model.predict([Doc(vocab, ["bộ_lạ_lùng_thư", "trưởng", "3_năm"])])
    first, last = slice(-8, -4), slice(-4, None)
    assert numpy.array_equal(new[0, first], seen[0, first])
    assert numpy.array_equal(new[0, last], seen[1, last])
    # alone, it is its own first and last part: one was only seen as a last one
    assert numpy.array_equal(new[1, last], seen[0, last])
    assert not any(numpy.array_equal(new[1, first], row[first]) for row in seen)
    assert numpy.array_equal(new[2], seen[2])
    assert new.shape == (3, model.get_dim("nO"))
