"""Sentences of textbook English that a script makes of templates."""

from __future__ import annotations

import random
import re
import runpy
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from typer import Typer
from typer.testing import CliRunner

from spacy_lal.annotations import FrameSpans
from spacy_lal.evaluation.textbook import read_textbook
from spacy_lal.formats.treebank_sentence import TreebankSentence, language_vocab, to_doc

from .running import ROOT, read_docs

SCRIPT = SimpleNamespace(**runpy.run_path(str(ROOT / "projects/english/textbook.py")))
MEASURED = read_textbook(ROOT / "assets/textbook/measured.checks")
UNTRAINED = {
    *("perception verbs", "relative clauses with a stranded or moved preposition"),
    *("extraposition", "inversion after a negative adverb", "gapping and ellipsis"),
    *("paired conjunctions", "comparatives", "participle clauses", "direct speech"),
    "abbreviations and numbers",
}
# auxiliaries and pronouns, and words that a construction itself consists of: causatives ("had it
# washed", "made him wait", "let", "get", "help"), "used to", "going to", "what kind of", "how many"
SHARED = """
be am is are was were been being have has had having do does did done doing let lets letting make
makes made making get gets got getting help used going kind many much else anyone everyone everybody
somebody"""
CONTENT = re.compile("NN|VB|JJ|NNP")
# labels, tags, relations and roles of the English Web Treebank's training data
LABELS = """
S SBAR SBARQ SQ SINV NP VP PP ADJP ADVP INTJ PRN PRT WHNP WHPP WHADVP WHADJP"""
TAGS = """
NN NNS NNP VB VBD VBG VBN VBP VBZ MD JJ RB RP DT PDT PRP PRP$ POS IN TO CC CD EX UH WDT WP WP$ WRB
. , -LRB- -RRB-"""
RELATIONS = """
root nsubj nsubj:pass obj iobj csubj ccomp xcomp obl obl:agent obl:unmarked advmod advcl advcl:relcl
acl acl:relcl amod appos aux aux:pass case cc compound compound:prt conj cop det det:predet
discourse expl fixed flat mark nmod nmod:desc nmod:poss nummod parataxis punct vocative"""
ROLES = """
V C-V ARG0 ARG1 ARG2 ARG3 R-ARG0 R-ARG1 R-ARG2 C-ARG1 ARGM-ADV ARGM-CAU ARGM-CXN C-ARGM-CXN ARGM-DIR
ARGM-DIS ARGM-EXT ARGM-LOC ARGM-MNR ARGM-MOD ARGM-NEG ARGM-PRD ARGM-PRP ARGM-TMP"""


@pytest.fixture(scope="module")
def grammar() -> Any:
    return SCRIPT.Grammar()


def made(template: str, grammar: Any, seed: int = 1) -> Any:
    maker = SCRIPT.Maker(grammar, random.Random(seed))
    return maker.make("test", SCRIPT.parse(template))


def crossing(spans: list[tuple[int, int]]) -> bool:
    return any(a < c < b < d for a, b in spans for c, d in spans)


def test_every_template_makes_annotated_sentences(grammar: Any) -> None:
    vocab = language_vocab("en")
    maker = SCRIPT.Maker(grammar, random.Random(1))
    for kind in grammar.shares:
        for _, template in grammar.rules[kind]:
            sentence = maker.make(kind, template)
            to_doc(sentence, vocab)  # raises an error unless there is one root
            arcs = [(min(i, head), max(i, head)) for i, head in enumerate(sentence.heads)]
            if not any(node.to[:1] == ">" for node in template.all() if node.label != "NP"):
                assert not crossing(arcs), sentence.words  # "What did he try to find?" has some
            assert not crossing([(start, end) for start, end, _ in sentence.constituents])
            assert {label for *_, label in sentence.constituents} <= set(LABELS.split())
            assert set(sentence.tags) <= set(TAGS.split()), sentence.words
            assert set(sentence.deps) <= set(RELATIONS.split())
            roles = {span[2] for frame in sentence.frames for span in frame.spans}
            assert roles <= set(ROLES.split()), sentence.words


def test_ten_measured_kinds_have_no_templates(grammar: Any) -> None:
    assert {text.kind for text in MEASURED} - set(grammar.shares) == UNTRAINED
    assert set(grammar.shares) <= {text.kind for text in MEASURED}


def test_no_content_word_is_measured(grammar: Any) -> None:
    measured = {word for text in MEASURED for word in re.findall(r"\w+", text.text.lower())}
    function = {
        entry.lemma for c in ("num", "degree", "where", "from") for entry in grammar.words[c]
    }
    forms = {
        form
        for entries in grammar.words.values()
        for entry in entries
        if entry.lemma not in function and (not entry.tag or CONTENT.match(entry.tag))
        for text in entry.forms.values()
        for form in re.split("[/| ]", text.lower())
    }
    forms |= {
        node.text.lower()
        for rules in grammar.rules.values()
        for _, rule in rules
        for node in rule.all()
        if node.text and CONTENT.match(node.label)
    }
    assert len(forms) > 1000
    assert forms & measured - set(SHARED.split()) == set()


