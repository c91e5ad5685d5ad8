"""Clauses and triples of sentences whose heads and roles are written by hand."""

import inspect
import pickle
import sys

import pytest
from spacy.tokens import Doc, DocBin
from spacy.vocab import Vocab

from spacy_lal.annotations import install_extensions
from spacy_lal.annotations.clauses import Clause, is_finite, is_passive, subject_of
from spacy_lal.annotations.triples import _subject

from .sentences import doc_of

install_extensions()

LETTERS = doc_of(
    """
    The     DT  2 det
    clerk   NN  8 nsubj
    who     WP  5 nsubj
    had     VBD 5 aux
    read    VBN 2 acl:relcl
    it      PRP 5 obj
    did     VBD 8 aux
    reply   VB  0 ROOT
    and     CC  11 cc
    was     VBD 11 aux:pass
    praised VBN 8 conj
    because IN  14 mark
    she     PRP 14 nsubj
    knew    VBD 8 advcl
    that    IN  18 mark
    Ann     NNP 18 nsubj
    was     VBD 18 cop
    ill     JJ  14 ccomp
    .       .   8 punct
    """
)


def shown(clause: Clause) -> tuple[str, str | None, str, bool, str]:
    subject = clause.subject.text if clause.subject else None
    return clause.verb.text, subject, clause.kind, clause.finite, clause.voice


def test_kinds_subjects_and_voices() -> None:
    assert list(map(shown, LETTERS._.clauses)) == [
        ("read", "who", "relative", True, "active"),
        ("reply", "The clerk who had read it", "main", True, "active"),
        ("praised", "The clerk who had read it", "main", True, "passive"),
        ("knew", "she", "adverbial", True, "active"),
        ("was", "Ann", "complement", True, "active"),
    ]
    assert [clause.span.text for clause in LETTERS._.clauses] == [
        *("who had read it", "The clerk who had read it did reply", "was praised"),
        *("because she knew that Ann was ill", "that Ann was ill"),
    ]
    assert [span.text for span in LETTERS._.clauses[0].objects] == ["it"]


INFINITIVES = doc_of(
    """
    Please   UH  2 discourse
    ask      VB  0 ROOT
    him      PRP 2 obj
    to       TO  5 mark
    come     VB  2 xcomp
    and      CC  7 cc
    sing     VB  5 conj
    a        DT  9 det
    song     NN  7 obj
    written  VBN 9 acl
    by       IN  12 case
    Ann      NNP 10 obl:agent
    .        .   2 punct
    """
)


def test_imperatives_infinitives_and_participles() -> None:
    assert list(map(shown, INFINITIVES._.clauses)) == [
        ("ask", None, "main", True, "active"),
        ("come", None, "complement", False, "active"),
        ("sing", None, "complement", False, "active"),
        ("written", None, "relative", False, "passive"),
    ]


def test_triples_without_roles() -> None:
    assert list(map(str, INFINITIVES._.triples)) == [
        *("? | ask | him", "him | sing | a song written by Ann", "Ann | written | a song"),
    ]
    assert list(map(str, LETTERS._.triples)) == [
        *("The clerk | read | it", "? | praised | The clerk who had read it", "Ann | was | ill"),
    ]


OUTER = doc_of(
    """
    The     DT  2 det
    trouble NN  6 nsubj:outer
    is      VBZ 6 cop
    that    IN  6 mark
    Bob     NNP 6 nsubj
    left    VBD 0 ROOT
    us      PRP 6 obj
    .       .   6 punct
    """
)


def test_a_predicate_that_is_a_clause() -> None:
    assert list(map(shown, OUTER._.clauses)) == [
        ("is", "The trouble", "main", True, "active"),
        ("left", "Bob", "complement", True, "active"),
    ]
    assert list(map(str, OUTER._.triples)) == ["Bob | left | us"]


def test_existential_and_expletive() -> None:
    doc = doc_of(
        """
        There EX  2 expl
        are   VBP 0 ROOT
        cats  NNS 2 nsubj
        ;     :   7 punct
        it    PRP 7 expl
        is    VBZ 7 cop
        clear JJ  2 parataxis
        that  IN  10 mark
        they  PRP 10 nsubj
        sleep VBP 7 csubj
        """
    )
    assert [shown(clause)[:3] for clause in doc._.clauses] == [
        *(("are", "cats", "main"), ("is", "it", "main"), ("sleep", "they", "complement")),
    ]


SHARED = """
    Ann     NNP 6 nsubj
    and     CC  3 cc
    Bob     NNP 1 conj
    could   MD  6 aux
    not     RB  6 advmod
    pick    VB  0 ROOT
    up      RP  6 compound:prt
    or      CC  9 cc
    carry   VB  6 conj
    apples  NNS 6 obj
    and     CC  12 cc
    pears   NNS 10 conj
    .       .   6 punct
"""


def test_coordination_negation_and_modality() -> None:
    found = doc_of(SHARED)._.triples
    assert {str(triple) for triple in found} == {
        f"{who} | could not {verb} | {what}"
        for who in ("Ann", "Bob")
        for verb in ("pick up", "carry")
        for what in ("apples", "pears")
    }
    assert len(found) == 8
    assert all(triple.negated and triple.modal.text == "could" for triple in found)


