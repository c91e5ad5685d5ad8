"""Words by form: with characters, inside a parser; with affixes, alone."""

from __future__ import annotations

from pathlib import Path

import numpy
import pytest
import spacy
import torch
from spacy.language import Language
from spacy.tokens import Doc
from spacy.vocab import Vocab
from thinc.api import Model

from spacy_lal.bridge.shim import torch_shim
from spacy_lal.embeddings import forms
from spacy_lal.embeddings.forms import (
    Table,
    WordAffixSettings,
    WordCharSettings,
    build_word_affix_embed_v1,
    learn_vocabulary,
)
from spacy_lal.layers.prepared import Packed, prepare
from tests.pipeline.toy import TINY, TREES, examples, predicted, tiny_pipeline, train

EMBED = {
    "@architectures": "spacy-lal.WordCharEmbed.v1",
    "word_width": 12,
    "char_width": 6,
    "char_hidden_width": 8,
    "min_count": 1,
}


def pipeline(**settings: object) -> Language:
    return tiny_pipeline(model={**TINY, "tok2vec": {**EMBED, **settings}})


def embedding(nlp: Language) -> Model:
    return nlp.get_pipe("lal_constituency").model.get_ref("tok2vec")


def vectors(nlp: Language, *words: str) -> numpy.ndarray:
    (rows,) = embedding(nlp).predict([Doc(nlp.vocab, words=list(words))])
    return rows


@pytest.fixture(scope="module")
def trained() -> Language:
    spacy.util.fix_random_seed(0)
    return train(pipeline(), steps=60)


@pytest.fixture(scope="module")
def initialized() -> Language:
    nlp = pipeline()
    nlp.initialize(lambda: examples(nlp))
    return nlp


def test_learns(trained: Language) -> None:
    assert [predicted(trained, tree) for tree in TREES] == TREES


def test_save_and_load(trained: Language, tmp_path: Path) -> None:
    trained.to_disk(tmp_path)
    as_bytes = pipeline().from_bytes(trained.to_bytes())
    for loaded in (spacy.load(tmp_path), as_bytes):
        numpy.testing.assert_array_equal(
            vectors(loaded, "The", "cät", "zebra"), vectors(trained, "The", "cät", "zebra")
        )
        assert [predicted(loaded, tree) for tree in TREES] == TREES


def test_vocabularies(initialized: Language) -> None:
    header = torch_shim(embedding(initialized)).header
    assert header is not None
    words, characters = header["vocabulary"]
    assert {"cat", "the", "0", "."} <= set(words)
    assert "The" not in words
    assert {"T", "t", "3", "."} <= set(characters)


def test_rare_words_and_characters_are_unknown() -> None:
    nlp = pipeline(min_count=2)
    nlp.initialize(lambda: examples(nlp))
    header = torch_shim(embedding(nlp)).header
    assert header is not None
    words, characters = header["vocabulary"]
    assert {"the", "."} <= set(words)
    assert not {"mat", "0"} & set(words)
    assert "h" in characters
    assert "3" not in characters


def test_unknown_words_differ_by_their_characters(initialized: Language) -> None:
    known, first, second, other_case = vectors(initialized, "cat", "gnat", "tang", "CAT")
    assert (first[:12] == second[:12]).all()
    assert (first[12:] != second[12:]).any()
    assert (known[:12] == other_case[:12]).all()
    assert (known[:12] != first[:12]).any()
    assert (known[12:] != other_case[12:]).any()


@pytest.mark.parametrize(
    "word", ["猫", "e\u0301", "👩‍👩‍👧", "\n\n ", " ", "\x00", "a" * 5000, "İ", "\U0010ffff"]
)
def test_any_word(initialized: Language, word: str) -> None:
    rows = vectors(initialized, "A", word, "dog")
    assert rows.shape == (3, 28)
    assert numpy.isfinite(rows).all()
    numpy.testing.assert_allclose(rows[[0, 2]], vectors(initialized, "A", "dog"), atol=1e-6)


def test_the_middle_of_a_long_word_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forms, "MOST_CHARACTERS", 4)
    module = WordCharSettings(2, 3, 4).build({"vocabulary": [[], list("abcdefgh")]})
    _, characters, lengths = module.encode(["abcdefgh", "abc", "abcd"])
    assert characters.tolist() == [[1, 2, 7, 8], [1, 2, 3, 0], [1, 2, 3, 4]]
    assert lengths.tolist() == [4, 3, 4]


