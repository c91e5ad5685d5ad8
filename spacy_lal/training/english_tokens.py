"""English tokens of web treebanks (EWT): as in the Penn Treebank, but also split at hyphens."""

import re
import tomllib
from collections.abc import Callable, Iterable
from pathlib import Path

from spacy.attrs import ORTH
from spacy.language import Language
from spacy.tokenizer import Tokenizer
from spacy.util import compile_infix_regex, compile_prefix_regex, compile_suffix_regex

RULES = tomllib.loads(Path(__file__).with_name("english_tokens.toml").read_text("utf8"))
"""Regular expressions of tokens and of split points, and words that are split."""
_LETTER = r"[^\W\d_]"
_ATTACHED = "".join(rf"(?<!(?<!-)\b(?i:{prefix}))" for prefix in RULES["attached"])
_BEHIND = "|".join(RULES["attached_behind"])
BETWEEN_LETTERS = rf"(?=-|~)(?<={_LETTER}){_ATTACHED}(?:-|~)(?!(?:{_BEHIND})\b)(?={_LETTER})"
"""Replacement of spaCy's rule for hyphens within words."""
NO_INFIX = "[B-MOQ-Zb-moq-z]"
"""Where no split point begins. Of letters, only those of "am", "pm" and "n't" begin one."""
NO_SUFFIX = "(?<=[A-Za-z])[A-MO-Za-mo-z]"
"""Where no suffix begins: behind a letter, of letters, only that of "n't" does."""
_NAMED = {
    "{'}": RULES["apostrophe"],
    "{emoji}": RULES["emoji"].replace("{one}", RULES["one"]),
    "{attached}": _ATTACHED,
    "{abbreviations}": f"(?:{'|'.join(RULES['abbreviations'])})",
    "{clipped}": f"(?:{'|'.join(RULES['clipped'])})",
}


def _expressions(kind: str) -> list[str]:
    """Return the regular expressions of one kind, with their named parts written out."""
    found = []
    for rule in RULES[kind]:
        for name, meaning in _NAMED.items():
            rule = rule.replace(name, meaning)
        found.append(rule)
    return found


def _spellings(text: str, parts: Iterable[str]) -> dict[str, list[str]]:
    """Return a word and its parts in small letters, capitalised, and in capitals."""
    first, *others = parts
    return {
        text: [first, *others],
        text.title(): [first.title(), *others],
        text.upper(): [first.upper(), *map(str.upper, others)],
    }


def use_treebank_tokens(nlp: Language) -> Language:
    """Give an English pipeline treebank tokens. Raises ValueError without spaCy's English rules."""
    tokenizer = nlp.tokenizer
    own = [rule for rule in nlp.Defaults.infixes or [] if isinstance(rule, str)]
    others = [rule for rule in own if "(?:-|" not in rule]
    if nlp.lang != "en" or not isinstance(tokenizer, Tokenizer) or len(others) == len(own):
        raise ValueError(f"treebank tokens are for spaCy's tokenizer of English, not {nlp.lang!r}")
    kept = [rule for rule in nlp.Defaults.suffixes or () if rule not in RULES["dropped_suffixes"]]
    infixes = [*_expressions("infixes"), *others, BETWEEN_LETTERS]
    prefixes = [*_expressions("prefixes"), *(nlp.Defaults.prefixes or ())]
    suffixes = [*_expressions("suffixes"), *kept]
    tokenizer.infix_finditer = _guarded(NO_INFIX, compile_infix_regex(infixes)).finditer
    tokenizer.prefix_search = compile_prefix_regex(prefixes).search
    tokenizer.suffix_search = _guarded(NO_SUFFIX, compile_suffix_regex(suffixes)).search
    tokenizer.token_match = re.compile("(?:" + "|".join(_expressions("whole")) + ")$").match
    rules = {text: parts for text, parts in (tokenizer.rules or {}).items() if not _unspecial(text)}
    for text, parts in (nlp.Defaults.tokenizer_exceptions or {}).items():
        if text.islower() and text.isalpha() and parts[-1][ORTH] == "nt":  # dont
            rules[text.upper()] = [{ORTH: part[ORTH].upper()} for part in parts]
    for text, words in RULES["special"].items():
        for spelling, pieces in _spellings(text, words).items():
            rules[spelling] = [{ORTH: piece} for piece in pieces]
    tokenizer.rules = rules
    return nlp


def _guarded(never: str, expression: re.Pattern[str]) -> re.Pattern[str]:
    """Return an expression that is not tried where `never` matches."""
    return re.compile(f"(?!{never})(?:{expression.pattern})")


def _unspecial(text: str) -> bool:
    """Whether an exception of spaCy is dropped: one of the list, or a single small letter and a
    full stop, which spaCy would also join in "5 m."."""
    return text in RULES["unspecial"] or (len(text) == 2 and text[0].islower() and text[1] == ".")


def make_treebank_tokens() -> Callable[[Language], Language]:
    """The callback `spacy-lal.treebank_tokens.v1`, for `[initialize.before_init]`."""
    return use_treebank_tokens
