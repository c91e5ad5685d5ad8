"""Edits beside types as a detector's labels: their loss, suggestions and corrected text."""

from __future__ import annotations

import math
from pathlib import Path

import numpy
import pytest
import spacy
import torch
from spacy.language import Language
from spacy.training import Example

from spacy_lal.annotations.corrected import corrected_text
from spacy_lal.annotations.grammar_errors import (
    Correction,
    error_scores,
    grammar_errors,
    set_errors,
)
from spacy_lal.ged.edits import JOIN
from spacy_lal.ged.suggestions import Suggester
from tests.pipeline.toy_errors import MODEL, PLURAL, agreement_examples

SVA = "R:VERB:SVA"


def blank() -> Language:
    nlp = spacy.blank("en")
    nlp.add_pipe("gec_detector", config={"model": MODEL})
    return nlp


def corrected_examples(nlp: Language, count: int) -> list[Example]:
    """Sentences like "he walk today .", with what is right."""
    examples = agreement_examples(nlp, count)
    for example in examples:
        doc = example.reference
        wrong = bool(grammar_errors(doc))
        plural, verb = doc[0].text in PLURAL, doc[1].text
        right = verb.removesuffix("s") if plural else f"{verb}s"
        found = {1: [Correction(right, 1.0)]} if wrong else {}
        set_errors(doc, ["", SVA if wrong else "", "", ""], begins=found, corrections=found)
    return examples


def test_corrections_are_learned(tmp_path: Path) -> None:
    spacy.util.fix_random_seed(1)
    nlp = blank()
    examples = corrected_examples(nlp, 150)
    optimizer = nlp.initialize(lambda: examples)
    pipe = nlp.get_pipe("gec_detector")
    assert pipe.labels == (SVA,)
    assert pipe.label_data == [SVA, f"{SVA} -0+s", f"{SVA} -1+"]
    for _ in range(20):
        for batch in spacy.util.minibatch(examples, 10):
            nlp.update(list(batch), sgd=optimizer)
    nlp.to_disk(tmp_path)
    for of in (nlp, spacy.load(tmp_path)):
        assert corrected_text(of("he walk today .")) == "he walks today ."
        assert corrected_text(of("they reads often .")) == "they read often ."
        assert corrected_text(of("she eats now .")) == "she eats now ."
        (error,) = grammar_errors(of("we eats now ."))
        assert (error.label, error.suggestions[0].text) == (SVA, "eat")
        assert error.suggestions[0].probability > 0.9


def test_an_error_of_unknown_correction_counts_by_the_sum() -> None:
    nlp = blank()
    known = corrected_examples(nlp, 150)
    nlp.initialize(lambda: known)
    pipe = nlp.get_pipe("gec_detector")
    unknown = known[0].reference.copy()
    set_errors(unknown, ["", SVA, "ERROR", ""])
    rare = known[0].reference.copy()
    set_errors(rare, ["", SVA, "", ""], corrections={1: [Correction("went", 1.0)]})
    logits = numpy.asarray([[1, 0, 0, 2], [0, 2, 1, 1], [0, 1, 1, 1], [1, 1, 0, 0]], "float32")
    p = numpy.exp(logits) / numpy.exp(logits).sum(1, keepdims=True)
    right = p[0, 0] * p[3, 0]
    for doc, wrong in (
        (unknown, p[1, 1:].sum() * p[2, 1:].sum()),
        (rare, p[1, 1] * p[2, 0]),
    ):
        loss, _ = pipe.get_loss([Example(known[0].predicted, doc)], logits)
        assert loss == pytest.approx(-math.log(right * wrong) / 4, rel=1e-5)


def test_edits_begin_as_their_types(tmp_path: Path) -> None:
    typed = blank()
    examples = corrected_examples(typed, 150)
    for example in examples:
        del example.reference.spans["errors"].attrs["corrections"]
    typed.initialize(lambda: examples)
    assert typed.get_pipe("gec_detector").labels == (SVA,)
    typed.to_disk(tmp_path / "typed")
    spacy.util.fix_random_seed(3)
    nlp = blank()
    gold = corrected_examples(nlp, 150)
    pipe = nlp.get_pipe("gec_detector")
    pipe.initialize(lambda: gold, nlp=nlp, warm_start=str(tmp_path / "typed"))
    assert len(pipe.label_data) == 3
    with torch.no_grad():
        for text in ("he walk today .", "they walk now ."):
            assert error_scores(nlp(text)) == pytest.approx(error_scores(typed(text)), abs=1e-5)


