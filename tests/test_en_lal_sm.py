"""The shipped pipeline, as a user meets it."""

from __future__ import annotations

from pathlib import Path

import numpy
import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc

from spacy_lal.srl import frame_decoding
from spacy_lal.training.english_tokens import use_treebank_tokens

pytest.importorskip("en_lal_sm", reason="pip install ./packages/en_lal_sm")

ALL_SPELLINGS = True
TEXTS = [
    "The quick brown fox jumps over the lazy dog.",
    "I can't believe it's not butter! Who told you that?",
    "NEW YORK (AP) -- Shares fell 3.5% on Monday, the exchange said.\n\nlol :-) see http://x.yz",
    "",
    "Why?",
]

# no treebank that trains has these names
FIRST_NAMES = [
    "Maren",
    "Frida",
    "Nikola",
    "Amara",
    "Olga",
    "Rosamund",
    "Kwame",
    "Yusuf",
    "Ingrid",
    "Priya",
    "Mateo",
    "Chiamaka",
    "Haruto",
    "Siobhan",
    "Lars",
    "Fatima",
    "Emeka",
    "Anneliese",
    "Thandiwe",
    "Dmitri",
    "Esme",
    "Tariq",
    "Linnea",
    "Bartholomew",
    "Xiomara",
    "Wei",
    "Aoife",
    "Santiago",
    "Zainab",
    "Percival",
]
LAST_NAMES = [
    "Curie",
    "Kahlo",
    "Tesla",
    "Okonkwo",
    "Ng",
    "Lindstrand",
    "O'Malley",
    "Papadopoulos",
    "Nakamura",
    "Featherstone",
    "Mbeki",
    "Szymanski",
    "al-Rashid",
    "Fitzwilliam",
    "Quispe",
    "Hrabal",
    "Devereux",
    "Oyelaran",
    "Kowalczyk",
    "Thistlewood",
]
NAME_FRAMES = [
    "{first} {last} was a chemist.",
    "{first} {last} was born in 1867.",
    "{first} {last} painted portraits of her friends.",
    "Ms. {first} {last} called.",
    "Dr. {last} will see you now.",
    "Yesterday, {first} {last} left for Rome.",
    "{initial}. A. {last} wrote the book.",
    "{first} {initial}. {last} is the new director.",
    "{first} and {other} {last} live in Leeds.",
    "I met {first} {last} at the station.",
    "{first} {last}, a painter, moved to Paris.",
    "President {first} {last} signed the bill.",
    "{first} {last}'s brother runs a bakery.",
    "Thanks to {first} {last} we won the game.",
    "{first} {last} and Prof. {last} were married in June.",
    "New Book by {first} {last} Wins Prize",
    "Interview: {first} {last} on Art and War",
    "Chapter 3: The Early Years of {first} {last}",
]


@pytest.fixture(scope="module")
def nlp() -> Language:
    return spacy.load("en_lal_sm")


@pytest.fixture(scope="module")
def parser() -> Language:
    return spacy.load("en_lal_sm", exclude=["lisa_srl"])


@pytest.fixture(scope="module")
def lisa() -> Language:
    return spacy.load("en_lal_sm", exclude=["lal_constituency"])


def trees(doc: Doc) -> list[str]:
    return [str(tree) for tree in doc._.trees]


def frames(doc: Doc) -> list[str]:
    return [str(frame) for frame in doc._.frames]


def test_parses_a_plain_sentence(nlp: Language) -> None:
    (tree,) = trees(nlp("I saw the man in the park."))
    assert tree in (
        "(TOP (S (NP (PRP I)) (VP (VBD saw) (NP (DT the) (NN man)) "
        "(PP (IN in) (NP (DT the) (NN park)))) (. .)))",
        "(TOP (S (NP (PRP I)) (VP (VBD saw) (NP (NP (DT the) (NN man)) "
        "(PP (IN in) (NP (DT the) (NN park))))) (. .)))",
    )


def test_components_need_nothing_else(nlp: Language) -> None:
    shared = ["lal_tok2vec", "lal_constituency", "lisa_srl", "lal_empty_tensor"]
    assert nlp.pipe_names == ["lal_list_items", "senter", *shared]
    assert nlp.vocab.vectors.shape[0] == 0
    doc = nlp("The dogs were here. They don't bite.")
    assert [t.tag_ for t in doc] == ["DT", "NNS", "VBD", "RB", ".", "PRP", "VBP", "RB", "VB", "."]
    assert len(list(doc.sents)) == 2


