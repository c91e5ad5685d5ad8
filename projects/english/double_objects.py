"""Sentences with two objects, "She lent my sister some money", which web treebanks hardly have.

    python double_objects.py OUTPUT CORPUS... [--recipients 2] [--no-contrasts]
        [--seed 1]

In web text recipients are nearly always pronouns, so a parser of roles takes two phrases behind a
verb for one argument. From sentences with trees and roles this makes

- the dative alternation, "gave a book to the child" -> "gave the child a book", where the verb
  allows it (Levin 1993, "English Verb Classes and Alternations", 2.1 and 2.2). Roles stay, as
  PropBank labels both alike (Palmer et al. 2005, "The Proposition Bank", section 2.1);
- "my brother", "the new students" or "Laura" for "me" in "gave me a book", half of them with
  another verb of the same kind.

From these alone a parser would take the first of any two phrases for a recipient. So there are as
many sentences with one object and a time, "She bought the car last week", after objects that end a
clause. Pronouns are replaced before other phrases, too: "They called her boss a liar".
`--no-contrasts` leaves both out.

Tags, heads, constituents and frames move along. A sentence is left out if a phrase or an argument
would be discontinuous.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import typer
from spacy.tokens import Doc, Token
from wasabi import msg

from spacy_lal.annotations.constituents import get_constituents
from spacy_lal.annotations.frames import Frame, FrameSpans, get_frames
from spacy_lal.formats.docbins import read_spacy
from spacy_lal.formats.treebank_sentence import TreebankSentence, language_vocab, write_docs
from spacy_lal.trees.tree import LabelledSpan

GIVE = """
give gives gave given giving|send sends sent sent sending|
offer offers offered offered offering|hand hands handed handed handing|
lend lends lent lent lending|loan loans loaned loaned loaning|
show shows showed shown showing|teach teaches taught taught teaching|
sell sells sold sold selling|pay pays paid paid paying|
promise promises promised promised promising|grant grants granted granted granting|
award awards awarded awarded awarding|owe owes owed owed owing|
mail mails mailed mailed mailing|e-mail e-mails e-mailed e-mailed e-mailing|
fax faxes faxed faxed faxing|pass passes passed passed passing|
throw throws threw thrown throwing|read reads read read reading|
write writes wrote written writing|bring brings brought brought bringing"""
"""Verbs that can stand for each other, as PropBank's ARG2 of each is the recipient of ARG1."""
OTHERS = """
tell tells told told telling|feed feeds fed fed feeding|serve serves served served serving|
assign assigns assigned assigned assigning|rent rents rented rented renting|
toss tosses tossed tossed tossing|leave leaves left left leaving|
ship ships shipped shipped shipping"""
FOR = """
buy buys bought bought buying|get gets got gotten getting|find finds found found finding|
make makes made made making|cook cooks cooked cooked cooking|
build builds built built building|order orders ordered ordered ordering|
bake bakes baked baked baking|pour pours poured poured pouring|
bring brings brought brought bringing|leave leaves left left leaving|
save saves saved saved saving|reserve reserves reserved reserved reserving|
book books booked booked booking|win wins won won winning"""
FORMS = [tuple(verb.split()) for verb in GIVE.split("|")]
"""Base, third person, past, participle and -ing of these verbs."""
VERBS = {
    "to": set(f"{GIVE}|{OTHERS}".replace("|", " ").split()),
    "for": set(FOR.replace("|", " ").split()),
}
"""Forms of verbs of the dative alternation, by preposition."""

RECIPIENTS = ("ARG2", "ARG3", "ARG4", "ARGM-GOL")
"""Roles of recipients; "buy" has ARG4, "cook" ARG3."""
PRONOUNS = frozenset(("me", "you", "him", "her", "it", "us", "them"))
OWNERS = ("my", "your", "his", "her", "our", "their")
QUALITIES = ("old", "new", "young", "other", "poor", "local", "little", "whole", "best", "first")
PERSONS = """
child student brother sister friend mother father teacher customer client boss neighbor son
daughter wife husband team company woman man boy girl dog doctor driver manager staff
government owner couple family court school agency colleague guest patient worker"""
GROUPS = """
children students brothers sisters friends parents teachers customers clients neighbors kids
police people women men boys girls dogs doctors drivers managers employees owners families
schools guests patients workers soldiers players voters readers members farmers"""
NAMES = """
Mary John Laura Peter Susan David Anna Michael Sarah Tom Emma George Julia Mark Karen Paul
Linda Steve Maria Kevin Ali Chen"""
_TIMES = """
last/JJ week/NN|last/JJ year/NN|last/JJ night/NN|last/JJ Friday/NNP|yesterday/NN|
this/DT morning/NN|this/DT week/NN|this/DT year/NN|today/NN|Monday/NNP|
last/JJ Friday/NNP|every/DT day/NN|every/DT morning/NN|every/DT summer/NN|each/DT week/NN|
the/DT next/JJ day/NN|the/DT other/JJ day/NN|all/DT day/NN|one/CD day/NN|
next/JJ week/NN|next/JJ month/NN|tomorrow/NN|tonight/NN|that/DT night/NN"""
TIMES = _TIMES.replace("\n", "").split("|")
"""Noun phrases of time, with their tags."""
LONGEST = 6
"""Most words of a recipient that moves before the other object; longer ones stay behind it."""


