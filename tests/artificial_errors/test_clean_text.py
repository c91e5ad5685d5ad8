"""What is learned from clean text."""

from itertools import chain

import pytest

from spacy_lal.artificial_errors.clean_text import (
    FORM,
    FUNCTION,
    TextCounts,
    calibrated,
    families_of,
    model_from_text,
    neighbour_insertions,
    similar_words,
    spacing_errors,
    suffix_alternations,
    word_families,
)
from spacy_lal.artificial_errors.english import english_model, lists
from spacy_lal.artificial_errors.error_model import Noise, key_of
from spacy_lal.artificial_errors.sites import find_sites

from .small import MODEL, made_up, split


def test_suffixes_alternate_if_enough_stems_have_both():
    words = split("plant plants planted garden gardens window windows water waters watered plane")
    alternations = suffix_alternations(words)
    assert alternations == {("", "s"): 4}
    assert suffix_alternations(words, least=2) == {("", "s"): 4, ("", "ed"): 2, ("ed", "s"): 2}
    families = word_families(["plan", "plans", "plane", "bus"], alternations)
    assert families == {"plan": {"plans": 1.0}, "plans": {"plan": 1.0}}
    weights = word_families(words, suffix_alternations(words, least=2))["planted"]
    assert weights == pytest.approx({"plant": 0.5**0.5, "plants": 0.5**0.5})


def counts_of(*sentences):
    counts = TextCounts()
    for sentence in sentences:
        counts.add(sentence.split())
    return counts


def test_words_are_known_as_they_are_usually_written():
    counts = counts_of(*["The cat saw London and NATO , I think 3 x1"] * 3, "Yes London London")
    assert counts.well_known() == {"cat", "saw", "London", "and", "I", "think"}


def test_closed_words_are_short_and_frequent():
    counts = counts_of(*["a of in elephants elephants"] * 2, "tiger")
    assert counts.closed(most=3) == {"a", "of", "in"}
    assert "elephants" not in counts.closed()


def test_insertions_go_where_the_word_could_be():
    counts = counts_of(*["we see the sea"] * 4, *["we see all"] * 12, "the end")
    (insertion,) = neighbour_insertions(counts.sample, {"the"}).values()
    assert insertion.after == {"see": 0.5}
    assert insertion.before == {"sea": 1.0}


def test_words_before_the_same_words_are_similar():
    counts = counts_of("in town", "in town", "at town", "at home", "to go")
    similar = similar_words(counts.sample, {"in", "at", "to"}, most=1)
    assert similar["in"] == {"at": pytest.approx(0.5**0.5, abs=1e-3)}


def test_words_in_one_and_two():
    counts = counts_of(*["every day everyday , may be maybe"] * 20)
    assert spacing_errors(counts) == {
        "everyday": {"every day": 1.0},
        "every day": {"everyday": 1.0},
        "may be": {"maybe": 1.0},
    }


def test_calibration_meets_the_shares():
    sample = made_up(400)
    shares = {"function": 60.0, "form": 10.0, "swap": 10.0}
    model = calibrated(MODEL, sample, shares)
    weights = dict.fromkeys(shares, 0.0)
    tokens = 0
    for words, spaces in sample:
        tokens += len(words)
        for site in find_sites(words, spaces, model):
            form = site.text in MODEL.kinds["form"].replacements
            name = "swap" if site.how == Noise.SWAP else "form" if form else "function"
            weights[name] += site.weight
    found = {name: 100 * weight / tokens for name, weight in weights.items()}
    assert found == pytest.approx(shares, rel=1e-3)
    assert model.noise[Noise.OMIT] == 0


def test_calibration_leaves_most_places_correct():
    """However large the share, no place of a kind is wrong much more often than a token is."""
    sample = [(split("the house is in the garden"), [True] * 6)]
    model = calibrated(MODEL, sample, {"form": 90.0})
    (site,) = (site for site in find_sites(*sample[0], model) if site.text == "house")
    assert site.weight == pytest.approx(1.5)


@pytest.fixture
def text():
    counts = TextCounts()
    for words, spaces in made_up(300):
        counts.add([word + "s" if word == "tree" else word for word in words], spaces)
        counts.add(words, spaces)
    return counts


def test_a_model_of_any_language(text, tmp_path):
    model = model_from_text(text, "xx")
    model.save(tmp_path / "model.json")
    assert model.load(tmp_path / "model.json") == model
    assert "the" in model.kinds[FUNCTION].replacements
    with pytest.raises(ValueError, match="no words in the text"):
        model_from_text(TextCounts(), "xx")


def test_the_model_of_english(text):
    model = english_model(text)
    shares = lists()["shares"]
    assert {*model.kinds, *model.noise} == set(shares)
    assert sum(shares.values()) == pytest.approx(94, abs=6)
    assert "gone" in model.kinds[FORM].replacements["went"]
    assert "i" in model.closed
    assert all(word == word.lower() for word in model.closed)
    for kind in model.kinds.values():
        for phrase, others in kind.replacements.items():
            assert phrase == phrase.strip()
            assert phrase not in others
    assert model.kinds["punctuation"].replacements[";"][","] > 0
    assert model.kinds["homophone"].replacements["their"] == {"there": 0.5, "they 're": 0.5}


def test_the_lists_of_english():
    given = dict(lists())
    given |= given.pop("replacements") | given.pop("insertions")
    assert given["missing determiner"]["a"] == {"": 1.6}
    assert given["wrong preposition"]["different from"]["different than"] == 0.5
    assert given["conjunction"]["but"] == {"and": 0.5, "however": 0.2, "but ,": 0.1, "": 0.2}
    assert given["letters"]["ied"] == {"yed": 1.0, "ed": 0.7}
    assert given["punctuation"][":"] == {",": 0.3, "": 0.2}
    assert given["comma_before"]["*"] == 0.005
    assert ["there", "their", "they 're"] in given["homophones"]
    groups = ("irregular", "homophones", "word_choice")
    assert [len(given[name]) for name in groups] == [75, 108, 111]
    of_kinds = {"shares", "after", *(name for name in given if name.startswith("rule"))}
    tables = [given[name] for name in given if isinstance(given[name], dict)]
    assert sum(map(len, tables)) - sum(len(given[name]) for name in of_kinds) == 292
    # written as words are looked up
    listed = [given[name] for name in given.keys() - of_kinds] + [*given["after"].values()]
    groups = [[one] if isinstance(one, str) else one for one in chain(*listed)]
    assert [word for word in chain(*groups) if word != " ".join(map(key_of, word.split(" ")))] == []


def test_lemmas_make_families():
    counts = TextCounts()
    for _ in range(3):
        counts.add(["mice", "saw", "mouse"], None, ["mouse", "see", "mouse"])
    assert families_of(counts, ()) == {"mice": {"mouse": 0.5}, "mouse": {"mice": 0.5}}
