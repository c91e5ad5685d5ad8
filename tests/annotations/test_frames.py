"""Frames on Docs, against hand-worked sentences, and what survives serialisation."""

import numpy
import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc, Span, SpanGroup, Token
from spacy.vocab import Vocab

from spacy_lal.annotations import install_extensions
from spacy_lal.annotations.frames import (
    Frame,
    FrameSpans,
    get_frames,
    join_continuations,
    set_frames,
)
from spacy_lal.formats.treebank_sentence import language_vocab

from ..carriers import CARRIERS

VOCAB = language_vocab("en")  # a bare Vocab doesn't know what whitespace is

# "Ann made him give it up": "give … up" is one verb in two pieces, "made" another.
MAKE = FrameSpans(1, "make.02", [(0, 1, "ARG0"), (1, 2, "V"), (2, 6, "ARG1")])
GIVE = FrameSpans(3, "give_up.07", [(2, 3, "ARG0"), (3, 4, "V"), (4, 5, "ARG1"), (5, 6, "C-V")])

WORDS = ["Ann", "made", "him", "give", "it", "up"]


@pytest.fixture
def ann():
    doc = Doc(Vocab(), words=WORDS)
    set_frames(doc, [MAKE, GIVE])
    return doc


@pytest.fixture
def cat():
    """Two sentences, with a line break in the first one."""
    doc = Doc(
        VOCAB,
        words=["The", "cat", "sat", "\n", "on", "the", "mat", ".", "It", "slept", "."],
        sent_starts=[i in (0, 8) for i in range(11)],
    )
    set_frames(
        doc,
        [
            FrameSpans(2, "sit.01", [(0, 2, "ARG0"), (2, 3, "V"), (3, 7, "ARGM-LOC")]),
            FrameSpans(9, "sleep.01", [(8, 9, "ARG0"), (9, 10, "V")]),
        ],
    )
    return doc


def facts(doc, key="srl"):
    return [
        (
            frame.predicate.text,
            frame.roleset,
            [(span.text, span.label_) for span in frame.arguments],
        )
        for frame in get_frames(doc, key)
    ]


ANN = [
    ("made", "make.02", [("Ann", "ARG0"), ("him give it up", "ARG1")]),
    ("give", "give_up.07", [("him", "ARG0"), ("it", "ARG1"), ("up", "C-V")]),
]


# Writing


def test_frames_are_spans_that_share_an_id(ann):
    assert [(span.text, span.label_, span.id_) for span in ann.spans["srl"]] == [
        ("made", "V", "1:make.02"),
        ("Ann", "ARG0", "1:make.02"),
        ("him give it up", "ARG1", "1:make.02"),
        ("give", "V", "3:give_up.07"),
        ("him", "ARG0", "3:give_up.07"),
        ("it", "ARG1", "3:give_up.07"),
        ("up", "C-V", "3:give_up.07"),
    ]
    assert ann.spans["srl"].attrs["scores"] == [None] * 7
    assert facts(ann) == ANN
    assert isinstance(get_frames(ann)[0], Frame)


def test_the_predicate_may_lie_outside_its_first_piece(ann):
    """With "up" as the token that has the roleset, V is still "give"."""
    set_frames(ann, [FrameSpans(5, "give_up.07", [*GIVE.spans[:3], (5, 6, "C-V")])])
    assert ann.spans["srl"][0].id_ == "5@3:give_up.07"
    assert facts(ann) == [("up", *ANN[1][1:])]


def test_a_frame_has_one_predicate(ann):
    with pytest.raises(ValueError, match=r"'make.02' at token 1 has 0"):
        set_frames(ann, [FrameSpans(1, "make.02", [(0, 1, "ARG0")])])
    with pytest.raises(ValueError, match="has 2"):
        set_frames(ann, [FrameSpans(1, "make.02", [(1, 2, "V"), (3, 4, "V")])])


def test_other_keys(ann):
    set_frames(ann, [GIVE], key="other")
    assert facts(ann, "other") == ANN[1:]
    assert facts(ann) == ANN


def test_no_frames(ann):
    assert get_frames(ann, "none") == []
    set_frames(ann, [])
    assert get_frames(ann) == []


# Views