def test_sentences_and_tokens_of_the_web(nlp: Language) -> None:
    """Learned: no full stop, a small letter; tokens as treebanks have them."""
    doc = nlp("thanks for the and/or idea i will call you tomorrow")
    assert [token.text for token in doc][3:6] == ["and", "/", "or"]
    doc = nlp("Great food. great service. will come again")
    sentences = ["Great food.", "great service.", "will come again"]
    assert [sentence.text for sentence in doc.sents] == sentences


@pytest.mark.parametrize(
    "text",
    [
        "Marie Curie was a chemist.",
        "Ms. Marie Curie was a chemist.",
        "Frida Kahlo was a painter.",
        "Ms. Frida Kahlo was a painter.",
        "Yesterday, Marie Kahlo left for Rome.",
        "J. K. Rowling wrote the book.",
        "Dr. Ng will see you now.",
        "Stock Markets Fall as Oil Prices Rise",
        "The Art of the Deal: Lessons From a Life in Business",
        "Big Storm Hits Coast, Thousands Without Power",
    ],
)
def test_names_titles_and_headings_are_not_cut(nlp: Language, text: str) -> None:
    assert [sentence.text for sentence in nlp(text).sents] == [text]


def test_made_names_are_not_cut() -> None:
    """30 first names with 20 last names each, in as many frames."""
    nlp = spacy.load("en_lal_sm", exclude=["lal_constituency", "lisa_srl"])
    texts = [
        NAME_FRAMES[(i + 7 * j) % len(NAME_FRAMES)].format(
            first=first, last=last, initial=first[0], other=FIRST_NAMES[i - 1]
        )
        for i, first in enumerate(FIRST_NAMES)
        for j, last in enumerate(LAST_NAMES)
    ]
    assert len(texts) == 600
    cut = [doc.text for doc in nlp.pipe(texts) if len(list(doc.sents)) > 1]
    assert len(cut) <= 2, cut


def test_heads_and_constituents_come_together(nlp: Language) -> None:
    doc = nlp("The dogs chased the cat.")
    assert [(t.text, t.dep_, t.head.text) for t in doc] == [
        ("The", "det", "dogs"),
        ("dogs", "nsubj", "chased"),
        ("chased", "ROOT", "chased"),
        ("the", "det", "cat"),
        ("cat", "obj", "chased"),
        (".", "punct", "chased"),
    ]
    for text in TEXTS:
        for sentence in nlp(text).sents:
            assert sum(token.head == token for token in sentence) == 1


@pytest.mark.parametrize("vectors", [False, True])
def test_sourced_into_a_blank_pipeline_it_gives_the_same_trees(
    nlp: Language, parser: Language, vectors: bool
) -> None:
    other = use_treebank_tokens(spacy.blank("en"))
    if vectors:
        other.vocab.set_vector("fox", numpy.ones(2, dtype="f"))
    other.add_pipe("senter", source=nlp)
    source = spacy.load("en_lal_sm")
    for name in ("lal_tok2vec", "lal_constituency"):
        other.add_pipe(name, source=source)
    assert [trees(other(text)) for text in TEXTS] == [trees(parser(text)) for text in TEXTS]
    # with LISA the tags are other ones, and the constituents the same
    for text in TEXTS:
        ours, theirs = (
            [(s.start, s.end, s.label_) for s in doc.spans["constituents"]]
            for doc in (other(text), nlp(text))
        )
        assert ours == theirs


def test_roles_are_those_by_lisas_own_heads(nlp: Language, lisa: Language) -> None:
    """In front of a parser, behind it or without any."""
    assert nlp.config["components"]["lisa_srl"]["parse_source"] == "model"
    roles = use_treebank_tokens(spacy.blank("en"))
    roles.add_pipe("senter", source=nlp)
    source = spacy.load("en_lal_sm")
    for name in ("lal_tok2vec", "lisa_srl", "lal_constituency"):
        roles.add_pipe(name, source=source)
    for text in TEXTS:
        for each in (lisa, roles):
            doc = each(text)
            assert frames(doc) == frames(nlp(text))
            assert doc.has_annotation("DEP")


