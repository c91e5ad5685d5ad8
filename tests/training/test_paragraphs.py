"""Running text made of sentences: what it says, and that every annotation is still its own."""

import random
from itertools import islice

import pytest
import spacy
from spacy.tokens import Doc
from spacy.training.batchers import configure_minibatch_by_words as batch_by_words
from spacy.training.loop import create_train_batches

from spacy_lal.annotations.constituents import get_constituents, set_constituents
from spacy_lal.annotations.frames import FrameSpans, get_frames, set_frames
from spacy_lal.formats.docbins import write_spacy
from spacy_lal.training.checkpoint import random_state, with_own_random
from spacy_lal.training.corpus import Paragraphs
from spacy_lal.training.noise import TITLES

NLP = spacy.blank("en")
WORDS = ["The", "cats", "of", "Ann", "'s", "non-smokers", "can", "not", "drink", "tea", "."]


def sentence(paragraph):
    doc = Doc(
        NLP.vocab,
        words=WORDS,
        spaces=[True, True, True, False, True, True, False, True, True, False, True],
        tags=["DT", "NNS", "IN", "NNP", "POS", "NNS", "MD", "RB", "VB", "NN", "."],
        pos=["DET", "NOUN", "ADP", "PROPN", "PART", "NOUN", "AUX", "PART", "VERB", "NOUN", "PUNCT"],
        heads=[1, 8, 5, 5, 3, 1, 8, 8, 8, 8, 8],
        deps=[
            "det",
            "nsubj",
            "case",
            "nmod",
            "case",
            "nmod",
            "aux",
            "advmod",
            "ROOT",
            "obj",
            "punct",
        ],
    )
    set_constituents(doc, [(0, 11, "S"), (0, 6, "NP"), (2, 6, "PP"), (6, 10, "VP"), (9, 10, "NP")])
    roles = [(0, 6, "ARG0"), (7, 8, "ARGM-NEG"), (8, 9, "V"), (9, 10, "ARG1")]
    set_frames(doc, [FrameSpans(8, "drink.01", roles)])
    doc.user_data["paragraph"] = paragraph
    return doc


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    """Twenty paragraphs of three sentences."""
    path = tmp_path_factory.mktemp("paragraphs") / "corpus.spacy"
    write_spacy([sentence(f"p{number // 3}") for number in range(60)], path)
    return path


QUIET = {"line_breaks": 0, "lower_case": 0, "unstopped": 0, "blank_lines": 0, "tokenized": 0}


def references(corpus, nlp=NLP, **settings):
    return [example.reference for example in Paragraphs(corpus, **(QUIET | settings))(nlp)]


def test_paragraphs(corpus):
    docs = references(corpus)
    assert len(docs) == 20
    assert docs[0].text == " ".join(["The cats of Ann's non-smokers cannot drink tea."] * 3)
    assert {len(list(doc.sents)) for doc in docs} == {3}
    assert {len(doc) for doc in references(corpus, max_length=25)} == {11, 22}
    assert len(references(corpus, single=1)) == 60
    (whole,) = references(corpus, blank_lines=1, max_length=1000)
    assert whole.text.count("\n\n") == 19
    assert len(list(whole.sents)) == 60


def test_only_neighbours_of_one_kind_are_joined(tmp_path):
    """Not sentences without a paragraph, nor those of which one has no frames, or no heads."""
    docs = [sentence("p") for _ in range(4)] + [sentence("") for _ in range(3)] + [sentence("q")]
    del docs[1].spans["srl"]
    for token in docs[3]:
        token.dep_ = ""
    write_spacy(docs, tmp_path / "corpus.spacy")
    joined = references(tmp_path / "corpus.spacy", blank_lines=1)
    assert [len(list(doc.sents)) for doc in joined] == [1] * 8
    assert [len(get_frames(doc)) for doc in joined] == [1, 0, *[1] * 6]
    assert [doc.has_annotation("DEP") for doc in joined] == [True] * 3 + [False] + [True] * 4


