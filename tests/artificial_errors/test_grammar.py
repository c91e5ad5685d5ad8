"""Errors against rules of grammar: where each is possible, and what it makes of a sentence."""

from dataclasses import replace
from random import Random

import pytest

from spacy_lal.artificial_errors.clean_text import TextCounts
from spacy_lal.artificial_errors.corrupt import corrupt_words
from spacy_lal.artificial_errors.english import Verb, grammar_kinds, lists, regular, verbs_of
from spacy_lal.artificial_errors.error_model import (
    LETTER_NOISE,
    ErrorKind,
    ErrorModel,
    Insertion,
    Noise,
)
from spacy_lal.artificial_errors.sites import change_at, find_sites, is_variant

from .small import split

TEXT = [
    "they want to paint the wall , she painted it and is painting a door , he paints",
    "we will visit them , he visits us , they visited us and are visiting her",
    "a wall has two walls , to museums we go , the museum and the museums",
]


@pytest.fixture(scope="module")
def kinds() -> dict[str, ErrorKind]:
    counts = TextCounts()
    for _ in range(3):
        for sentence in TEXT:
            counts.add(split(sentence))
    return grammar_kinds(counts, lists())


def made(kinds: dict[str, ErrorKind], name: str, sentence: str) -> set[str]:
    """All that errors of a kind make of a sentence, one at a time."""
    model = ErrorModel("en", {name: kinds[name]})
    words = split(sentence)
    found = set()
    for site in find_sites(words, [True] * len(words), model):
        old = words[site.start : site.end]
        others = site.choice[0] or (
            [site.text] if site.how != Noise.SWAP else [" ".join(old[::-1])]
        )
        for other in others:
            found.add(" ".join([*words[: site.start], other, *words[site.end :]]))
    return found


@pytest.mark.parametrize(
    ("name", "sentence", "expected"),
    [
        ("agreement", "the girl paints a wall", {"the girl paint a wall"}),
        ("agreement", "the girls were late", {"the girls was late"}),
        ("agreement", "he does n't paint", {"he do n't paint"}),
        ("agreement after a pronoun", "she visits us", {"she visit us"}),
        ("agreement after a pronoun", "the visits end", set()),
        ("third person after a plural", "they paint", {"they paints"}),
        ("third person after a plural", "to paint", set()),
        (
            "form after an auxiliary",
            "I must paint",
            {"I must paints", "I must painted", "I must painting"},
        ),
        ("form after an auxiliary", "I paint", set()),
        ("to after a modal", "we can paint", {"we can to paint"}),
        ("gerund", "without painting it", {"without to paint it", "without paint it"}),
        ("gerund", "the painting", set()),
        ("infinitive", "we hope to visit them", {"we hope visit them", "we hope visiting them"}),
        ("be before a verb", "I paint", {"I am paint"}),
        ("be before a verb", "she visits us", {"she is visits us"}),
        ("regular form of an irregular word", "he wrote it", {"he writed it"}),
        ("regular form of an irregular word", "the women", {"the womans", "the womens"}),
        ("singular after a quantity", "three walls", {"three wall"}),
        ("singular after a quantity", "the walls", set()),
        ("plural after one", "every museum", {"every museums"}),
        ("article before a bare noun", "we go to bed", {"we go to the bed", "we go to a bed"}),
        (
            "article before a bare noun",
            "sung in English",
            {"sung in the English", "sung in a English"},
        ),
        ("article before a bare noun", "my bed", set()),
        ("preposition after a verb", "we visited walls", set()),
        ("a or an", "a wall", {"an wall"}),
        ("word order", "he always paints", {"always he paints", "he paints always"}),
        ("order of a question", "why did she go", {"why she did go"}),
        ("order of a question", "did she go", set()),
        ("order of a question", "ask why she is here", {"ask why is she here"}),
    ],
)
def test_what_is_made(kinds, name: str, sentence: str, expected: set[str]) -> None:
    assert made(kinds, name, sentence) == expected


def test_prepositions_after_a_verb(kinds) -> None:
    found = made(kinds, "preposition after a verb", "we visited the wall")
    assert {"we visited to the wall", "we visited about the wall"} <= found
    assert len(found) == len(lists()["insertions"]["unnecessary preposition"])


def test_comparison() -> None:
    counts = TextCounts()
    counts.add(split("a bigger house is the biggest"))
    kinds = grammar_kinds(counts, lists())
    assert made(kinds, "comparison", "a bigger one") == {"a more big one", "a more bigger one"}
    assert set(kinds["comparison"].replacements) == {"bigger", "biggest"}