def test_suggestions_by_hand() -> None:
    labels = ["R:SPELL", "R:WO", "R:WO <>", "U:DET", "M:DET", "M:DET +the", "M:DET +a"]
    suggest = Suggester(labels, ["the", "house", "mouse", "horse"])
    words = ["a", "hosue", "big", "the", "saw", "dog"]
    p = numpy.zeros((6, 7), "float32")
    p[0, 3] = 0.9
    p[1, 0] = 0.8
    p[2:4, 2] = 0.6
    p[5, 4:] = 0.1, 0.5, 0.2
    types = {0: "U:DET", 1: "R:SPELL", 2: "R:WO", 3: "R:WO", 5: "M:DET"}
    found, seconds = suggest(words, types, p)
    assert seconds == {3}
    assert {i: [text for text, _ in of] for i, of in found.items()} == {
        0: [""],
        1: ["house"],
        2: ["the big"],
        5: ["the", "a"],
    }
    # 0.1 says that a determiner is missing, but not which
    assert [q for _, q in found[5]] == pytest.approx([0.5 / 0.8, 0.2 / 0.8])
    # alone, and with words that are right or like no other, nothing can be done
    assert suggest(words, {2: "R:WO"}, p) == ({}, set())
    assert suggest(["a", "house"], {1: "R:SPELL"}, p) == ({}, set())
    assert suggest(["a", "xyzzy"], {1: "R:SPELL"}, p) == ({}, set())


def test_words_that_are_wrong_together() -> None:
    labels = ["R:DET", "R:OTHER =we", "R:WO <>", "R:DET =a", "R:DET =an"]
    suggest = Suggester(labels, [])
    det, other, swap = numpy.eye(5, dtype="float32")[:3] * 0.9
    none = 0 * det
    for text, types, rows, right, others in (
        ("You 're letter", {0: "R:DET", 1: "R:OTHER"}, [det, other, none], "Your", {1}),
        ("who ’s book", {0: "R:DET", 1: "R:DET"}, [det, det, none], "whose", {1}),
        ("she did n't", {0: "R:WO", 1: "R:WO"}, [swap, swap, none], "did n't she", {1, 2}),
        ("is he here", {0: "R:WO", 1: "R:WO"}, [swap, swap, none], "he is", {1}),
    ):
        found, seconds = suggest(text.split(), types, numpy.stack(rows))
        assert {i: [of.text for of in made] for i, made in found.items()} == {0: [right]}
        assert (seconds, set(types.values())) == (others, {types[0]})
    # "what did I do" becomes "what I did", "outta" is one word
    for text in ("did I", "out ta"):
        types = {0: "R:WO", 1: "R:WO"}
        assert suggest(text.split(), types, numpy.stack([swap, swap])) == ({}, set())
    # "'re" alone is no possessive
    assert suggest(["you", "'re"], {1: "R:DET"}, numpy.stack([none, det])) == ({}, set())


@pytest.mark.parametrize(
    ("labels", "words", "left"),
    [
        # a contraction and a slip of the pen are the same word
        ("R:VERB =do,R:OTHER =it's,R:OTHER =then", "make its than", [0.5, 1.0, 1.0]),
        ("R:NOUN =time,R:NOUN =thing,R:ADJ =other", "hour think another", [0.5, 1.0, 1.0]),
    ],
)
def test_quite_another_word_is_seldom_right(labels: str, words: str, left: list[float]) -> None:
    suggest = Suggester([*labels.split(","), "R:DET =a", "R:DET =an"], [])
    rows = numpy.eye(5, dtype="float32")[:3] * 0.9
    found, _ = suggest(words.split(), dict.fromkeys(range(3), "R"), rows)
    assert [made[0].probability for made in found.values()] == pytest.approx(left)


