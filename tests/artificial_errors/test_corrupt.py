"""Errors in sentences: what changes, what is labelled, how much, and always the same way."""

import os
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest
import spacy
from spacy.tokens import Doc

from spacy_lal.annotations.grammar_errors import get_errors
from spacy_lal.artificial_errors.clean_text import TextCounts
from spacy_lal.artificial_errors.corrupt import (
    apply_changes,
    corrupt_doc,
    corrupt_words,
    draw_changes,
    sentence_random,
)
from spacy_lal.artificial_errors.english import english_model
from spacy_lal.artificial_errors.error_model import ErrorKind, ErrorModel, Insertion, Noise
from spacy_lal.artificial_errors.sites import Change, change_at, find_sites

from .small import MODEL, made_up


def text_of(words, spaces):
    return "".join(word + " " * space for word, space in zip(words, spaces, strict=True))


def applied(text, *changes, model=MODEL):
    """The text after changes of its tokens, with labels where there are any."""
    doc = spacy.blank("en")(text)
    words = [token.text for token in doc]
    spaces = [bool(token.whitespace_) for token in doc]
    found = apply_changes(words, spaces, [Change(*change) for change in changes], model, types=True)
    marked = [
        f"{word}|{label}" if label else word for word, label in zip(found[0], found[2], strict=True)
    ]
    return text_of(marked, found[1])


@pytest.mark.parametrize(
    ("text", "changes", "expected"),
    [
        ("I saw the house.", [(2, 3, ())], "I saw house|M."),
        ("I saw the house.", [(2, 3, ("a",))], "I saw a|R house."),
        ("I saw a house.", [(2, 2, ("the",))], "I saw the|U a house."),
        ("The house is old.", [(0, 1, ())], "House|M is old."),
        ("The house is old.", [(0, 1, ("a",))], "A|R house is old."),
        ("Water is wet.", [(0, 0, ("the",))], "The|U water is wet."),
        ("London is wet.", [(0, 0, ("the",))], "The|U London is wet."),
        ("Quickly people walk.", [(0, 2, ("people", "Quickly"))], "People|R quickly|R walk."),
        ("If so, the house", [(2, 3, ())], "If so the|M house"),
        ("so and the house", [(1, 1, (",",))], "so,|U and the house"),
        ("its house", [(0, 1, ("it", "'s"))], "it|R's|R house"),
        ("it's house", [(1, 2, ("is",))], "it is|R house"),
        ("a house", [(0, 2, ("ahouse",))], "ahouse|R"),
        ("see (the house)", [(2, 3, ())], "see (house|M)"),
        ("every day comes", [(0, 2, ("every", "days"))], "every days|R comes"),
        ("a lot of houses", [(0, 3, ("a", "lot"))], "a lot houses|M"),
        ("well-known house", [(1, 2, ())], "well known|M house"),
        ('"The house" is old', [(1, 2, ())], '"House|M" is old'),
        ("I saw it", [(1, 2, ("saw",))], "I saw it"),
        ("the  house", [(0, 1, ())], " house|M"),
    ],
)
def test_changes_by_hand(text, changes, expected):
    assert applied(text, *changes) == expected


def replay(words, changes):
    """Corrupted words and labels, by a rule as short as it can be."""
    found, labels, at, missing = [], [], 0, False
    for change in [*changes, Change(len(words), len(words), ())]:
        for word in words[at : change.start]:
            found.append(word)
            labels.append(missing)
            missing = False
        at = change.end
        old = list(words[change.start : change.end])
        for word in change.new:
            # only of phrases of several words may some stay as they are
            same = len(old) > 1 and len(change.new) < len(old) and word in old
            found.append(word)
            labels.append(missing or not same)
        missing = missing or (len(change.new) < len(old) and not change.new)
    return found, labels


def test_labels_are_those_of_the_changes():
    for number, (words, spaces) in enumerate(made_up(1500)):
        changes = draw_changes(words, spaces, MODEL, 4, Random(number))
        found, _, labels, _ = apply_changes(words, spaces, changes, MODEL)
        expected, wrong = replay(words, changes)
        assert [word.lower() for word in found] == [word.lower() for word in expected]
        assert [bool(label) for label in labels] == wrong


