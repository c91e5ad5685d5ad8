"""English tokens of web treebanks (EWT): as in the Penn Treebank, but also split at hyphens."""

import re
import tomllib
from collections.abc import Callable
from pathlib import Path

from spacy.attrs import ORTH
from spacy.language import Language
from spacy.tokenizer import Tokenizer
from spacy.util import compile_infix_regex, compile_prefix_regex, compile_suffix_regex

RULES = tomllib.loads(Path(__file__).with_name("english_tokens.toml").read_text("utf8"))
"""Regular expressions of tokens and of split points, and words that are split."""
_LETTER = r"[^\W\d_]"
_ATTACHED = "".join(rf"(?<!\b(?i:{prefix}))" for prefix in RULES["attached"])
BETWEEN_LETTERS = rf"(?<={_LETTER}){_ATTACHED}(?:-|~)(?={_LETTER})"
"""Replacement of spaCy's rule for hyphens within words."""


def use_treebank_tokens(nlp: Language) -> Language:
    """Give an English pipeline treebank tokens. Raises ValueError without spaCy's English rules."""
    tokenizer = nlp.tokenizer
    own = [rule for rule in nlp.Defaults.infixes or [] if isinstance(rule, str)]
    others = [rule for rule in own if "(?:-|" not in rule]
    if nlp.lang != "en" or not isinstance(tokenizer, Tokenizer) or len(others) == len(own):
        raise ValueError(f"treebank tokens are for spaCy's tokenizer of English, not {nlp.lang!r}")
    infixes = [*RULES["infixes"], *others, BETWEEN_LETTERS]
    prefixes = [*RULES["prefixes"], *(nlp.Defaults.prefixes or ())]
    suffixes = [*RULES["suffixes"], *(nlp.Defaults.suffixes or ())]
    tokenizer.infix_finditer = compile_infix_regex(infixes).finditer
    tokenizer.prefix_search = compile_prefix_regex(prefixes).search
    tokenizer.suffix_search = compile_suffix_regex(suffixes).search
    tokenizer.token_match = re.compile("(?:" + "|".join(RULES["whole"]) + ")$").match
    rules = (tokenizer.rules or {}).items()
    tokenizer.rules = {text: parts for text, parts in rules if text not in RULES["unspecial"]}
    for text, parts in RULES["special"].items():
        tokenizer.add_special_case(text, [{ORTH: part} for part in parts])
    return nlp


def make_treebank_tokens() -> Callable[[Language], Language]:
    """The callback `spacy-lal.treebank_tokens.v1`, for `[initialize.before_init]`."""
    return use_treebank_tokens