def test_the_predicate_need_not_come_first_in_a_longer_verb():
    doc = Doc(Vocab(), words=["She", "did", "not", "let", "go", "of", "it"])
    spans = [(0, 1, "ARG0"), (2, 3, "ARGM-NEG"), (3, 5, "V"), (5, 7, "ARG1")]
    set_frames(doc, [FrameSpans(4, "go.01", spans)])
    (frame,) = get_frames(doc)
    assert doc.spans["srl"][0].id_ == "4@3:go.01"
    assert (frame.predicate.text, frame.verb.text, frame.lemma) == ("go", "let go", "go")
    assert [(span.start, span.end, span.label_) for span in frame.spans] == spans
    assert str(frame) == "[ARG0: She] did [ARGM-NEG: not] [V: let go] [ARG1: of it]"


@pytest.mark.parametrize(
    ("roleset", "lemma"),
    [
        ("give.01", "give"),
        ("give_up.107", "give_up"),
        ("have.LV", "have"),
        ("give", "give"),
        ("vs.", "vs."),
        ("U.S.01", "U.S"),
        (".01", ".01"),
        ("", "make"),
    ],
)
def test_lemmas(ann, roleset, lemma):
    ann[1].lemma_ = "make"
    set_frames(ann, [MAKE._replace(roleset=roleset)])
    assert get_frames(ann)[0].lemma == lemma


def test_a_token_may_have_no_lemma(ann):
    set_frames(ann, [MAKE._replace(roleset="")])
    assert get_frames(ann)[0].lemma == ""


def test_scores_follow_their_spans(ann):
    set_frames(ann, [MAKE, GIVE], [[0.1, 0.2, 0.3], [0.4, 0.5, None, 0.6]])
    assert ann.spans["srl"].attrs["scores"] == [0.2, 0.1, 0.3, 0.5, 0.4, None, 0.6]
    make, give = get_frames(ann)
    assert (make.verb_score, make.scores) == (0.2, (0.1, 0.3))
    assert (give.verb_score, give.scores) == (0.5, (0.4, None, 0.6))
    with pytest.raises(ValueError, match="one for each of its spans"):
        set_frames(ann, [MAKE], [[0.1]])


@pytest.mark.parametrize("attrs", [{}, {"scores": []}, {"scores": [0.5] * 3}])
def test_scores_that_do_not_fit_are_none(ann, attrs):
    group = SpanGroup(ann, name="srl", attrs=attrs, spans=list(ann.spans["srl"]))
    ann.spans["srl"] = group
    assert [(frame.verb_score, frame.scores) for frame in get_frames(ann)] == [
        (None, (None, None)),
        (None, (None, None, None)),
    ]


def test_frames_overlap(ann):
    make, give = get_frames(ann)
    assert str(make) == "[ARG0: Ann] [V: made] [ARG1: him give it up]"
    assert str(give) == "Ann made [ARG0: him] [V: give] [ARG1: it] [C-V: up]"


def test_text_is_that_of_the_sentence(cat):
    sit, sleep = get_frames(cat)
    assert str(sit) == "[ARG0: The cat] [V: sat] [ARGM-LOC: on the mat] ."
    assert str(sleep) == "[ARG0: It] [V: slept] ."


def test_text_reaches_as_far_as_the_arguments(cat):
    set_frames(cat, [FrameSpans(9, "sleep.01", [(0, 2, "ARG0"), (9, 10, "V"), (10, 11, "X")])])
    (frame,) = get_frames(cat)
    assert str(frame) == "[ARG0: The cat] sat on the mat . It [V: slept] [X: .]"
    set_frames(cat, [FrameSpans(2, "sit.01", [(2, 3, "V"), (8, 9, "ARG0")])])
    assert str(get_frames(cat)[0]) == "The cat [V: sat] on the mat . [ARG0: It] slept ."


def test_text_of_arguments_in_each_other_and_across():
    doc = Doc(VOCAB, words=["men", "who", " ", "slept", "badly", " "])
    verb = (3, 4, "V")
    set_frames(doc, [FrameSpans(3, "", [(0, 3, "ARG0"), (1, 2, "R-ARG0"), verb, (2, 3, "X")])])
    assert str(get_frames(doc)[0]) == "[ARG0: men [R-ARG0: who]] [V: slept] badly"
    set_frames(doc, [FrameSpans(3, "", [(0, 2, "A"), verb, (1, 5, "B")])])
    assert str(get_frames(doc)[0]) == "[A: men [B: who] [V: slept] badly]"