def test_the_asked_rate_is_met_and_some_sentences_stay():
    for rate in (0.03, 0.1, 0.2):
        tokens = wrong = clean = 0
        sentences = made_up(3000, seed=1)
        for number, (words, spaces) in enumerate(sentences):
            labels = corrupt_words(words, spaces, MODEL, rate, Random(number))[2]
            tokens += len(labels)
            wrong += sum(map(bool, labels))
            clean += not any(labels)
        assert wrong / tokens == pytest.approx(rate, rel=0.08)
        # more than if errors came at a constant rate
        assert clean / len(sentences) > {0.03: 0.6, 0.1: 0.28, 0.2: 0.12}[rate]


def test_changed_or_not_is_what_labels_say():
    for words, spaces in made_up(1000, seed=2):
        found, between, labels, _ = corrupt_words(words, spaces, MODEL, 0.1, Random(3))
        assert len(found) == len(between) == len(labels)
        assert any(labels) == (found != words)
        assert any(letter.isalpha() for letter in "".join(found))
        first = next(word for word in found if word[0].isalpha())
        assert first[0].isupper()
        assert "  " not in text_of(found, between)
        assert " ." not in text_of(found, between)


def test_nothing_is_done_to_what_is_no_word():
    words = ["See", "\n", "http://a.b/house", "12", "the@house.org", "3rd", "@user", "NATO", " "]
    for seed in range(200):
        found, _, labels, _ = corrupt_words(words, [True] * 9, MODEL, 0.9, Random(seed))
        assert [word for word in found if word in words[1:]] == words[1:]
        assert not any(labels[1:])


def test_whitespace_is_no_error():
    model = ErrorModel("en", {"k": ErrorKind(1.0, {"the": {"": 1.0}})})
    found = corrupt_words(["the", "\n", "house"], [True] * 3, model, 1.0, Random(0))
    assert found[:3] == (["\n", "house"], [True, True], ["", "ERROR"])


def test_nothing_goes_missing_at_the_end_or_altogether():
    model = ErrorModel("en", {"k": ErrorKind(1.0, {"the": {"": 1.0}, "house": {"": 1.0}})})
    for words in (["the"], ["the", "house"], ["house", "."]):
        for seed in range(50):
            found, _, labels, _ = corrupt_words(
                words, [True] * len(words), model, 1.0, Random(seed)
            )
            assert found
            assert found[-1] == words[-1]
            assert any(letter.isalpha() for letter in "".join(found))
            assert any(labels) == (found != words)


def test_names_are_not_mistaken_for_words():
    model = ErrorModel(
        "en",
        {"k": ErrorKind(1.0, {"us": {"we": 1.0}, "house": {"home": 1.0}})},
        words=frozenset({"house", "us"}),
    )

    def keys(*words: str) -> list[str]:
        return [site.text for site in find_sites(words, [True] * len(words), model)]

    assert keys("The", "US", "White", "House") == []
    assert keys("House", "of", "us") == ["house", "us"]
    assert keys("THE", "HOUSE") == ["house"]


def test_noise_is_for_known_words_and_always_changes_them():
    words, spaces = ["Water", "in", "London", "Aaaa", "letter"], [True] * 5
    for noise in Noise:
        model = ErrorModel(
            "en", {}, {noise: 1.0}, MODEL.words, MODEL.closed, {"e": {"a": 1.0, "e": 1.0}}
        )
        seen = set()
        for seed in range(60):
            for change in draw_changes(words, spaces, model, 1, Random(seed)):
                assert change.new != tuple(words[change.start : change.end])
                seen.add((change.start, *change.new))
        assert {start for start, *_ in seen} <= {0, 2, 4}, noise
        expected = {"lower": {(2, "london")}, "capital": {(4, "Letter")}, "swap": set()}
        assert expected.get(noise, seen) == seen
        assert seen or noise == "swap"


def test_insertions_need_whitespace_and_other_words():
    insertion = Insertion({"*": 1.0}, {"*": 1.0})
    model = ErrorModel("en", {"k": ErrorKind(1.0, {}, {"the": insertion})})
    words = ["the", "cat", "do", "n't", "\n", "x", "3"]
    sites = find_sites(words, [word != "do" for word in words], model)
    assert [site.start for site in sites] == [2]


def test_a_sentence_gets_the_same_errors_wherever_it_is():
    sentences = [words for words, _ in made_up(200)]

    def corrupted(words, round=0):
        random = sentence_random(7, words, round)
        return corrupt_words(words, [True] * len(words), MODEL, 0.2, random)

    forward = {tuple(words): corrupted(words) for words in sentences}
    assert {tuple(words): corrupted(words) for words in reversed(sentences)} == forward
    assert any(corrupted(words, 1) != forward[tuple(words)] for words in sentences)