@pytest.mark.parametrize(
    ("base", "doubled", "forms"),
    [
        ("walk", False, "walks walked walking"),
        ("carry", False, "carries carried carrying"),
        ("play", False, "plays played playing"),
        ("hope", False, "hopes hoped hoping"),
        ("agree", False, "agrees agreed agreeing"),
        ("die", False, "dies died dying"),
        ("watch", False, "watches watched watching"),
        ("stop", True, "stops stopped stopping"),
    ],
)
def test_regular_forms(base: str, doubled: bool, forms: str) -> None:
    verb = regular(base, doubled)
    assert " ".join((verb.third, *verb.pasts, verb.gerund)) == forms


def test_verbs_of_a_text() -> None:
    """A word that follows "to" and has no past is none; a doubled consonant is seen."""
    counts = TextCounts()
    for sentence in (
        *("to plan a road to London", "we planned it", "planning ahead", "she plans"),
        *("to us", "used using uses use use", "to be", "bed bing bes", "to hop", "hope hopes hope"),
        *("hoped hoping hops", "to not", "noted noting nots"),
    ):
        counts.add(split(sentence))
    irregular = [
        ["go", "goes", "went", "gone", "going"],
        ["man", "men"],
        ["let", "lets", "letting"],
    ]
    found = verbs_of(
        counts.sample, counts.counts, irregular, frozenset(["to"]), frozenset(["be", "not"]), 1
    )
    assert found == [
        Verb("go", "goes", ("went", "gone"), "going"),
        Verb("let", "lets", (), "letting"),
        Verb("plan", "plans", ("planned",), "planning"),
    ]


def test_contexts_and_swaps_are_stored(kinds, tmp_path) -> None:
    model = ErrorModel("en", kinds)
    model.save(tmp_path / "model.json")
    loaded = ErrorModel.load(tmp_path / "model.json")
    assert loaded == model
    assert loaded.kinds["gerund"].after
    assert loaded.kinds["word order"].swaps["always"] == 1.0


def test_a_context_multiplies() -> None:
    kind = ErrorKind(2.0, {"go": {"goes": 0.5}}, after={"they": 3.0, "": 1.0})
    model = ErrorModel("en", {"x": kind})

    def weights(sentence: str) -> list[float]:
        words = split(sentence)
        return [site.weight for site in find_sites(words, [True] * len(words), model)]

    assert weights("they go and we go") == [3.0]
    assert weights("go home") == [1.0]
    none = ErrorModel("en", {"x": replace(kind, rate=0.0)})
    assert not find_sites(split("they go"), [True, True], none)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("colour", "color", True),
        ("labelled", "labeled", True),
        ("organization", "organisation", True),
        ("Recognise", "Recognize", True),
        ("focused", "focussed", True),
        ("towards", "toward", True),
        ("colour", "colur", False),
        ("favourites", "favorites", True),
        ("course", "corse", False),
        ("journey", "jorney", False),
        ("four", "for", False),
        ("stopped", "stoped", False),
        ("called", "caled", False),
        ("receive", "recieve", False),
        ("walls", "wall", False),
    ],
)
def test_variants_of_spelling(one: str, other: str, same: bool) -> None:
    assert is_variant(one, other) == same


def test_no_variant_is_a_misspelling() -> None:
    letters, noise = lists()["letters"], dict.fromkeys(LETTER_NOISE, 1.0)
    for word in ("colour", "labelled", "favourite", "organization", "towards", "traveled"):
        model = ErrorModel("en", {}, noise, frozenset([word]), letters=letters)
        sites = find_sites([word], [False], model)
        assert sites
        for seed in range(100):
            for site in sites:
                change = change_at(site, [word], model, Random(seed))
                assert change is None or not is_variant(word, change.new[0])


def test_the_first_word_may_lose_its_capital() -> None:
    """What is inserted before it is one error, as it is before other words; so is what is gone."""
    kinds = {
        "more": ErrorKind(1.0, {"easier": {"more easier": 1.0}}),
        "gone": ErrorKind(1.0, {"it is": {"is": 1.0}}),
    }
    model = ErrorModel("en", kinds, words=frozenset(["easier", "said", "it", "is", "late"]))
    for words, expected, types in (
        (["Easier", "said"], ["More", "easier", "said"], ["U", "", ""]),
        (["It", "is", "late"], ["Is", "late"], ["M", ""]),
    ):
        found = corrupt_words(words, [True] * len(words), model, 1.0, Random(0), types=True)
        assert (found[0], found[2]) == (expected, types)


def test_insertions_among_capitals() -> None:
    kinds = {"to": ErrorKind(1.0, {}, {"to": Insertion({"MAN": 1.0, "man": 1.0}, {"goes": 1.0})})}
    words = ["THE", "MAN", "GOES"]
    model = ErrorModel("en", kinds, words=frozenset(["the", "man", "goes"]))
    for text, inserted in ((words, "TO"), ([word.lower() for word in words], "to")):
        (site,) = find_sites(text, [True] * 3, model)
        change = change_at(site, text, model, Random(0))
        assert change is not None
        assert change.new == (inserted,)