def test_sentences_without_paragraphs_may_be_running_text(tmp_path):
    write_spacy([sentence("") for _ in range(4)], tmp_path / "corpus.spacy")
    assert len(references(tmp_path / "corpus.spacy")) == 4
    assert len(references(tmp_path / "corpus.spacy", running=True, single=1)) == 4
    (whole,) = references(tmp_path / "corpus.spacy", running=True)
    assert whole.text == " ".join(["The cats of Ann's non-smokers cannot drink tea."] * 4)


def test_predicted_docs_have_gold_starts_or_none(corpus):
    with_starts = next(iter(Paragraphs(corpus, sentence_starts=True)(NLP)))
    assert with_starts.predicted.has_annotation("SENT_START")
    without = next(iter(Paragraphs(corpus, sentence_starts=False)(NLP)))
    assert not without.predicted.has_annotation("SENT_START")
    assert [t.text for t in without.predicted] == [t.text for t in without.reference]


def letters(doc, start, end):
    return "".join(doc[start:end].text.lower().split()).rstrip(".")


def test_annotation_survives_all_noise(corpus):
    noise = {"line_breaks": 1, "lower_case": 0.5, "unstopped": 0.5, "tokenized": 0.5}
    docs = references(corpus, seed=3, **noise)
    text = "".join(doc.text for doc in docs)
    assert "\n" in text
    assert "the cats" in text
    assert any(not doc.text.endswith(".") for doc in docs)
    tokens = {token.text for doc in docs for token in doc}
    assert {"non-smokers", "smokers"} <= tokens
    for doc in docs:
        assert "".join(t.text_with_ws for t in doc) == doc.text
        assert len(list(doc.sents)) == 3
        for sent in doc.sents:
            assert sent.root.text == "drink"
            assert not sent[0].is_space
            subjects = [t.text.lower() for t in sent.root.lefts if t.dep_ == "nsubj"]
            assert subjects == ["cats"]
        assert all(token.head.sent == token.sent for token in doc)
        assert [(letters(doc, i, j), label) for i, j, label in get_constituents(doc)] == [
            ("thecatsofann'snon-smokerscannotdrinktea", "S"),
            ("thecatsofann'snon-smokers", "NP"),
            ("ofann'snon-smokers", "PP"),
            ("cannotdrinktea", "VP"),
            ("tea", "NP"),
        ] * 3
        assert [frame.predicate.text for frame in get_frames(doc)] == ["drink"] * 3


def test_wide_spaces(corpus):
    """Of several characters, between sentences and within them; else the text is as without."""
    narrow, wide = references(corpus), references(corpus, spaces=1)
    texts = [doc.text for doc in wide]
    assert [" ".join(text.split()) for text in texts] == [doc.text for doc in narrow]
    within = [text for text in texts if any("  " in part.strip() for part in text.split("."))]
    between = [text for text in texts if ".  " in text]
    assert within
    assert between
    assert any(text not in within for text in between)
    assert any(text not in between for text in within)
    for doc in wide:
        assert len(list(doc.sents)) == 3
        assert not any(sent[0].is_space for sent in doc.sents)


def test_whitespace_is_as_the_tokenizer_has_it(corpus):
    for doc in references(corpus, line_breaks=1, spaces=1, blank_lines=0.5, tokenized=1, seed=1):
        assert [t.text for t in doc] == [t.text for t in NLP(doc.text)]


@pytest.mark.parametrize("tokenized", [0, 1])
@pytest.mark.parametrize(
    "tokens",
    [
        [("a", True), ("b", False), (" ", True)],
        [("a", False), ("  ", True), ("b", False), (" ", False), ("\n", False)],
        [("\n", False), ("a", True), ("\n", False), ("don't", True)],
    ],
)
def test_whitespace_tokens_of_the_treebank(tmp_path, tokens, tokenized):
    words, spaces = zip(*tokens, strict=True)
    doc = Doc(NLP.vocab, words, spaces, heads=[0] * len(words), deps=["dep"] * len(words))
    doc.user_data["paragraph"] = "p"
    write_spacy([doc] * 2, tmp_path / "corpus.spacy")
    (found,) = references(tmp_path / "corpus.spacy", tokenized=tokenized)
    assert found.text.split() == doc.text.split() * 2
    made = NLP(found.text) if tokenized else [*doc, *doc]
    assert [t.text for t in found if not t.is_space] == [t.text for t in made if not t.is_space]
    assert [t.text for t in found if t.is_space] == [t.text for t in NLP(found.text) if t.is_space]


