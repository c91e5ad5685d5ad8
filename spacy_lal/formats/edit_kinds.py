"""Kinds of corrections, by rules over the words of both sentences and their Penn tags.

The names are ERRANT's (Bryant et al. 2017, "Automatic Annotation and Evaluation of Error Types for
Grammatical Error Correction", ACL), without its operations: `spacy.explain` knows them.
"""

import tomllib
from collections.abc import Container, Sequence
from functools import cache
from importlib.resources import files

OTHER = "OTHER"
"""The kind of a correction that no rule names."""
CLASSES = {
    **dict.fromkeys(("DT", "PDT", "PRP$", "WP$"), "DET"),
    **dict.fromkeys(("PRP", "WP", "WDT", "EX"), "PRON"),
    **dict.fromkeys(("NN", "NNS", "NNP", "NNPS"), "NOUN"),
    **dict.fromkeys(("JJ", "JJR", "JJS"), "ADJ"),
    **dict.fromkeys(("RB", "RBR", "RBS", "WRB"), "ADV"),
    **dict.fromkeys(("VB", "VBD", "VBG", "VBN", "VBP", "VBZ", "MD"), "VERB"),
    **{"IN": "PREP", "TO": "PREP", "CC": "CONJ", "RP": "PART", "POS": "NOUN:POSS"},
    **dict.fromkeys((".", ",", ":", "``", "''", "HYPH", "-LRB-", "-RRB-", "NFP"), "PUNCT"),
}
"""Parts of speech of Penn tags."""
AUXILIARIES = frozenset(
    {
        *("am", "is", "are", "was", "were", "be", "been", "being", "have", "has", "had", "do"),
        *("does", "did", "'ve", "'s", "'d", "'m", "'re", "'ll", "wo", "ca"),
    }
)
"""Forms of be, have and do, and modals."""
CONJUNCTIONS = frozenset(
    {"because", "although", "though", "if", "whether", "unless", "while", "than", "that"}
)
"""Words with the tag of prepositions that aren't prepositions."""
_BY_CLASS = {
    "DET": "the a an my your his our their some any this these no",
    "PREP": "of in for on at with about from by as to into during since",
    "PRON": "it he she they we you i me him them us who which what",
    "CONJ": "and or but",
    "ADV": "very so too also quite",
    "NOUN:POSS": "'s '",
}
_CLOSED = {word: name for name, words in _BY_CLASS.items() for word in words.split()}
"""Parts of speech of words whose tags are unknown."""
CLOSED = frozenset(_CLOSED) | AUXILIARIES
"""Words of closed classes."""
_AGREEING = (
    *(frozenset(pair.split()) for pair in ("is are", "is am", "am are", "was were", "has have")),
    *(frozenset(pair.split()) for pair in ("does do", "'s 're", "'s are", "'ve has")),
)
_ENDINGS = ("s", "es", "ed", "d", "ing", "er", "est", "r", "st", "en", "n")


def kind_of(
    wrong: Sequence[str],
    right: Sequence[str],
    wrong_tags: Sequence[str],
    right_tags: Sequence[str],
    known: Container[str] | None = None,
) -> str:
    """Return the kind of an edit, such as "VERB:SVA".

    wrong, right: its words in both sentences; either may be empty. Tags: Penn tags of these words;
    those of the wrong ones may be unknown, "". known: correct words in lower case, by which
    misspellings are recognised; None for none.
    """
    old, new = ([word.lower() for word in words] for words in (wrong, right))
    if not (old and new):
        return _one_sided(old or new, wrong_tags if old else right_tags)
    if "".join(old) == "".join(new):
        return "ORTH"
    if sorted(old) == sorted(new):
        return "WO"
    if len(old) == len(new) == 1:
        return _one_to_one(old[0], new[0], wrong_tags[0], right_tags[0], known)
    classes = {_class(word, tag) for word, tag in zip(new, right_tags, strict=True)}
    if {"'s", "'"} & {*old} ^ {"'s", "'"} & {*new} and "NOUN" in classes:
        return "NOUN:POSS"
    if {"more", "most"} & {*old, *new} and classes & {"ADJ", "ADV"}:
        return "ADJ:FORM"
    if classes <= {"VERB", "PREP"} and "VERB" in classes and related(old[-1], new[-1]):
        return "VERB:FORM" if "to" in {*old, *new} else "VERB:TENSE"
    return classes.pop() if len(classes) == 1 else OTHER