@dataclass(frozen=True)
class Word:
    """A new word; `head` counts from the phrase's beginning, -1 for the phrase's head."""

    text: str
    tag: str
    head: int
    dep: str


def main(
    output: Annotated[Path, typer.Argument(help=".spacy file to write.")],
    corpora: Annotated[list[Path], typer.Argument(help=".spacy files, or folders.", exists=True)],
    recipients: Annotated[int, typer.Option(help="Of a sentence with a pronoun.", min=0)] = 2,
    contrasts: Annotated[bool, typer.Option(help="Also sentences that look like these.")] = True,
    seed: Annotated[int, typer.Option(help="Of the recipients.")] = 1,
) -> None:
    """Write sentences with two objects, made from those of CORPORA."""
    rng = random.Random(seed)
    counts = Counter[str]()
    times: list[TreebankSentence] = []
    made = list(_made(corpora, recipients, rng, counts, times if contrasts else None))
    rng.shuffle(times)
    times = times[: len(made)]
    counts["a time"] = len(times)
    made += times
    if not made:
        msg.fail(f"no sentence of {', '.join(map(str, corpora))} can be changed", exits=1)
    output.parent.mkdir(parents=True, exist_ok=True)
    write_docs(made, output, "en")
    for name, count in counts.items():
        print(f"{name:<24}{count:>8,}")


def _made(
    corpora: Sequence[Path],
    recipients: int,
    rng: random.Random,
    counts: Counter[str],
    times: list[TreebankSentence] | None,
) -> Iterator[TreebankSentence]:
    """Yield sentences with two phrases behind a verb; those with a time go to `times`. times: None
    for sentences with two objects only."""
    vocab = language_vocab("en")
    for corpus in corpora:
        for path in sorted(corpus.rglob("*.spacy")) if corpus.is_dir() else [corpus]:
            for doc in read_spacy(path, vocab):
                counts["sentences read"] += 1
                if times is not None:
                    times += with_times(doc, rng)
                for sentence in shifted(doc):
                    counts["dative alternation"] += 1
                    yield sentence
                for _ in range(recipients):
                    for sentence in with_recipients(doc, rng, contrasts=times is not None):
                        counts["other recipients"] += 1
                        yield sentence


def shifted(doc: Doc) -> Iterator[TreebankSentence]:
    """Yield the sentence with the dative alternation, once for each verb that allows it."""
    for frame in get_frames(doc):
        verb = frame.predicate.i
        roles = {(span.start, span.end): span.label_ for span in frame.arguments}
        for middle in _ends(roles, verb + 1, "ARG1"):
            for label in RECIPIENTS:
                for end in _ends(roles, middle, label):
                    if _alternates(doc, verb, middle, end, label):
                        order = [
                            *range(verb + 1),
                            *range(middle + 1, end),
                            *range(verb + 1, middle),
                        ]
                        order += range(end, len(doc))
                        made = rebuilt(doc, order, {}, dropped=middle)
                        if made is not None:
                            yield made


def _ends(roles: dict[tuple[int, int], str], start: int, label: str) -> list[int]:
    return [end for (first, end), role in roles.items() if (first, role) == (start, label)]


def _alternates(doc: Doc, verb: int, middle: int, end: int, label: str) -> bool:
    """Return whether a theme stands before `middle`, and "to" and a short recipient until `end`."""
    preposition = doc[middle].lower_
    if doc[verb].lower_ not in VERBS.get(preposition, ()):
        return False
    if preposition == "to" and label != "ARG2":  # a place: "sent a child to camp"
        return False
    if middle == verb + 2 and doc[verb + 1].lower_ in PRONOUNS:  # "gave the child it" is wrong
        return False
    phrases = {(verb + 1, middle, "NP"), (middle, end, "PP"), (middle + 1, end, "NP")}
    return 1 < end - middle <= LONGEST + 1 and phrases <= set(get_constituents(doc))