def test_the_next_word_decides_between_articles() -> None:
    labels = ["M:DET +a", "M:DET +an", "R:DET =a", "R:DET =an", "R:DET =the"]
    suggest = Suggester(labels, [])
    words = ["a", "apple", "the", "user", "old", "an", "horse"]
    p = numpy.full((7, 5), 0.1, "float32")
    p[4, 0] = 0.8  # before "old"
    p[2] = 0.1, 0.1, 0.2, 0.3, 0.3
    p[5, 3] = 0.8
    found, _ = suggest(words, {0: "R:DET", 2: "R:DET", 4: "M:DET", 5: "R:DET"}, p)
    best = {i: of[0].text for i, of in found.items()}
    assert best == {0: "an", 2: "a", 4: "an", 5: "a"}
    assert [text for text, _ in found[0]] == ["an", "the"]
    # a right article is no correction of itself, and leaves the others no more probable
    row = numpy.array([[0.0, 0.0, 0.0, 0.6, 0.4], [0.0] * 5])
    (the,) = suggest(["a", "horse"], {0: "R:DET"}, row)[0][0]
    assert the == ("the", pytest.approx(0.4))
    # a word may be missing before the same word
    twice = Suggester(["M:VERB", "M:VERB +had"], [])
    (had,) = twice(["had"], {0: "M:VERB"}, numpy.array([[0.1, 0.9]]))[0][0]
    assert had.text == "had"


def test_what_a_detector_knows_stays_when_training_goes_on(tmp_path: Path) -> None:
    first = blank()
    gold = corrected_examples(first, 150)
    first.initialize(lambda: gold)
    first.to_disk(tmp_path / "first")
    text = tmp_path / "words.txt"
    text.write_text("The house. A house, the house!\nThe mouse\n")
    nlp = blank()
    pipe = nlp.get_pipe("gec_detector")
    few = corrected_examples(nlp, 10)
    pipe.initialize(lambda: few, nlp=nlp, warm_start=str(tmp_path / "first"), words=str(text))
    assert pipe.label_data == first.get_pipe("gec_detector").label_data
    assert pipe.cfg["words"] == ["the", "house"]
    with torch.no_grad():
        doc, before = nlp("he walk today ."), first("he walk today .")
        assert error_scores(doc) == pytest.approx(error_scores(before), abs=1e-5)


def test_names_are_left_alone() -> None:
    suggest = Suggester(["R:SPELL", "R:DET =a", "R:DET =an"], ["michelle", "monday", "house"])
    words = ["Michele", "met", "Michele", "on", "Monfay", "in", "the", "hosue", ".", "Hosue"]
    p = numpy.tile(numpy.array([0.9, 0.0, 0.0]), (len(words), 1))
    found, _ = suggest(words, dict.fromkeys((0, 2, 4, 7, 9), "R:SPELL"), p)
    assert {i: of[0].text for i, of in found.items()} == {
        0: "Michelle",  # a sentence may begin with any word
        4: "Monday",
        7: "house",
        9: "House",
    }


def test_a_negation_stays_one() -> None:
    labels = ["R:SPELL", "R:DET =a", "R:DET =an"]
    suggest = Suggester(labels, ["polite", "impolite", "regular", "unhappy"])
    words = ["Unpolite", "unregular", "unhapy"]
    p = numpy.tile(numpy.array([0.9, 0.0, 0.0]), (len(words), 1))
    found, _ = suggest(words, dict.fromkeys(range(3), "R:SPELL"), p)
    assert {i: of[0].text for i, of in found.items()} == {0: "Impolite", 2: "unhappy"}


def test_a_misspelling_has_no_other_kind() -> None:
    suggest = Suggester(["R:MORPH -0+s", "R:DET =a", "R:DET =an"], ["young", "youngs", "animal"])
    types = dict.fromkeys((0, 1), "R:MORPH")
    suggest(["yong", "young", "animal"], types, numpy.tile([0.9, 0.0, 0.0], (3, 1)))
    assert types == {0: "R:SPELL", 1: "R:MORPH"}