def test_merged_tokens(tmp_path):
    nlp = spacy.blank("en")
    nlp.tokenizer.rules = {}
    write_spacy([sentence("a")], tmp_path / "corpus.spacy")
    (doc,) = references(tmp_path / "corpus.spacy", nlp, tokenized=1)
    # "can not" are two words that hang on a third, with a role over one of them
    assert [t.text for t in doc if t.text.startswith("can")] == ["can"]


def test_new_noise_every_time_and_the_same_from_one_seed(corpus):
    def twice(seed):
        reader = Paragraphs(corpus, line_breaks=0.5, shuffle=True, seed=seed)
        return [[example.reference.text for example in reader(NLP)] for _ in range(2)]

    first, second = twice(1)
    assert first != second
    assert twice(1) == [first, second]
    assert twice(2)[0] != first


def test_without_shuffling_always_the_same(corpus):
    reader = Paragraphs(corpus, line_breaks=0.5, lower_case=0.5)
    first, second = ([example.reference.text for example in reader(NLP)] for _ in range(2))
    assert first == second


def test_a_stream_goes_on_where_it_was(corpus):
    """As `lal train --resume` does: batches made again, and dropped up to the place."""

    def batches():
        reader = Paragraphs(corpus, line_breaks=0.5, lower_case=0.5, shuffle=True, seed=4)
        batcher = batch_by_words(size=100, tolerance=0.2, discard_oversize=False)
        made = create_train_batches(NLP, reader, batcher, max_epochs=-1)
        for epoch, batch in with_own_random(made, random_state(gpus=False)):
            random.random()  # as a model might
            yield epoch, [example.reference.text for example in batch]

    whole = list(islice(batches(), 60))
    assert {epoch for epoch, _ in whole} >= {0, 1, 2}
    random.seed(7)
    assert list(islice(batches(), 40, 60)) == whole[40:]


@pytest.mark.parametrize("name", ["line_breaks", "spaces", "single", "tokenized"])
def test_shares(corpus, name):
    with pytest.raises(ValueError, match=f"{name} must be from 0 to 1, not 2"):
        Paragraphs(corpus, **{name: 2})


def test_names_and_title_case(tmp_path):
    """A made name stands for a pronoun, other names are made, too; the sentence starts stay."""
    words = ["He", "met", "Ann", "Lee", "."], ["She", "saw", "Bo", "Ray", "there", "."]
    tags = ["PRP", "VBD", "NNP", "NNP", "."], ["PRP", "VBD", "NNP", "NNP", "RB", "."]
    docs = [Doc(NLP.vocab, words=w, tags=t) for w, t in zip(words, tags, strict=True)]
    for doc in docs:
        doc.user_data["paragraph"] = "one"
    write_spacy(docs, tmp_path / "two.spacy")
    quiet = {"line_breaks": 0, "lower_case": 0, "unstopped": 0, "tokenized": 0}
    seen = set()
    for seed in range(40):
        reader = Paragraphs(tmp_path / "two.spacy", **quiet, names=1.0, seed=seed)
        (example,) = reader(NLP)
        text = [token.text for token in example.reference]
        first, second = (sent.start for sent in example.reference.sents)
        assert first == 0
        assert second == text.index(".") + 1 or text[second - 1] == "."
        assert text[second:].index("saw") >= 2  # two words at least
        assert not {"He", "She"} & {*text}
        seen |= {*text}
    assert {"Ann", "Bo", "Lee", "Ray"} <= seen
    assert {*TITLES} & seen
    assert {"A.", "B."} & seen
    # made of the beginning of one name and the end of another
    assert {"Ano", "Leay"} <= seen
    texts = set()
    for seed in range(60):
        reader = Paragraphs(tmp_path / "two.spacy", **quiet, title_case=1.0, seed=seed)
        texts |= {example.reference.text for example in reader(NLP)}
    assert texts >= {
        "He Met Ann Lee . She Saw Bo Ray There .",
        "He met Ann Lee . She saw Bo Ray There .",
    }
