"""Texts that aren't in a pipeline's language, by their letters and function words."""

import re
import tomllib
import unicodedata
from collections import Counter
from functools import cache
from pathlib import Path
from string import ascii_lowercase

from spacy.util import get_lang_class

WORDS_FILE = Path(__file__).with_name("function_words.toml")
"""Names and frequent function words of languages."""
SAMPLE = 1000
"""Number of characters of a text that are read."""
LETTERS = 4
"""Least number of letters in other scripts."""
SCRIPTS = re.compile(
    "LATIN|GREEK|CYRILLIC|ARMENIAN|GEORGIAN|HEBREW|ARABIC|DEVANAGARI|BENGALI|TAMIL|TELUGU|THAI|"
    "HANGUL|HIRAGANA|KATAKANA|CJK"
)
"""Scripts, as the Unicode names of their letters begin."""
_ADDRESS = re.compile(r"\S*(?://|@|www\.)\S*")
_WORD = re.compile(r"[^\W\d_]{2,}|[^\W\d_a-zA-Z]")


def other_language(text: str, lang: str) -> str:
    """Return why a text seems to be in another language than `lang`, as "looks like German, not
    English"; "" if it doesn't, and for a `lang` without stop words in spaCy.

    Such a text has mostly letters of scripts in which `lang` has no stop word. Or it has function
    words of another language: with words in letters unknown to `lang` they are a sixth of all, 1.5
    times as many as the stop words of `lang`, and at least three (two if there is no stop word).
    """
    stop_words, scripts = _own(lang)
    text = _ADDRESS.sub(" ", text[:SAMPLE])
    cased = _WORD.findall(text)
    words = list(map(str.lower, cased))
    known = sum(word in stop_words for word in words)
    if not stop_words or 4 * known > len(words):
        return ""  # at once, as for most texts
    own, _ = _languages().get(lang, (lang, None))
    letters = Counter(filter(None, map(_script, text)))
    others = Counter({script: n for script, n in letters.items() if script not in scripts})
    if others.total() >= LETTERS and 2 * others.total() > letters.total():
        script = others.most_common(1)[0][0]
        return f"has mostly {script if script == 'CJK' else script.capitalize()} letters, not {own}"
    alphabet = frozenset("".join(stop_words) + ascii_lowercase)
    odd = {word for word in cased if not alphabet.issuperset(word)}  # unlike names in capitals
    most, likely = 0, ""
    for name, function_words in _languages().values():
        found = [word for word in words if word in function_words or word in odd]
        real = not function_words.isdisjoint(found) and len({*found}) > 1
        if real and len(found) > most and name != own:
            most, likely = len(found), name
    enough = most >= (3 if known else 2) and most > 1.5 * known and 6 * most >= len(words)
    return f"looks like {likely}, not {own}" if enough else ""


@cache
def _languages() -> dict[str, tuple[str, frozenset[str]]]:
    read = tomllib.loads(WORDS_FILE.read_text(encoding="utf8"))
    return {
        code: (name, frozenset(filter(_WORD.fullmatch, words.split())))
        for code, (name, words) in read.items()
    }


@cache
def _own(lang: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return the stop words of a language and the scripts of their letters; none if unknown."""
    stop_words = frozenset(get_lang_class(lang).Defaults.stop_words)
    _, words = _languages().get(lang, ("", frozenset()))
    return stop_words and stop_words | words, frozenset(map(_script, "".join(stop_words)))


def _script(letter: str) -> str:
    script = SCRIPTS.match(unicodedata.name(letter, "")) if letter.isalpha() else None
    return script[0] if script else ""