def test_lisa_has_the_last_word(nlp: Language, lisa: Language, parser: Language) -> None:
    """Its own tags, and heads that it weighs against those of the parser."""

    def heads(doc: Doc) -> list[tuple[int, str]]:
        return [(token.head.i, token.dep_) for token in doc]

    for text in TEXTS:
        found, own, joint = (each(text) for each in (nlp, lisa, parser))
        assert [token.tag_ for token in found] == [token.tag_ for token in own]
        # where both agree, that is the result
        if heads(own) == heads(joint):
            assert heads(found) == heads(own)
    strict = spacy.load("en_lal_sm", config={"components.lisa_srl.overwrite_parser": None})
    assert [heads(strict(text)) for text in TEXTS] == [heads(parser(text)) for text in TEXTS]


def test_frames(nlp: Language) -> None:
    doc = nlp("Mary gave the old book to her brother yesterday, and he didn't read it.")
    found = {frame.predicate.text: frame for frame in doc._.frames}
    assert {"gave", "read"} <= set(found)
    roles = {span.label_: span.text for span in found["gave"].arguments}
    assert roles["ARG0"] == "Mary"
    assert roles["ARG1"] == "the old book"
    assert roles["ARG2"] == "to her brother"
    assert roles["ARGM-TMP"] == "yesterday"
    roles = {span.label_: span.text for span in found["read"].arguments}
    assert (roles["ARG0"], roles["ARG1"], roles["ARGM-NEG"]) == ("he", "it", "n't")
    for frame in doc._.frames:
        assert all(0 < score <= 1.0001 for score in (frame.verb_score, *frame.scores))


def test_frames_of_any_text_survive_storage(nlp: Language) -> None:
    docs = list(nlp.pipe(TEXTS))
    assert [frames(doc) for doc in docs] == [frames(nlp(text)) for text in TEXTS]
    for doc in docs:
        assert frames(Doc(nlp.vocab).from_bytes(doc.to_bytes())) == frames(doc)


def test_frames_do_not_depend_on_how_many_wait(
    nlp: Language, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Roles of few predicates are scored at one time, and those that need a search wait for others,
    until they take too much memory."""
    counts = []

    def counted(unsolved: list[frame_decoding.Unsolved], roles: frame_decoding.RoleDecoder) -> None:
        counts.append(len(unsolved))
        solve(unsolved, roles)

    solve = frame_decoding._solve
    monkeypatch.setattr(frame_decoding, "_solve", counted)
    text = "of the men who they told to go and I saw her with what I gave them to eat there "
    texts = [text * k for k in range(1, 12)]
    found = []
    for waiting, scores in ((frame_decoding.MOST_UNSOLVED, frame_decoding.MOST_SCORES), (0, 1)):
        monkeypatch.setattr(frame_decoding, "MOST_UNSOLVED", waiting)
        monkeypatch.setattr(frame_decoding, "MOST_SCORES", scores)
        found.append([frames(doc) for doc in nlp.pipe(texts)])
    assert found[0] == found[1]
    once, *several = counts
    assert once == sum(several) > max(several)


def test_probabilities_are_the_scores(nlp: Language) -> None:
    group = nlp(TEXTS[0]).spans["constituents"]
    assert len(group.attrs["scores"]) == len(group)
    assert all(0.4 < score <= 1.0001 for score in group.attrs["scores"])


def test_meta_says_what_it_was_trained_on(nlp: Language) -> None:
    assert nlp.meta["license"] == "CC BY-SA 4.0"
    assert len(nlp.meta["sources"]) == 23
    assert nlp.meta["performance"]["const_evalb_f"] > 0.86
    assert nlp.meta["performance"]["tag_acc"] > 0.945
    assert nlp.meta["performance"]["conll18_las"] > 0.84
    assert nlp.meta["performance"]["srl_f"] > 0.7
    assert nlp.meta["performance"]["srl_pred_f"] > 0.93


def test_weights_are_small(nlp: Language) -> None:
    files = [path for path in Path(nlp.path).rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) < 40_000_000
    assert any(path.name == "model.safetensors" for path in files)
    encoder = nlp.config["components"]["lal_constituency"]["model"]["encoder"]
    assert encoder["heads"] >= 32
    assert encoder["projection_width"] >= 16