def test_roles_choose_among_prepositions() -> None:
    lines = """
        She    PRP 2 nsubj
        spoke  VBD 0 ROOT
        about  IN  4 case
        tea    NN  2 obl
        in     IN  6 case
        Rome   NNP 2 obl
        """
    assert doc_of(lines)._.triples == []
    roles = [(1, 2, "V"), (0, 1, "ARG0"), (2, 4, "ARG1"), (4, 6, "ARGM-LOC")]
    (triple,) = doc_of(lines, [(1, "speak.01", roles)])._.triples
    assert (str(triple), triple.preposition.text) == ("She | spoke about | tea", "about")


def test_roles_find_the_noun_of_a_relative_clause_and_causatives() -> None:
    doc = doc_of(
        """
        The    DT  2 det
        book   NN  5 nsubj
        Ann    NNP 4 nsubj
        wrote  VBD 2 acl:relcl
        made   VBD 0 ROOT
        them   PRP 5 obj
        buy    VB  5 xcomp
        tea    NN  7 obj
        """,
        [
            (3, "write.01", [(3, 4, "V"), (2, 3, "ARG0"), (0, 2, "ARG1")]),
            (4, "make.02", [(4, 5, "V"), (0, 4, "ARG0"), (5, 8, "ARG1")]),
            (6, "buy.01", [(6, 7, "V"), (5, 6, "ARG0"), (7, 8, "ARG1")]),
        ],
    )
    assert list(map(str, doc._.triples)) == ["Ann | wrote | The book", "them | buy | tea"]


def test_relative_pronouns_stand_for_their_nouns() -> None:
    doc = doc_of(
        """
        tea    NN  0 ROOT
        which  WDT 4 obj
        we     PRP 4 nsubj
        drank  VBD 1 acl:relcl
        """
    )
    assert list(map(str, doc._.triples)) == ["we | drank | tea"]


def test_predicates_of_be() -> None:
    doc = doc_of(
        """
        Is      VBZ 5 cop
        n't     RB  5 advmod
        Bob     NNP 5 nsubj
        on      IN  5 case
        leave   NN  0 ROOT
        in      IN  8 case
        a       DT  8 det
        house   NN  5 obl
        that    WDT 11 obj
        we      PRP 11 nsubj
        built   VBD 8 acl:relcl
        """
    )
    assert list(map(str, doc._.triples)) == [
        *("Bob | not Is on | leave in a house that we built", "we | built | a house"),
    ]


def test_question_words_as_predicates() -> None:
    """What stands behind them, subject and verb, is not theirs."""
    name = doc_of(
        """
        What WP  0 ROOT
        is   VBZ 1 cop
        your PRP$ 4 nmod:poss
        name NN  1 nsubj
        ?    .   1 punct
        """
    )
    said = doc_of(
        """
        That DT  3 nsubj
        's   VBZ 3 cop
        what WP  0 ROOT
        I    PRP 5 nsubj
        said VBD 3 acl:relcl
        .    .   3 punct
        """
    )
    assert [str(triple) for doc in (name, said) for triple in doc._.triples] == [
        "your name | is | What",
        "That | 's | what I said",
    ]


def test_docs_that_cannot_be_read() -> None:
    bare = Doc(Vocab(), words=["They", "sat"])
    for view in ("clauses", "triples"):
        with pytest.raises(ValueError, match=rf"doc._.{view} needs heads and tags"):
            getattr(bare._, view)
    other = doc_of("They PRP 2 nsubj\nsaw VBD 0 ROOT\nus PRP 2 dobj")
    with pytest.raises(ValueError, match="Universal Dependencies, and the Doc has 'dobj'"):
        _ = other._.clauses
    for empty in (Doc(Vocab()), Doc(Vocab(), words=["  ", "\n"])):
        assert empty._.clauses == empty._.triples == []


@pytest.mark.parametrize("relation", ["conj", "xcomp"])
def test_no_depth_meets_pythons_limit(relation: str) -> None:
    lines = [f"go VB {i} {relation if i else 'ROOT'}" for i in range(300)]
    last = doc_of("\n".join(lines))[-1]
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(len(inspect.stack(0)) + 100)
    try:
        assert is_finite(last) is (relation == "conj")
        assert not is_passive(last)
        assert subject_of(last) is _subject(last, {}) is None
    finally:
        sys.setrecursionlimit(limit)


def test_views_survive_storage() -> None:
    expected = list(map(str, LETTERS._.triples))
    (stored,) = DocBin(docs=[LETTERS]).get_docs(Vocab())
    for again in (stored, pickle.loads(pickle.dumps(LETTERS)), LETTERS.copy()):
        assert list(map(str, again._.triples)) == expected


def test_a_modal_before_not_is_written_out() -> None:
    doc = doc_of(
        """
        You  PRP 4 nsubj
        ca   MD  4 aux
        n't  RB  4 advmod
        park VB  0 ROOT
        cars NNS 4 obj
        """
    )
    (triple,) = doc._.triples
    assert (str(triple), triple.modal) == ("You | can not park | cars", doc[1])
