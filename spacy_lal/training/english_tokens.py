"""English tokens of web treebanks (EWT): as in the Penn Treebank, but also split at hyphens."""

from __future__ import annotations

import re
from collections.abc import Callable

from spacy.attrs import ORTH
from spacy.language import Language
from spacy.tokenizer import Tokenizer
from spacy.util import compile_infix_regex, compile_prefix_regex, compile_suffix_regex

PREFIXES = (
    "a", "anti", "agro", "be", "bi", "bio", "co", "counter", "cross", "cyber", "de", "e", "eco",
    "ex", "extra", "inter", "intra", "macro", "mega", "micro", "mid", "mini", "mis", "multi", "neo",
    "non", "over", "pan", "para", "peri", "post", "pre", "pro", "pseudo", "quasi", "re", "semi",
    "sub", "super", "tri", "ultra", "un", "uni", "vice",
)  # fmt: skip
"""Prefixes that stay attached before a hyphen."""

WHOLE = (
    # repeated marks
    *(r"\.?[!?]{2,}", r"([*_=<>$#~^+])\1+"),
    # telephone numbers and years
    *(r"(?:1-)?(?:\d{3}-)?\d{3}-\d{4}", r"x?\d-\d{4}", r"'?\d+'s", r"'\d\d"),
    # addresses, hashtags and files
    *(r"[\w.+-]+@[\w-]+(?:\.\w+)*\w", r"#[A-Za-z]\w+"),
    r"[\w#.-]+\.(?i:docx?|xlsx?|pdf|ppt|jpe?g|gif|vcf|txt|html?|zip)",
    # abbreviations
    *(r"(?:etc|Ft|Lt|Attn|Capt|[Ee]xt|[Aa]rrv|Mon|Tues?|Weds?|Thu|Thurs?|Fri|Sat|Sun)\.", "[bl]/c"),
)
"""Patterns of single tokens."""

RUNS = (r"\.?[!?]{2,}", r"\*{2,}", "_{2,}", "={2,}", "<{2,}", ">{2,}", "~{2,}", r"\${2,}")
"""Runs of marks that are split from a word together."""

_LETTER = "[^\\W\\d_]"
_PREFIXED = "".join(rf"(?<!\b(?i:{prefix}))" for prefix in PREFIXES)

BETWEEN_LETTERS = rf"(?<={_LETTER}){_PREFIXED}(?:-|~)(?={_LETTER})"
"""Replacement of spaCy's rule for hyphens within words."""

INFIXES = (
    *("-{2,}", "[—–]", rf"(?<=\d)-(?={_LETTER})", r"(?<=[A-Z])-(?=\d)"),
    *(rf"(?<=\d)\+(?={_LETTER})", r"(?<=^\d)/(?=[2-9]$)", rf"(?<={_LETTER});(?={_LETTER})"),
    rf"(?<={_LETTER})[!?]+(?={_LETTER})",
    *(rf"(?<={_LETTER})[()](?={_LETTER})", r"(?<=\w)\)(?=\()", r"(?<=\))\((?=\w)"),
    *(r'"(?=<)', r'(?<=")<'),
)
"""Further split points within words."""

PREFIX_RULES = (r"-(?=[$\d])", r"'\d\d(?!\d)s?", *RUNS, rf"/(?={_LETTER}+$)", rf"-(?={_LETTER}+$)")
"""Splits at the beginning of a word, beside spaCy's own rules."""
SUFFIX_RULES = (*RUNS, "-{2,}", rf"(?<={_LETTER}{{2}})-", r"(?<=\d)(?:k|[AaPp]\.?[Mm]\.?)")
"""Splits at the end of a word, beside spaCy's own rules."""
SPECIAL = {
    "alot": ("a", "lot"),
    "CANT": ("CA", "NT"),
    "DONT": ("DO", "NT"),
    "dunno": ("du", "n", "no"),
    "outta": ("out", "ta"),
    "wanna": ("wan", "na"),
    "Wanna": ("Wan", "na"),
}
"""Words that are split."""

UNSPECIAL = ("and/or", "):")
"""spaCy's exceptions that are dropped."""


def use_treebank_tokens(nlp: Language) -> Language:
    """Give an English pipeline treebank tokens. Raises ValueError without spaCy's English rules."""
    tokenizer = nlp.tokenizer
    infixes = [rule for rule in nlp.Defaults.infixes or [] if isinstance(rule, str)]
    others = [rule for rule in infixes if "(?:-|" not in rule]
    if nlp.lang != "en" or not isinstance(tokenizer, Tokenizer) or len(others) == len(infixes):
        raise ValueError(f"treebank tokens are for spaCy's tokenizer of English, not {nlp.lang!r}")
    prefixes = [*PREFIX_RULES, *(nlp.Defaults.prefixes or ())]
    suffixes = [*SUFFIX_RULES, *(nlp.Defaults.suffixes or ())]
    tokenizer.infix_finditer = compile_infix_regex([*INFIXES, *others, BETWEEN_LETTERS]).finditer
    tokenizer.prefix_search = compile_prefix_regex(prefixes).search
    tokenizer.suffix_search = compile_suffix_regex(suffixes).search
    tokenizer.token_match = re.compile("(?:" + "|".join(WHOLE) + ")$").match
    rules = (tokenizer.rules or {}).items()
    tokenizer.rules = {text: parts for text, parts in rules if text not in UNSPECIAL}
    for text, parts in SPECIAL.items():
        tokenizer.add_special_case(text, [{ORTH: part} for part in parts])
    return nlp


def make_treebank_tokens() -> Callable[[Language], Language]:
    """The callback `spacy-lal.treebank_tokens.v1`, for `[initialize.before_init]`."""
    return use_treebank_tokens