def _one_sided(words: Sequence[str], tags: Sequence[str]) -> str:
    """Return the kind of missing or unnecessary words."""
    if all(word in AUXILIARIES or tag == "MD" for word, tag in zip(words, tags, strict=True)):
        return "VERB" if words[0] in ("is", "are", "was", "were", "am", "be") else "VERB:TENSE"
    if "to" in words and {*tags} & {"TO", "VB"} and (len(words) == 1) == ("TO" in tags):
        return "VERB:FORM" if "VB" in tags or tags == ["TO"] else "PREP"
    classes = {_class(word, tag) for word, tag in zip(words, tags, strict=True)}
    return classes.pop() if len(classes) == 1 else OTHER


def _one_to_one(
    old: str, new: str, old_tag: str, new_tag: str, known: Container[str] | None
) -> str:
    was, kind = _class(old, old_tag), _class(new, new_tag)
    same = related(old, new)
    of_known = new in stems(old) or old in stems(new)
    if known is not None and old not in known and old.isalpha() and not of_known:
        if same and kind in ("VERB", "NOUN") and not _alike(old, new):
            return f"{kind}:INFL"
        return "SPELL" if _alike(old, new) else kind
    if kind == "VERB" and "VERB" in (was or kind):
        finite = new_tag in ("VBZ", "VBP", "VBD")
        if (finite and frozenset((old, new)) in _AGREEING) or (
            same and _differ_by_person(old, new, new_tag)
        ):
            return "VERB:SVA"
        if same:
            form = new_tag in ("VB", "VBG", "VBN") or old_tag == "VBG" or old.endswith("ing")
            return "VERB:FORM" if form else "VERB:TENSE"
        both = {old, new} <= AUXILIARIES or "MD" in (old_tag, new_tag)
        return "VERB:TENSE" if both else "VERB"
    if same and kind == "NOUN" and was in ("NOUN", "VERB", ""):
        number = old.endswith("s") != new.endswith("s") or {old_tag, new_tag} == {"NN", "NNS"}
        return "NOUN:NUM" if number and not old.endswith(("ing", "ed")) else "MORPH"
    if same and kind == "ADJ" and new_tag != "JJ":
        return "ADJ:FORM"
    if same or (len(old) > 3 and old[:4] == new[:4] and was != kind):
        return "MORPH"
    return kind if was in (kind, "") else OTHER


def _class(word: str, tag: str) -> str:
    if (tag or "IN") == "IN" and word in CONJUNCTIONS:
        return "CONJ"
    if not tag:
        return _CLOSED.get(word, "" if any(map(str.isalnum, word)) else "PUNCT")
    return CLASSES.get(tag, OTHER)


def _differ_by_person(old: str, new: str, tag: str) -> bool:
    longer, shorter = sorted((old, new), key=len, reverse=True)
    present = tag in ("VBZ", "VBP") and longer.endswith("s")
    return present and not shorter.endswith(("ed", "ing")) and longer[:1] == shorter[:1]


def _alike(one: str, two: str) -> bool:
    """Return whether two words differ by a few letters."""
    common = sum(min(one.count(letter), two.count(letter)) for letter in {*one})
    return common >= 0.75 * max(len(one), len(two))


def related(one: str, two: str) -> bool:
    """Return whether two words may be forms of the same word."""
    return bool(stems(one) & stems(two))


def stems(word: str) -> set[str]:
    """Return the words of which a word in lower case may be a form."""
    found = {word, *_bases().get(word, ())}
    for ending in _ENDINGS:
        rest = word.removesuffix(ending)
        if rest != word and len(rest) > 1:
            found |= {rest, rest + "e", rest[:-1] if rest[-1] == rest[-2] else rest}
            found.add(rest[:-1] + "y" if rest[-1] == "i" else rest)
    return found


@cache
def irregular() -> list[list[str]]:
    """Return forms of irregular words, each's base first, a verb's third person second."""
    text = files(__package__).joinpath("irregular.toml").read_text("utf8")
    groups: list[list[str]] = tomllib.loads(text)["irregular"]
    return groups


@cache
def _bases() -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for base, *forms in irregular():
        for form in forms:
            found.setdefault(form, set()).add(base)
    return found