def test_a_possessive_keeps_the_form_in_ing() -> None:
    suggest = Suggester(["R:VERB:FORM -3+", "R:DET =a", "R:DET =an"], ["speak", "speaking"])
    p = numpy.array([[0.0, 0.0, 0.0], [0.9, 0.0, 0.0]])
    assert suggest(["my", "speaking"], {1: "R:VERB:FORM"}, p) == ({}, set())
    assert suggest(["must", "speaking"], {1: "R:VERB:FORM"}, p)[0][1][0].text == "speak"


def test_a_noun_and_what_agrees_with_it_are_not_corrected_both() -> None:
    """ "ones does": "one does" or "ones do"; but "car was" may be "cars are"."""
    labels = [f"R:NOUN:NUM ={noun}" for noun in ("one", "cars", "man")]
    labels += [f"R:VERB:SVA ={verb}" for verb in ("do", "is", "are")]
    labels += [f"R:DET ={word}" for word in ("these", "this")]
    suggest = Suggester([*labels, "R:DET =a", "R:DET =an"], [])
    for words, right in {
        "ones 0.9 does 0.6": {0: "one"},
        "ones 0.6 does 0.9": {1: "do"},
        "ones 0.9 still 0 does 0.6": {0: "one"},
        "ones 0.9 and 0 he 0 does 0.6": {0: "one", 3: "do"},
        "ones 0.9 were 0.6": {0: "one", 1: "is"},
        "car 0.9 was 0.6": {0: "cars", 1: "are"},
        "this 0.9 ones 0.6": {0: "these"},
        "this 0.6 ones 0.9": {1: "one"},
        "these 0.6 ones 0.9": {0: "this", 1: "one"},
        "these 0.9 car 0.6 was 0.7": {0: "this", 2: "are"},
        "these 0.9 men 0.6": {0: "this", 1: "man"},
    }.items():
        texts, ps = words.split()[::2], map(float, words.split()[1::2])
        rows, types = numpy.zeros((len(texts), len(labels) + 2), "f"), {}
        for i, (text, p) in enumerate(zip(texts, ps, strict=True)):
            known = ("ones", "car", "men", "does", "were", "was", "this", "these")
            made = known.index(text) if text in known else None
            if made is not None:
                rows[i, made], types[i] = p, labels[made].split()[0]
        found, _ = suggest(texts, types, rows)
        assert {i: of[0].text for i, of in found.items()} == right
        assert set(types) == set(right)


def test_a_sentence_may_begin_with_good() -> None:
    suggest = Suggester(["R:MORPH =well", "R:DET =a", "R:DET =an"], [])
    p = numpy.array([[0.9, 0.0, 0.0]])
    assert suggest(["Good"], {0: "R:MORPH"}, p) == ({}, set())
    assert suggest(["good"], {0: "R:MORPH"}, p)[0][0][0].text == "well"


def test_a_team_may_be_many() -> None:
    suggest = Suggester(
        ["R:VERB:SVA", "R:VERB:SVA =has", "R:DET =a", "R:DET =an"], ["he", "people"]
    )
    names = {"Melbourne": 0.7, "England": 0.7, "The White House": 0.7, "He": 1.0, "the people": 1.0}
    for name, p in names.items():
        words = [*name.split(), "have"]
        row = numpy.array([[0.0] * 4] * (len(words) - 1) + [[0.0, 0.9, 0.0, 0.0]])
        (found,) = suggest(words, {len(words) - 1: "R:VERB:SVA"}, row)[0].popitem()[1]
        assert found == ("has", pytest.approx(p))


def test_right_words_that_look_wrong() -> None:
    suggest = Suggester(
        ["R:SPELL", "R:VERB =is", "R:DET =a", "R:DET =an"], ["leased", "released", "is"]
    )
    words = ["unleased", "whether", "it", "be", "to", "be", "releazed"]
    types = {0: "R:SPELL", 3: "R:VERB", 5: "R:VERB", 6: "R:SPELL"}
    p = numpy.zeros((7, 4))
    for i, type in types.items():
        p[i, int(type == "R:VERB")] = 0.9
    found, _ = suggest(words, types, p)
    assert {i: of[0].text for i, of in found.items()} == {5: "is", 6: "released"}