def with_recipients(
    doc: Doc, rng: random.Random, *, contrasts: bool = True
) -> Iterator[TreebankSentence]:
    """Yield the sentence with a phrase for each pronoun between a verb and another phrase.
    contrasts: if False, only recipients before a theme are replaced."""
    phrases = set(get_constituents(doc))
    for frame in get_frames(doc):
        verb = frame.predicate.i
        roles = {(span.start, span.end): span.label_ for span in frame.arguments}
        first = roles.get((verb + 1, verb + 2), "")
        if not first or doc[verb + 1].lower_ not in PRONOUNS:
            continue
        behind = [end for (start, end) in roles if start == verb + 2]
        if not contrasts:
            behind = _ends(roles, verb + 2, "ARG1") if first in RECIPIENTS else []
        if any((verb + 2, end, "NP") in phrases for end in behind):
            new = {verb + 1: recipient(rng)}
            given = first == "ARG2" and _ends(roles, verb + 2, "ARG1")
            if given and rng.random() < 0.5:
                new[verb] = [other_verb(doc[verb], rng)]
            made = rebuilt(doc, list(range(len(doc))), new)
            if made is not None:
                yield made


def with_times(doc: Doc, rng: random.Random) -> Iterator[TreebankSentence]:
    """Yield the sentence with a time behind an object that ends a clause, once for each object."""
    phrases = set(get_constituents(doc))
    for frame in get_frames(doc):
        verb = frame.predicate.i
        roles = {(span.start, span.end): span.label_ for span in frame.arguments}
        if not doc[verb].tag_.startswith("V") or "ARGM-TMP" in roles.values():
            continue
        for end in _ends(roles, verb + 1, "ARG1"):
            last = end == len(doc) or doc[end].text in (".", "!", "?", ",", ";")
            if last and (verb + 1, end, "NP") in phrases and max(e for _, e in roles) == end:
                made = _with_time(doc, verb, end, rng.choice(TIMES))
                if made is not None:
                    yield made


def _with_time(doc: Doc, verb: int, end: int, time: str) -> TreebankSentence | None:
    """Insert a time between the tokens `end - 1` and `end`, in all spans with the verb."""
    words = [tuple(word.split("/")) for word in time.split()]
    size = len(words)

    def moved(start: int, stop: int) -> tuple[int, int]:
        grows = start <= verb < stop and stop == end
        return start + size * (start >= end), stop + size * (stop > end or grows)

    heads = deps = None
    if doc.has_annotation("DEP"):
        at = [token.head.i + size * (token.head.i >= end) for token in doc]
        heads = [*at[:end], *[end + size - 1] * (size - 1), verb, *at[end:]]
        inner = ["det" if tag == "DT" else "amod" for _, tag in words[:-1]]
        relations = [token.dep_ for token in doc]
        deps = [*relations[:end], *inner, "obl:unmarked", *relations[end:]]
    tags = [token.tag_ for token in doc]
    frames = []
    for frame in get_frames(doc):
        spans = [(*moved(span.start, span.end), span.label_) for span in frame.spans]
        if frame.predicate.i == verb:
            spans.append((end, end + size, "ARGM-TMP"))
        frames.append(FrameSpans(moved(frame.predicate.i, end + 1)[0], frame.roleset, spans))
    phrases = [(*moved(start, stop), label) for start, stop, label in get_constituents(doc)]
    phrases.append((end, end + size, "NP"))
    texts = [token.text for token in doc]
    spaces = [bool(token.whitespace_) for token in doc]
    # whitespace of the object's last word goes to the last new word
    return TreebankSentence(
        words=[*texts[:end], *(text for text, _ in words), *texts[end:]],
        spaces=[*spaces[: end - 1], *[True] * size, *spaces[end - 1 :]],
        tags=[*tags[:end], *(tag for _, tag in words), *tags[end:]]
        if doc.has_annotation("TAG")
        else None,
        heads=heads,
        deps=deps,
        constituents=sorted(phrases, key=lambda span: (span[0], -span[1])),
        frames=frames,
    )


def other_verb(verb: Token, rng: random.Random) -> Word:
    """Return another verb of the same kind in the same form, or the verb itself."""
    forms = [k for verbs in FORMS for k, form in enumerate(verbs) if form == verb.lower_]
    text = verb.text
    if forms:
        # many pasts are also participles
        form = rng.choice(FORMS)[3 if verb.tag_ == "VBN" else forms[0]]
        text = form.capitalize() if verb.is_title else form
    return Word(text, verb.tag_, -1, verb.dep_)


