"""What kinds of errors `lal corrupt` makes, in percent of its errors.

Every change is looked at by itself, like a learner's error that somebody corrected: by the tags of
the correct words (`en_lal_sm`'s) and what stands there instead, not by the table it comes from. So
two error models, and learners' errors with codes, can be compared.

    python benchmarks/error_shares.py TEXT MODEL [MODEL …] --words 100000
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from difflib import SequenceMatcher
from itertools import islice
from pathlib import Path
from random import Random
from typing import Annotated

import spacy
import typer
from spacy.language import Language
from spacy.tokens import Doc

from spacy_lal.artificial_errors.corrupt import apply_changes, draw_changes, sentence_random
from spacy_lal.artificial_errors.error_model import ErrorModel, Noise, key_of
from spacy_lal.artificial_errors.sites import INSERT, Change, change_at, find_sites, with_case_of
from spacy_lal.evaluation.pairs import Pair, read_pairs

ARTICLES = "articles and determiners"
CONFUSED = "confused words, word choice"
TABLES = {
    ARTICLES: ("determiner", "article before a bare noun"),
    "prepositions": ("preposition", "preposition after a verb"),
    "pronouns": ("pronoun",),
    "conjunctions": ("conjunction",),
}
"""How the names end of the kinds whose tables tell."""
AGREEMENT = [
    {"is", "are", "am"}, {"was", "were"}, {"has", "have"}, {"do", "does"}, {"'s", "'re", "'m"}
]  # fmt: skip
AUXILIARIES = {word for both in AGREEMENT for word in both} | {
    *("be", "been", "being", "had", "having", "did", "done", "doing", "'ve", "'d", "'ll"),
    *("will", "would", "can", "could", "should", "may", "might", "must", "shall"),
    *("to", "n't", "not"),
}


def kind_of(change: Change, words: Sequence[str], tags: Sequence[str], model: ErrorModel) -> str:
    """The kind of one change."""
    old = [key_of(word) for word in words[change.start : change.end]]
    new = [key_of(word) for word in change.new]
    tag = tags[change.start] if old else ""
    if sorted(old) == sorted(new):
        return "word order" if old != new else "capitals"
    if "".join(old) == "".join(new):
        return "spacing"
    changed = set(old) ^ set(new)
    if all(not word[:1].isalpha() and word not in AUXILIARIES for word in changed):
        return "punctuation"
    one, two = (old or [""])[0], (new or [""])[0]
    single = len(old) == len(new) == 1
    if old and new and (any(changed <= both for both in AGREEMENT) or _is_third(old, new, tag)):
        return "agreement"
    if single and _is_misspelt(two, model):
        return "spelling"
    if {one, two} == {"a", "an"}:
        return ARTICLES
    if single and _has(model, ("homophone", "word choice"), old, new):
        return CONFUSED
    if single and tag in ("NN", "NNS") and _by_s(one, two):
        return "noun number"
    if changed <= AUXILIARIES or (tag[:2] in ("VB", "MD") and (not new or _same_verb(one, new))):
        return "verb forms and tenses"
    for name, parts in TABLES.items():
        if _has(model, parts, old, new):
            return name
    if tag == "TO" or (not old and two == "to"):
        return "prepositions" if tag != "TO" else "verb forms and tenses"
    return "word formation" if _same_stem(one, two) else CONFUSED


def _has(model: ErrorModel, parts: Sequence[str], old: list[str], new: list[str]) -> bool:
    one, two = " ".join(old), " ".join(new)
    for name, kind in model.kinds.items():
        if name.endswith(tuple(parts)) and not name.startswith("agreement"):
            if not old and two in kind.insertions:
                return True
            tables = kind.replacements
            if two in tables.get(one, {}) or (not new and "" in tables.get(one, {})):
                return True
    return False


def _is_third(old: list[str], new: list[str], tag: str) -> bool:
    if len(old) != 1 or len(new) != 1 or tag not in ("VBZ", "VBP"):
        return False
    return _by_s(old[0], new[0])


def _by_s(one: str, two: str) -> bool:
    short, long = sorted((one, two), key=len)
    stems = {short + "s", short + "es", short.removesuffix("y") + "ies"}
    return long in stems or {one, two} in IRREGULAR


IRREGULAR = [{"man", "men"}, {"woman", "women"}, {"child", "children"}, {"foot", "feet"},
             {"life", "lives"}, {"person", "people"}]  # fmt: skip


def _same_stem(one: str, two: str) -> bool:
    return bool(one) and one[:2] == two[:2] and SequenceMatcher(None, one, two).ratio() > 0.6


def _same_verb(one: str, new: Sequence[str]) -> bool:
    return any(_same_stem(one, word) for word in new) or (not new) or new[0] == "to"


def _is_misspelt(word: str, model: ErrorModel) -> bool:
    """Whether no word is like this, and no table has it."""
    known = word in model.words or word.capitalize() in model.words or word in model.closed
    if known or not word:
        return False
    return not any(
        word in others for kind in model.kinds.values() for others in kind.replacements.values()
    )


def makes(model: ErrorModel, pair: Pair, nlp: Language, tries: int = 300) -> bool:
    """Whether one error can make the wrong sentence of the right one."""
    doc, wrong = nlp.make_doc(pair.right), [token.text for token in nlp.make_doc(pair.wrong)]
    words, spaces = [token.text for token in doc], [bool(token.whitespace_) for token in doc]
    reached = [words]
    for site in find_sites(words, spaces, model):
        replaced = [other.split() for other in site.choice[0]]
        for at in range(1 if replaced or site.how in (INSERT, Noise.SWAP) else tries):
            if replaced:
                changes = [
                    Change(site.start, site.end, with_case_of(words[site.start : site.end], new))
                    for new in map(tuple, replaced)
                ]
            else:
                changes = [change_at(site, words, model, Random(at))]
            for change in filter(None, changes):
                reached.append(apply_changes(words, spaces, [change], model)[0])
    return wrong in reached


def main(
    text: Annotated[Path, typer.Argument(help="Lines of correct text.", exists=True)],
    models: Annotated[list[Path], typer.Argument(help="Error models.", exists=True)],
    words: Annotated[int, typer.Option(help="Words to put errors into.")] = 100_000,
    rate: Annotated[float, typer.Option(help="Share of tokens that are errors.")] = 0.12,
    tagger: Annotated[str, typer.Option(help="The pipeline that tags.")] = "en_lal_sm",
    examples: Annotated[int, typer.Option(help="Examples of each kind to print.")] = 0,
    pairs: Annotated[
        Path | None,
        typer.Option(help="Print instead which of these errors the models can make.", exists=True),
    ] = None,
) -> None:
    """Print shares by kind, a column a model."""
    nlp = spacy.load(tagger, exclude=["lisa_srl"])
    if pairs is not None:
        for path in models:
            model = ErrorModel.load(path)
            read = read_pairs(pairs)
            made = [makes(model, pair, nlp) for pair in read]
            print(path.name, sum(made), "of", len(made))
            for pair in (pair for pair, can in zip(read, made, strict=True) if not can):
                print(f"    {pair.kind}: {pair.wrong}")
        return
    docs: list[Doc] = []
    count = 0
    with text.open(encoding="utf8") as lines:
        while count < words and (some := [line.strip() for line in islice(lines, 64)]):
            for doc in nlp.pipe(some):
                docs += [sentence.as_doc() for sentence in doc.sents]
                count += len(doc)
    found = {}
    seen: dict[str, list[str]] = {}
    for path in models:
        model = ErrorModel.load(path)
        found[path] = Counter[str]()
        for doc in docs:
            old = [token.text for token in doc]
            random = sentence_random(1, old, 0)
            spaces = [bool(token.whitespace_) for token in doc]
            wanted = round(rate * len(doc) + random.random() - 0.5)
            for change in draw_changes(old, spaces, model, wanted, random):
                kind = kind_of(change, old, [token.tag_ for token in doc], model)
                found[path][kind] += 1
                around = old[max(0, change.start - 2) : change.end + 2]
                what = f"{' '.join(old[change.start : change.end])} > {' '.join(change.new)}"
                seen.setdefault(f"{path.stem}: {kind}", []).append(f"{what} ({' '.join(around)})")
    print(f"{count:,} words")
    kinds = sorted({kind for of in found.values() for kind in of})
    for kind in kinds:
        shares = [100 * of[kind] / max(1, of.total()) for of in found.values()]
        print(f"{kind:28}", *(f"{share:6.2f}" for share in shares))
    print(f"{'errors':28}", *(f"{of.total():6}" for of in found.values()))
    for kind, what in seen.items() if examples else ():
        step = max(1, len(what) // examples)
        print(kind, *what[::step][:examples], sep="\n    ")


if __name__ == "__main__":
    typer.run(main)