def test_text_of_one_token():
    doc = Doc(Vocab(), words=["Go"])
    set_frames(doc, [FrameSpans(0, "go.01", [(0, 1, "V")])])
    assert str(get_frames(doc)[0]) == "[V: Go]"


# Continuations


@pytest.mark.parametrize(
    ("labels", "arguments"),
    [
        ("", []),
        ("A1 V C-A1", [("A1", [0, 2]), ("V", [1])]),
        ("A1 V C-A1 A2 C-A1", [("A1", [0, 2, 4]), ("V", [1]), ("A2", [3])]),
        ("V A1 C-V", [("V", [0, 2]), ("A1", [1])]),
        # the latest one goes on
        ("A1 A1 V C-A1", [("A1", [0]), ("A1", [1, 3]), ("V", [2])]),
        # nothing to go on with: an argument itself, which may go on
        ("C-A1 V C-A1", [("A1", [0, 2]), ("V", [1])]),
        ("V C-A1 A1 C-A1", [("V", [0]), ("A1", [1]), ("A1", [2, 3])]),
        # references are roles of their own
        ("A0 R-A0 V C-A0", [("A0", [0, 3]), ("R-A0", [1]), ("V", [2])]),
        ("R-A1 V C-A1", [("R-A1", [0]), ("V", [1]), ("A1", [2])]),
        ("R-A1 V C-R-A1", [("R-A1", [0, 2]), ("V", [1])]),
    ],
)
def test_continuations(labels, arguments):
    assert join_continuations(labels.split()) == arguments


def test_merged_arguments(ann):
    _, give = get_frames(ann)
    assert [(label, [span.text for span in spans]) for label, spans in give.merged()] == [
        ("ARG0", ["him"]),
        ("V", ["give", "up"]),
        ("ARG1", ["it"]),
    ]
    assert [span.label_ for span in give.merged()[1].spans] == ["V", "C-V"]


def test_merged_arguments_of_many_labels():
    """Every piece against the piece before it of the same role, looked for anew each time."""
    random = numpy.random.default_rng(0)
    names = ["A0", "A1", "R-A0", "C-A0", "C-A1", "C-V"]
    for _ in range(50):
        doc = Doc(VOCAB, words=["w"] * 12)
        starts = random.permutation(12)[: random.integers(1, 9)].tolist()
        labels = ["V", *random.choice(names, len(starts) - 1).tolist()]
        spans = [(i, i + 1, label) for i, label in zip(starts, labels, strict=True)]
        set_frames(doc, [FrameSpans(starts[0], "x.01", spans)])
        expected = {}
        for start, _, label in sorted(spans):
            role = label.removeprefix("C-")
            before = [key for key in expected if key[1] == role]
            if label != role and before:
                expected[max(before)].append(start)
            else:
                expected[start, role] = [start]
        assert [
            (label, [span.start for span in pieces])
            for label, pieces in get_frames(doc)[0].merged()
        ] == [(role, pieces) for (_, role), pieces in expected.items()]


# Frames of other makers


def test_ids_of_other_makers(ann):
    ann.spans["srl"] = [
        Span(ann, 4, 5, label="ARG1", span_id="lost"),
        Span(ann, 3, 4, label="V", span_id="give"),
        Span(ann, 2, 3, label="ARG0", span_id="give"),
        Span(ann, 1, 2, label="V", span_id="90@1:make"),
    ]
    assert facts(ann) == [("give", "give", [("him", "ARG0")]), ("made", "make", [])]


def test_no_ids_at_all(ann):
    """Arguments belong to the V before them."""
    ann[3].lemma_ = "give"
    ann.spans["srl"] = [
        Span(ann, *span)
        for frame in (MAKE, GIVE)
        for span in sorted(frame.spans, key=lambda span: span[2] != "V")
    ]
    assert facts(ann) == [(text, "", arguments) for text, _, arguments in ANN]
    make, give = get_frames(ann)
    assert (make.lemma, give.lemma) == ("", "give")
    assert make.scores == (None, None)
    assert str(give) == "Ann made [ARG0: him] [V: give] [ARG1: it] [C-V: up]"
    assert [len(argument.spans) for argument in give.merged()] == [1, 2, 1]