def print_errors():
    """A model of clean text, and errors of another one, for the next test."""
    counts = TextCounts()
    for words, spaces in made_up(20):
        counts.add(words, spaces)
        print(corrupt_words(words, spaces, MODEL, 0.2, sentence_random(1, words, 0)))
    # sets have another order in each process; a seed picks from tables in theirs
    print(repr(english_model(counts).phrases))


def test_another_process_makes_the_same_errors(capsys):
    code = (
        "import sys; sys.modules['torch'] = None\n"  # its import takes longer than all the rest
        "from tests.artificial_errors.test_corrupt import print_errors; print_errors()"
    )
    result = subprocess.run(
        [sys.executable, "-c", code],
        cwd=Path(__file__).parents[2],
        env=os.environ
        | {"PYTHONHASHSEED": "2" if os.environ.get("PYTHONHASHSEED") == "1" else "1"},
        capture_output=True,
        encoding="utf8",
        check=True,
    )
    print_errors()
    assert result.stdout == capsys.readouterr().out


def test_docs_keep_sentences_and_get_errors():
    nlp = spacy.blank("en")
    words = ["The", "house", ".", "The", "tree", "."]
    doc = Doc(nlp.vocab, words=words, tags=["X"] * 6, sent_starts=[True, False, False] * 2)
    corrupted = corrupt_doc(doc, nlp.vocab, MODEL, 0.5, seed=4, types=True)
    assert len(list(corrupted.sents)) == 2
    assert set(get_errors(corrupted)) <= {"", "R", "M", "U"}
    assert not corrupted.has_annotation("TAG")
    assert [token.text for token in doc] == words


@pytest.mark.parametrize(("rate", "spaces"), [(1.1, 1), (-0.1, 1), (float("nan"), 1), (0.1, 2)])
def test_impossible_arguments(rate, spaces):
    with pytest.raises(ValueError, match=r"rate of errors must be|1 words, but 2 spaces"):
        corrupt_words(["a"], [True] * spaces, MODEL, rate, Random(0))


def test_rate_zero_makes_no_errors():
    words, spaces = ["The", "house", "."], [True, False, False]
    found = corrupt_words(words, spaces, MODEL, 0.0, Random(0))
    assert found == (words, spaces, [""] * 3, {})


def drawn_slowly(words, spaces, wanted, rng):
    """`draw_changes` by its definition: from all sites that are left, against all changes."""
    sites, changes = find_sites(words, spaces, MODEL), []
    # the first of several waiting times is each one's by weight
    times = [(rng.expovariate(site.weight), at) for at, site in enumerate(sites)]
    for _, at in sorted(times) if wanted > 0 else ():
        if wanted <= 0:
            break
        site = sites[at]
        change = change_at(site, words, MODEL, rng)
        if change is None:
            continue
        start, end, new = change.start, change.end, change.new
        moves = len(new) != end - start
        for other in changes:
            touching = end == other.start or other.end == start
            other_moves = len(other.new) != other.end - other.start
            overlap = start < other.end and other.start < end
            if overlap or start == other.start or (touching and (moves or other_moves)):
                break
        else:
            # small.py's phrases have no word in common with what replaces them
            if new or any(word.strip() for word in words[end:]):
                cost = max(1, len(new))
                if cost <= wanted or rng.random() * cost < wanted:
                    wanted -= cost
                    changes.append(change)
    return sorted(changes, key=lambda change: change.start)


def test_changes_are_drawn_from_all_sites_of_long_texts():
    for count in (1, 3, 60):
        sentences = made_up(count, seed=count)
        words = [word for sentence, _ in sentences for word in sentence] + ["\n"]
        spaces = [space for _, between in sentences for space in between] + [False]
        for seed in range(30 // count or 1):
            wanted = len(words) // (2 + seed % 5)
            changes = draw_changes(words, spaces, MODEL, wanted, Random(seed))
            expected = drawn_slowly(words, spaces, wanted, Random(seed))
            assert changes == expected


def test_spaces_stand_between_words_no_break_spaces_in_them():
    insertions = {" as  well ": Insertion({"*": 1.0}, {"people": 1.0})}
    replacements = {"walk": {"run\u00a0off ": 1.0}}
    model = ErrorModel("en", {"more": ErrorKind(1.0, replacements, insertions)})
    words = ["people", "walk"]
    changes = [
        change_at(site, words, model, Random(1)) for site in find_sites(words, [1, 1], model)
    ]
    assert changes == [Change(0, 0, ("as", "well")), Change(1, 2, ("run\u00a0off",))]