def test_tenses_agree_and_have_their_roles(grammar: Any) -> None:
    template = (
        "(S (NP:nsubj=1ARG1 {person.pl}) (VP wo/MD:aux=1ARGM-MOD n't/RB:advmod=1ARGM-NEG"
        " (VP be/VB:aux:pass=2Vbe.03 (VP sacked/VBN=1 (PP:obl:agent=1ARG0 by/IN:case"
        " (NP us/PRP))))) ./.:punct)"
    )
    sentence = made(template, grammar)
    noun = sentence.words[0]
    assert sentence == TreebankSentence(
        words=[noun, "wo", "n't", "be", "sacked", "by", "us", "."],
        spaces=[True, False, True, True, True, True, False, False],
        tags=["NNS", "MD", "RB", "VB", "VBN", "IN", "PRP", "."],
        heads=[4, 4, 4, 4, 4, 6, 4, 4],
        deps=["nsubj", "aux", "advmod", "aux:pass", "root", "case", "obl:agent", "punct"],
        constituents=[
            *((0, 8, "S"), (0, 1, "NP"), (1, 7, "VP"), (3, 7, "VP"), (4, 7, "VP")),
            *((5, 7, "PP"), (6, 7, "NP")),
        ],
        frames=[
            FrameSpans(3, "be.03", [(3, 4, "V")]),
            FrameSpans(
                4,
                "",
                [
                    *((0, 1, "ARG1"), (1, 2, "ARGM-MOD"), (2, 3, "ARGM-NEG"), (4, 5, "V")),
                    (5, 7, "ARG0"),
                ],
            ),
        ],
    )


def test_a_question_puts_its_auxiliary_before_the_subject(grammar: Any) -> None:
    template = (
        "(SBARQ (WHNP:obj=1ARG1 what/WP) (SQ~ (NP:nsubj=1ARG0 the/DT:det {person.sg})"
        " (VP~s {devour}=1)) ?/.:punct)"
    )
    for seed in range(20):
        sentence = made(template, grammar, seed)
        words, last = list(sentence.words), len(sentence.words) - 2
        subject = words.index("the")
        assert sentence.deps[:2] == ["obj", "aux"]
        assert sentence.heads[0] == sentence.heads[subject + 1] == last
        assert sentence.deps[last] == "root"
        assert (1, last + 1, "SQ") in sentence.constituents
        frame = next(frame for frame in sentence.frames if frame.predicate == last)
        assert {(0, 1, "ARG1"), (subject, subject + 2, "ARG0")} <= set(frame.spans)
        assert (
            words[1] in ("Did", "did", "does", "has", "had", "ca", "wo") or sentence.tags[1] == "MD"
        )


def test_marks_of_heads_particles_and_articles(grammar: Any) -> None:
    template = (
        "(S (S {you} (VP zip/VBP=1 (NP:obj=1ARG1 a/DT:det urn/NN) (PRT:compound:prt=1C-V up/RP)))"
        " ,/,:punct^ and/CC:cc^ (S:conj (NP:nsubj=2ARG0 he/PRP) (VP {be.z}:aux=3Vbe.03 (VP"
        " zipping/VBG=2 (PRT:compound:prt=2C-V up/RP)))) ./.:punct)"
    ).replace("{you}", "(NP:nsubj=1ARG0 you/PRP)")
    sentence = made(template, grammar, 3)
    assert sentence.words[:9] == [
        "You",
        "zip",
        "an",
        "urn",
        "up",
        ",",
        "and",
        "he",
        sentence.words[8],
    ]
    assert sentence.words[8] in ("is", "'s")
    assert sentence.heads == [1, 1, 3, 1, 1, 9, 9, 9, 9, 1, 9, 1]
    spans = {frame.predicate: set(frame.spans) for frame in sentence.frames}
    assert spans[1] == {(1, 2, "V"), (0, 1, "ARG0"), (2, 4, "ARG1"), (4, 5, "C-V")}
    assert spans[9] == {(9, 11, "V"), (7, 8, "ARG0")}  # the particle follows its verb


@pytest.mark.parametrize(
    ("template", "message"),
    [
        ("(S (NP you/PRP)", "not one whole phrase"),
        ("(S you/PRP) (S me/PRP)", "not one whole phrase"),
        ("(S you)", "can't read 'you'"),
        ("(S )", r"can't read '\)'"),
    ],
)
def test_what_is_wrong_in_a_template_is_said(template: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        SCRIPT.parse(template)


def test_a_phrase_needs_one_head(grammar: Any) -> None:
    with pytest.raises(ValueError, match=r"2 heads in \(S you go"):
        made("(S you/PRP go/VBP)", grammar)


def test_files_with_errors_are_named_with_the_line(tmp_path: Path) -> None:
    (tmp_path / "words.txt").write_text("# words\nverbs move: go\n")
    (tmp_path / "templates.txt").write_text("")
    with pytest.raises(ValueError, match=r"words.txt:2: expected `verb\|noun\|word"):
        SCRIPT.Grammar(tmp_path)


@pytest.mark.parametrize(
    ("text", "forms"),
    [
        ("bake", ["bake", "baked", "baked", "baking", "bake/bakes/bake"]),
        ("pet!", ["pet", "petted", "petted", "petting", "pet/pets/pet"]),
        ("deny", ["deny", "denied", "denied", "denying", "deny/denies/deny"]),
        ("get!/got/gotten", ["get", "got", "gotten", "getting", "get/gets/get"]),
    ],
)
def test_forms_of_verbs(text: str, forms: list[str]) -> None:
    assert list(SCRIPT.verb_forms(text).values()) == forms


def test_command_writes_the_same_sentences_again(tmp_path: Path) -> None:
    app = Typer()
    app.command()(SCRIPT.main)
    paths = [tmp_path / "one.spacy", tmp_path / "two.spacy"]
    for path in paths:
        result = CliRunner().invoke(app, [str(path), "--sentences", "40"])
        assert result.exit_code == 0, result.output
    one, two = ([doc.text for doc in read_docs(path)] for path in paths)
    assert one == two
    assert len(set(one)) == 40
    assert all(doc.user_data["paragraph"] for doc in read_docs(paths[0]))