# Carrying


@pytest.mark.parametrize("carry", CARRIERS)
def test_frames_survive(carry, ann):
    set_frames(ann, [MAKE, GIVE], [[0.125, 0.25, 0.5], [0.75, 1.0, None, 0.0]])
    before = get_frames(ann)
    ann = carry(ann)
    assert facts(ann) == ANN
    after = get_frames(ann)
    assert [str(frame) for frame in after] == [str(frame) for frame in before]
    assert [frame.lemma for frame in after] == ["make", "give_up"]
    assert [frame.verb.text for frame in after] == ["made", "give"]
    assert [frame.scores for frame in after] == [(0.125, 0.5), (0.75, None, 0.0)]
    assert [frame.verb_score for frame in after] == [0.25, 1.0]
    assert [span.label_ for span in after[1].merged()[1].spans] == ["V", "C-V"]


@pytest.mark.parametrize("carry", CARRIERS)
def test_annotated_without_frames_is_not_unannotated(carry, ann):
    assert "srl" not in carry(Doc(Vocab(), words=WORDS)).spans
    set_frames(ann, [])
    assert "srl" in carry(ann).spans


def test_docs_put_together(ann):
    """Equal ids come together and scores are lost; frames stay apart and predicates right."""
    set_frames(ann, [MAKE, GIVE], [[0.5] * 3, [0.5] * 4])
    other = ann.copy()
    set_frames(other, [FrameSpans(5, "give_up.07", GIVE.spans)])
    both = Doc.from_docs([ann, ann, other])
    assert facts(both) == [*ANN, *ANN, ("up", *ANN[1][1:])]
    frames = get_frames(both)
    assert [frame.predicate.i for frame in frames] == [1, 3, 7, 9, 17]
    assert [frame.verb.start for frame in frames] == [1, 3, 7, 9, 15]
    assert {score for frame in frames for score in frame.scores} == {None}


@Language.component("test_frames_of_second_words")
def second_words(doc):
    set_frames(doc, [FrameSpans(1, "x.01", [(0, 1, "ARG0"), (1, 2, "V")])], [[0.5, 0.25]])
    assert [frame.predicate.i for frame in doc._.frames] == [1]
    return doc


def test_worker_processes():
    install_extensions()
    nlp = spacy.blank("en")
    nlp.add_pipe("test_frames_of_second_words")
    docs = list(nlp.pipe(["Ann slept", "Bob ate it", "Cats purr"], n_process=2, batch_size=1))
    texts = [str(doc[1]._.frame) for doc in docs]
    assert texts == ["[ARG0: Ann] [V: slept]", "[ARG0: Bob] [V: ate] it", "[ARG0: Cats] [V: purr]"]
    assert [doc._.frames[0].scores for doc in docs] == [(0.5,)] * 3
    assert [doc._.frames[0].verb_score for doc in docs] == [0.25] * 3


# Extensions


def test_extensions(ann):
    install_extensions()
    install_extensions()
    assert ann._.frames == get_frames(ann)
    assert [token._.frame and token._.frame.roleset for token in ann] == [
        None,
        "make.02",
        None,
        "give_up.07",
        None,
        None,
    ]
    assert ann.user_data == {}
    del ann.spans["srl"]
    assert ann[1]._.frame is None


def test_a_token_of_several_frames_has_the_first(ann):
    install_extensions()
    set_frames(ann, [GIVE, GIVE._replace(roleset="give.01")])
    assert ann[3]._.frame.roleset == "give_up.07"
    assert len(ann._.frames) == 2


def test_names_already_taken_stay():
    install_extensions()
    mine = Token.remove_extension("frame")
    try:
        Token.set_extension("frame", default="taken")
        install_extensions()
        assert Doc(Vocab(), words=["a"])[0]._.frame == "taken"
    finally:
        Token.set_extension("frame", getter=mine[2], force=True)