def recipient(rng: random.Random) -> list[Word]:
    """Return a phrase for a recipient."""
    kind = rng.random()
    if kind < 0.25:
        return [Word(rng.choice(NAMES.split()), "NNP", -1, "")]
    many = rng.random() < 0.5
    noun = Word(rng.choice((GROUPS if many else PERSONS).split()), "NNS" if many else "NN", -1, "")
    if kind < 0.6:
        before = [Word(rng.choice(OWNERS), "PRP$", 1, "nmod:poss")]
    else:
        article = rng.choice(
            ("the", "the", "some", "all the", "these")
            if many
            else ("the", "the", "every", "this", "that")
        )
        before = [
            Word(text, "PDT" if text == "all" else "DT", 1, "det") for text in article.split()
        ]
    if rng.random() < 0.2:
        before.append(Word(rng.choice(QUALITIES), "JJ", 1, "amod"))
    before = [replace(word, head=len(before)) for word in before]
    return [*before, noun]


def rebuilt(
    doc: Doc, order: Sequence[int], new: dict[int, list[Word]], dropped: int = -1
) -> TreebankSentence | None:
    """Return the sentence with its tokens in this order, some replaced by new words.

    order: all tokens but `dropped`, whose span becomes that of its neighbour. None if a phrase or
    an argument becomes discontinuous, or if the dropped word has dependents.
    """
    place: dict[int, range] = {}
    size = 0
    for old in order:
        place[old] = range(size, size + len(new.get(old, " ")))
        size = place[old].stop
    constituents = _moved_phrases(get_constituents(doc), place, dropped)
    frames = [_moved_frame(frame, place, new) for frame in get_frames(doc)]
    heads, deps = _moved_heads(doc, order, new, place, dropped)
    if constituents is None or None in frames or (heads is not None and None in heads):
        return None
    words = [w.text for old in order for w in new.get(old, [Word(doc[old].text, "", 0, "")])]
    tags = [w.tag for old in order for w in new.get(old, [Word("", doc[old].tag_, 0, "")])]
    spaces = [True] * size
    for at, old in enumerate(order):
        # no space before a full stop
        follows = order[at + 1] if at + 1 < len(order) else len(doc)
        spaces[place[old].stop - 1] = bool(doc[follows - 1].whitespace_)
    return TreebankSentence(
        words=words,
        spaces=spaces,
        tags=tags if doc.has_annotation("TAG") else None,
        heads=heads,  # type: ignore[arg-type]  # none is None any more
        deps=deps,
        constituents=constituents,
        frames=frames,  # type: ignore[arg-type]
    )


def _moved(start: int, end: int, place: dict[int, range]) -> tuple[int, int] | None:
    ranges = [place[k] for k in range(start, end) if k in place]
    if not ranges:
        return 0, 0
    first, last = min(r.start for r in ranges), max(r.stop for r in ranges)
    return (first, last) if sum(map(len, ranges)) == last - first else None


def _moved_phrases(
    phrases: Sequence[LabelledSpan], place: dict[int, range], dropped: int
) -> list[LabelledSpan] | None:
    moved = []
    for start, end, label in phrases:
        if start == dropped and label == "PP":
            continue
        span = _moved(start, end, place)
        if span is None:
            return None
        if span[0] < span[1]:
            moved.append((*span, label))
    return sorted(moved, key=lambda span: (span[0], -span[1]))


def _moved_frame(
    frame: Frame, place: dict[int, range], new: dict[int, list[Word]]
) -> FrameSpans | None:
    predicate = frame.predicate.i
    if predicate not in place:
        return None
    spans = []
    for span in frame.spans:
        moved = _moved(span.start, span.end, place)
        if moved is None or moved[0] == moved[1]:
            return None
        spans.append((*moved, span.label_))
    # the roleset of another verb is unknown
    return FrameSpans(place[predicate].start, "" if predicate in new else frame.roleset, spans)


def _moved_heads(
    doc: Doc,
    order: Sequence[int],
    new: dict[int, list[Word]],
    place: dict[int, range],
    dropped: int,
) -> tuple[list[int | None] | None, list[str] | None]:
    if not doc.has_annotation("DEP"):
        return None, None
    # the object of the dropped preposition is the indirect object
    indirect = doc[dropped].head.i if dropped >= 0 else -1
    anchor = {old: place[old].stop - 1 for old in order}
    heads: list[int | None] = []
    deps: list[str] = []
    for old in order:
        token = doc[old]
        relation = "iobj" if old == indirect else token.dep_
        phrase = new.get(old, [Word(token.text, token.tag_, -1, relation)])
        for word in phrase:
            inner = word.head >= 0
            heads.append(place[old].start + word.head if inner else anchor.get(token.head.i))
            deps.append(word.dep if inner else relation)
    return heads, deps


if __name__ == "__main__":
    typer.run(main)