def test_batches_do_not_matter(initialized: Language) -> None:
    docs = [Doc(initialized.vocab, words=tree.split()) for tree in TREES]
    together = embedding(initialized).predict(docs)
    for doc, rows in zip(docs, together, strict=True):
        (alone,) = embedding(initialized).predict([doc])
        numpy.testing.assert_allclose(alone, rows, atol=1e-6)


def test_nothing_to_embed(initialized: Language) -> None:
    model = embedding(initialized)
    empty = Doc(initialized.vocab)
    assert [rows.shape for rows in model.predict([empty, empty])] == [(0, 28), (0, 28)]
    assert model.predict([]) == []
    for docs in ([], [empty]):
        rows, backprop = model.begin_update(docs)
        backprop(rows)
    assert list(initialized.pipe(["", "A dog", ""]))


def test_word_dropout_keeps_the_characters() -> None:
    settings = WordCharSettings(2, 3, 4, word_dropout=0.5)
    module = settings.build({"vocabulary": [["dog"], ["d", "o"]]})
    which = torch.zeros(200, dtype=torch.long)
    encoded = module.encode(["dog"])
    with torch.no_grad():
        rows = module.train()(which, *encoded)
        kept = (rows[:, :2] == module.words.weight[1]).all(-1)
        assert 50 < kept.sum() < 150
        assert (rows[~kept, :2] == module.words.weight[0]).all()
        assert (rows[:, 2:] == rows[0, 2:]).all()
        assert (module.eval()(which, *encoded)[:, :2] == module.words.weight[1]).all()


def test_a_warm_start_brings_the_vocabularies(trained: Language, tmp_path: Path) -> None:
    trained.to_disk(tmp_path)
    nlp = pipeline()
    nlp.config["initialize"]["components"] = {"lal_constituency": {"warm_start": str(tmp_path)}}
    # of its own Docs it would know one word
    nlp.initialize(lambda: examples(nlp)[3:4])
    numpy.testing.assert_array_equal(vectors(nlp, "cat", "fish"), vectors(trained, "cat", "fish"))


def test_a_shared_tok2vec_pipe_is_refused() -> None:
    nlp = spacy.blank("en")
    nlp.add_pipe("tok2vec", config={"model": EMBED})
    with pytest.raises(ValueError, match=r"WordCharEmbed.v1 has not seen .*lal_tok2vec"):
        nlp.initialize(lambda: examples(nlp))


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


@pytest.mark.parametrize(
    ("word", "form", "shape"),
    [
        ("cats", "cats", "xx"),
        ("a", "a", "x"),
        ("Cats", "cats", "Xxx"),
        ("McCoy's", "mccoy's", "XxXxx'x"),
        ("1999", "0000", "00"),
        ("x2", "x0", "x0"),
        ("ǅ", "ǆ", "x"),
        ("", "", ""),
        ("ªb", "ªb", "xx"),
        ("猫が", "猫が", "xx"),
    ],
)
def test_forms_and_shapes(word: str, form: str, shape: str) -> None:
    """Letters of neither case are small ones."""
    assert WordAffixSettings().features(word)[:2] == (form, shape)


def test_rows_that_are_stored_in_8_bits() -> None:
    """Each is read alone; training wakes all."""
    table, ids = Table(4, 3), torch.tensor([[3, 0], [1, 3]])
    values = torch.tensor([[1, -2, 3], [127, 0, 1], [5, 5, 5], [-127, 4, 0]], dtype=torch.int8)
    scale = torch.tensor([[0.5], [2.0], [1.0], [0.25]])
    rows = [[-31.75, 1, 0], [0.5, -1, 1.5], [254, 0, 2], [-31.75, 1, 0]]
    wanted = torch.tensor(rows).view(2, 2, 3)
    table.sleep({"weight": Packed(values, scale)})
    prepare(table, "int8")
    assert torch.equal(table(ids), wanted)
    assert table.weight.isnan().all()
    prepare(table, None)
    assert torch.equal(table(ids), wanted)
    assert torch.equal(table.weight, values * scale)