def test_what_is_odd_is_no_suggestion() -> None:
    labels = ["R:PRON =we", "R:PRON =myself", "R:PRON =you", "R:VERB:FORM -2+", "R:VERB:FORM -1+"]
    suggest = Suggester([*labels, "R:DET =a", "R:DET =an"], ["use", "us", "used", "make"])
    words = ["u", "make", "me", "used"]
    row = [0.5, 0.0, 0.2, 0.0, 0.0, 0.0, 0.0]
    own = [0.0, 0.6, 0.0, 0.0, 0.0, 0.0, 0.0]
    form = [0.0, 0.0, 0.0, 0.6, 0.3, 0.0, 0.0]
    rows = numpy.array([row, [0.0] * 7, own, form], "float32")
    types = {0: "R:PRON", 2: "R:PRON", 3: "R:VERB:FORM"}
    found, _ = suggest(words, types, rows)
    # no other person, no reflexive without "I", no "us" of "used"
    assert {i: [of.text for of in made] for i, made in found.items()} == {0: ["you"], 3: ["use"]}


def test_a_subject_decides_about_its_verb() -> None:
    labels = ["R:VERB:SVA =are", "R:VERB:SVA =was", "R:PRON =that", "R:DET =a", "R:DET =an"]
    suggest = Suggester(labels, [])
    row = numpy.array([0.5, 0.3, 0.1, 0.0, 0.0], "float32")
    words = ["it", "'s", "you", "is", "me"]
    types = {1: "R:VERB:SVA", 3: "R:VERB:SVA", 4: "R:PRON"}
    found, _ = suggest(words, types, numpy.stack([row] * 5))
    # nor does "that" stand for "me"
    first = {i: [of.text for of in made] for i, made in found.items()}
    assert first == {1: ["was", "that"], 3: ["are", "was", "that"], 4: ["are", "was"]}


def test_no_subject_behind_a_preposition_and_no_verb_of_another_subject() -> None:
    labels = ["R:PRON =it", "R:PRON =him", "R:VERB:SVA =helps", "R:VERB =helped"]
    suggest = Suggester([*labels, "R:DET =a", "R:DET =an"], ["it", "him", "helps", "helped"])
    row = numpy.array([0.6, 0.2, 0.6, 0.2, 0.0, 0.0], "float32")
    for words, right in {
        "with he": ["him"],
        "is he": ["it", "him"],
        "they help": ["helped"],
        "she help": ["helps", "helped"],
    }.items():
        of_words = row * ([1, 1, 0, 0, 1, 1] if "he" in words.split() else [0, 0, 1, 1, 1, 1])
        found, _ = suggest(words.split(), {1: "R:OTHER"}, numpy.stack([0 * row, of_words]))
        assert [of.text for of in found[1]] == right


def test_two_words_that_make_none_are_right() -> None:
    suggest = Suggester([f"R:ORTH {JOIN}", "R:DET =a", "R:DET =an"], ["football"])
    p = numpy.array([[0.9, 0.0, 0.0]] * 4, "float32")
    types = dict.fromkeys(range(4), "R:ORTH")
    found, seconds = suggest(["less", "face", "foot", "ball"], types, p)
    assert {i: [of.text for of in made] for i, made in found.items()} == {2: ["football"]}
    assert set(types) == {2, 3}
    assert seconds == {3}


def test_a_preposition_and_its_verb_are_not_corrected_both() -> None:
    """ "for finish": "to finish" or "for finishing"; and "form" for "from" is a slip of the pen."""
    labels = ["R:PREP =to", "R:PREP =from", "R:VERB:FORM =finishing", "R:DET =a", "R:DET =an"]
    suggest = Suggester(labels, ["for", "finish", "finishing", "to", "from", "form"])
    p = numpy.zeros((3, len(labels)), "f")
    p[0, 0] = p[1, 2] = p[2, 1] = 0.9
    types = {0: "R:PREP", 1: "R:VERB:FORM", 2: "R:PREP"}
    found, _ = suggest(["for", "finish", "form"], types, p)
    assert {i: of[0].text for i, of in found.items() if i in types} == {0: "to", 2: "from"}
    assert types == {0: "R:PREP", 2: "R:SPELL"}
    types = {1: "R:VERB:FORM"}
    found, _ = suggest(["for", "finish", "form"], types, p)
    assert found[1][0].text == "finishing"
