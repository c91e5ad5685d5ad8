"""Texts in another language than a pipeline's: one sentence in nineteen languages."""

from __future__ import annotations

import pytest

from spacy_lal.annotate.other_language import _languages, other_language

TEXTS = {
    "en": "The committee that met on Monday has not decided yet, but they will.",
    "de": "Der Ausschuss, der am Montag getagt hat, hat noch nicht entschieden.",
    "fr": "Le comité qui s'est réuni lundi n'a pas encore pris de décision.",
    "es": "El comité que se reunió el lunes todavía no ha tomado una decisión.",
    "it": "Il comitato che si è riunito lunedì non ha ancora preso una decisione.",
    "pt": "O comité que se reuniu na segunda-feira ainda não tomou uma decisão.",
    "nl": "De commissie die maandag bijeenkwam heeft nog niet besloten wat ze wil.",
    "sv": "Utskottet som möttes i måndags har inte bestämt sig än.",
    "da": "Udvalget, som mødtes i mandags, har ikke besluttet sig endnu.",
    "pl": "Komitet, który spotkał się w poniedziałek, jeszcze nie podjął decyzji.",
    "cs": "Výbor, který se sešel v pondělí, se zatím nerozhodl.",
    "is": "Nefndin sem fundaði á mánudag hefur ekki enn tekið ákvörðun.",
    "vi": "Ủy ban họp hôm thứ Hai vẫn chưa đưa ra quyết định.",
    "id": "Panitia yang bertemu pada hari Senin belum mengambil keputusan itu.",
    "ru": "Комитет, который собрался в понедельник, ещё не принял решения.",
    "el": "Η επιτροπή που συνεδρίασε τη Δευτέρα δεν έχει αποφασίσει ακόμη.",
    "zh": "星期一开会的委员会还没有做出决定。",
    "ja": "月曜日に開かれた委員会はまだ決定していない。",
    "ar": "لم تقرر اللجنة التي اجتمعت يوم الاثنين بعد.",
}
NAMES = {"ru": "Cyrillic", "el": "Greek", "zh": "CJK", "ja": "Hiragana", "ar": "Arabic"}
TOO_ALIKE = [("es", "it")]


@pytest.mark.parametrize("lang", ["en", "fr", "de", "is", "it", "cs"])
def test_other_languages_are_told_and_its_own_is_not(lang: str) -> None:
    for other, text in TEXTS.items():
        said = other_language(text, lang)
        if other == lang or (other, lang) in TOO_ALIKE:
            assert not said
        elif other in NAMES:
            assert said.startswith(f"has mostly {NAMES[other]}")
        else:
            assert said.startswith("looks like "), (other, lang)
        assert not said or said.endswith(f", not {_languages()[lang][0]}")


def test_of_alike_languages_either_is_named() -> None:
    for code in ("de", "fr", "es", "it", "pt", "nl", "sv", "pl", "cs", "is", "vi", "id"):
        assert other_language(TEXTS[code], "en").startswith(f"looks like {_languages()[code][0]}")


@pytest.mark.parametrize(
    "text",
    [
        "",
        " \n",
        "Dogs bark.",
        "OK",
        "3.14 + 2 = ?",
        "😀 👍🏽",
        "Je ne sais quoi is what he has.",
        "He flew from Rio de Janeiro to Buenos Aires.",
        "Ludwig van Beethoven and Jürgen Müller",
        "Apple iPhone 14 Pro Max, 128 GB",
        "Let α, β and γ be the angles.",
        "α = β",
        "The word Привет means hello.",
        "i has went too shop yestoday",
        "naïve café façade",
        "http://www.la-di-da.com/de/la",
    ],
)
def test_english_with_odd_words(text: str) -> None:
    assert other_language(text, "en") == ""


def test_a_language_without_stop_words() -> None:
    assert other_language(TEXTS["de"], "xx") == ""
    assert other_language(TEXTS["de"], "mul") == ""
