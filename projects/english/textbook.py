"""Sentences of textbook English, with tags, trees, heads and roles, made of templates.

`textbook/words.txt` has the words by class, `textbook/templates.txt` the templates and what their
slots stand for; the format is described at the top of each. The annotation is that of the English
Web Treebank. No verb, noun, adjective or name of the textbook sentences that are measured
(assets/textbook/measured.checks) occurs, and ten of their kinds have no templates.
"""

from __future__ import annotations

import random
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from spacy_lal.annotations import FrameSpans
from spacy_lal.formats.treebank_sentence import TreebankSentence, write_docs
from spacy_lal.trees.brackets import ptb_unescape

FOLDER = Path(__file__).parent / "textbook"
LONGEST = 40
EMBEDDED, KEPT, CONTRACTED = 0.25, 0.4, 0.3
"""Shares: of statements in a longer sentence, of optional parts, of contracted auxiliaries."""
TAGS = {"b": "VB", "d": "VBD", "g": "VBG", "n": "VBN", "z": "VBZ", "sg": "NN", "pl": "NNS"}
SHORT = {"will": "'ll", "am": "'m", "is": "'s", "are": "'re", "has": "'s", "have": "'ve"}
NEGATED = {"will": "wo", "can": "ca"}
CLITICS = {"n't", "'s", "'", ",", ".", "?", "!", ")", "'d", *SHORT.values()}
AUXILIARY = {"aux", "aux:pass", "cop"}
MANY = {"we", "you", "they", "these", "those", "both", "many", "some", "few", "all"}
AN = re.compile(r"(?i)(?!uni[vqfo]|eur|one\b|use)[aeiou]|heir|hon|hour")
_TOKEN = re.compile(r"\{[^}]*\}[^\s()]*|\([^\s(){}]+|\)\??|[^\s(){}]+|\S")
_TAIL = r"(?::(?P<rel>[a-z:]+)(?P<to>[\^_]|>\d)?)?(?:=(?P<roles>[\w,.-]+))?(?P<maybe>\?)?"
_PARTS = (
    re.compile(rf"\((?P<label>[A-Z]+|_)(?P<chain>~[a-z]*\d*)?{_TAIL}"),
    re.compile(
        r"\{(?P<slot>[\w+>]+)( (?P<of>[\w>]+))?(\.(?P<form>\w+))?(#(?P<frames>\d))?\}" + _TAIL
    ),
    re.compile(rf"(?P<text>[^/]+)/(?P<label>[^:=?]+){_TAIL}"),
)


class Entry(NamedTuple):
    """A word of a class. forms: texts by form, of one form if the class has a tag; of: the class of
    a verb's objects; particle: a verb's."""

    lemma: str
    forms: dict[str, str]
    tag: str = ""
    of: str = ""
    particle: str = ""


@dataclass
class Node:
    """A phrase, word or slot of a template, or a phrase or word of a sentence.

    to: where the head is if it isn't that of the phrase around. roles: "2ARG0" in templates,
    (frame, label) in sentences; the label of a frame's predicate is V with the roleset.
    """

    label: str = ""
    text: str = ""
    rel: str = ""
    to: str = ""
    roles: list = field(default_factory=list)  # type: ignore[type-arg]
    parts: list[Node] = field(default_factory=list)
    slot: str = ""
    of: str = ""
    form: str = ""
    frames: str = ""
    chain: str | None = None
    maybe: bool = False
    at: int = -1

    def all(self) -> Iterator[Node]:
        """Yield the node and what is below it, in preorder."""
        yield self
        for part in self.parts:
            yield from part.all()

    def words(self) -> list[Node]:
        return [node for node in self.all() if not node.parts]

    def head(self) -> Node:
        """Return the word that the others depend on. Raises ValueError without exactly one."""
        heads = [part for part in self.parts if not part.rel]
        if self.parts and len(heads) != 1:
            inside = " ".join(word.text for word in self.words())
            raise ValueError(f"{len(heads)} heads in ({self.label} {inside})")
        return heads[0].head() if self.parts else self

    def predicates(self) -> list[int]:
        return [int(role) for role in self.roles if role.isdecimal()]


def parse(template: str) -> Node:
    """Return a template's tree. Raises ValueError for anything else."""
    stack = [Node("TOP")]
    for token in _TOKEN.findall(template):
        if token[0] == ")" and len(stack) > 1 and stack[-1].parts:
            stack.pop().maybe |= token == ")?"
            continue
        found = next(filter(None, (part.fullmatch(token) for part in _PARTS)), None)
        if found is None:
            raise ValueError(f"can't read {token!r} in {template!r}")
        values = {name: value for name, value in found.groupdict().items() if value}
        roles = values.pop("roles", "").split(",")
        node = Node(**values, roles=[role for role in roles if role])  # type: ignore[arg-type]
        stack[-1].parts.append(node)
        if token[0] == "(":
            stack.append(node)
    if len(stack) != 1 or len(stack[0].parts) != 1:
        raise ValueError(f"not one whole phrase: {template!r}")
    return stack[0].parts[0]


def verb_forms(text: str) -> dict[str, str]:
    """Return the forms b, d, n, g of "bake", "ship!" (doubled consonant), "sell/sold/sold", and z,
    for I, one and many; of "be am/is/are was/was/were been being" as given."""
    if " " in text:
        return dict(zip("bzdng", text.split(), strict=True))
    first, *others = text.split("/")
    base = first.rstrip("!")
    short = base[:-1] if base.endswith("e") and not base.endswith("ee") else base
    stem = base + base[-1] if first != base else short
    past = base[:-1] + "ied" if re.search("[^aeiou]y$", base) else stem + "ed"
    d, n = others or (past, past)
    return {"b": base, "d": d, "n": n, "g": stem + "ing", "z": f"{base}/{with_s(base)}/{base}"}


def with_s(word: str) -> str:
    """Return the plural of a regular noun, the third person of a verb."""
    if re.search("[^aeiou]y$", word):
        return word[:-1] + "ies"
    return word + ("es" if re.search("(s|x|z|ch|sh)$", word) else "s")


def read_words(line: str) -> tuple[str, str, list[Entry]]:
    """Return a class's name, its kind if it is of nouns, and its words. Raises ValueError."""
    head, colon, rest = line.partition(": ")
    kind, name, tag = ([*head.split(), "", ""])[:3]
    if not colon or kind not in ("verb", "noun", "word") or not name:
        raise ValueError(f"expected `verb|noun|word CLASS …: WORDS`, found {line!r}")
    entries = []
    for text in rest.split(", "):
        text, _, of = text.partition(">")
        text, _, particle = text.partition("+")
        if kind == "verb":
            forms = verb_forms(text)
            entries.append(Entry(forms["b"], forms, "", of, particle))
        elif kind == "noun":
            one, _, many = text.partition("/")
            many = one if tag == "mass" else many or with_s(one)
            entries.append(Entry(one, {"sg": one, "pl": many}))
        else:
            entries.append(Entry(text.partition("|")[0], {"": text}, tag))
    return name, tag if kind == "noun" else "", entries


class Grammar:
    """Words by class, the kinds of classes of nouns, and templates by name with weights, of kinds
    of sentences (`shares` has their shares) and of slots. Raises ValueError, with file and line,
    for what is wrong in the files of the folder."""

    def __init__(self, folder: Path = FOLDER) -> None:
        self.words: dict[str, list[Entry]] = {}
        self.nouns: dict[str, str] = {}
        self.rules: dict[str, list[tuple[float, Node]]] = {}
        self.shares: dict[str, float] = {}
        for path in (folder / "words.txt", folder / "templates.txt"):
            for number, line in enumerate(path.read_text("utf8").splitlines(), 1):
                try:
                    if line.strip() and (line[0] != "#" or line.startswith("## ")):
                        self._read(line.strip(), path.name == "words.txt")
                except ValueError as error:
                    raise ValueError(f"{path}:{number}: {error}") from None

    def _read(self, line: str, words: bool) -> None:
        if words:
            name, self.nouns[name], self.words[name] = read_words(line)
        elif line.startswith("## "):
            name, _, share = line[3:].partition(" * ")
            self.shares[name], self.rules[name] = float(share or 1), []
        elif line.startswith("= "):
            self.rules[line[2:]] = []
        else:
            weight, template = re.fullmatch(r"(\d+ )?(.+)", line).groups()  # type: ignore[union-attr]
            list(self.rules.values())[-1].append((float(weight or 1), parse(template)))


@dataclass
class Scope:
    """What a template's numbers stand for, frames and their verbs, and what surrounds it."""

    frames: dict[int, tuple[int, ...]]
    verbs: dict[int, Entry]
    of: str = ""
    form: str = "f"
    subject: bool = False
    asks: bool = False
    verb_phrase: Callable[[str], Node] | None = None


class Maker:
    """Makes sentences of a grammar. Raises ValueError, with the kind, for a bad template."""

    def __init__(self, grammar: Grammar, rng: random.Random) -> None:
        self.grammar, self.rng = grammar, rng

    def make(self, kind: str, template: Node | None = None) -> TreebankSentence:
        """Return a sentence of the kind, or of one of its templates alone."""
        top = template or self._choose(kind)
        self.count, self.used, self.this = 0, set[str](), top
        subject = any(part.rel.startswith(("nsubj", "expl", "csubj")) for part in top.parts)
        states = template is None and subject and top.parts[-1].text == "." and top.label == "S"
        if states and self.rng.random() < EMBEDDED:
            self.this, top = replace(top, parts=top.parts[:-1]), self._choose("wrap")
        try:
            (tree,) = self._expand(top, self._scope(top))
            return self._sentence(tree)
        except (ValueError, KeyError, IndexError) as error:
            raise ValueError(f"{kind}: {type(error).__name__} {error}") from error

    def _choose(self, name: str) -> Node:
        weights, rules = zip(*self.grammar.rules[name], strict=True)
        return self.rng.choices(rules, weights)[0]

    def _entry(self, name: str) -> Entry:
        """Return a word, if possible one that the sentence has not."""
        entries = [self.rng.choice(self.grammar.words[name]) for _ in range(4)]
        entry = next((entry for entry in entries if entry.lemma not in self.used), entries[0])
        self.used.add(entry.lemma)
        return entry

    def _frames(self, scope: Scope, number: int) -> tuple[int, ...]:
        self.count += number not in scope.frames
        return scope.frames.setdefault(number, (self.count,))

    def _scope(self, rule: Node, frames: dict[int, tuple[int, ...]] | None = None, **more) -> Scope:  # type: ignore[no-untyped-def]
        """Return a template's scope, with its verbs chosen: objects before them depend on them."""
        slots = [node for node in rule.all() if node.slot in self.grammar.words]
        verbs = {number: self._entry(node.slot) for node in slots for number in node.predicates()}
        return Scope(frames or {}, verbs, **more)

    def _expand(self, spec: Node, scope: Scope) -> list[Node]:
        if spec.maybe and self.rng.random() > KEPT:
            return []
        roles = [(f, r[1:] or "V") for r in spec.roles for f in self._frames(scope, int(r[0]))]
        to = f">{self._frames(scope, int(spec.to[1]))[0]}" if spec.to[:1] == ">" else spec.to
        if spec.rel:
            scope = replace(scope, subject=spec.rel.startswith("nsubj"))
        if spec.text:
            self.used.add(spec.text)
            nodes = [Node(spec.label, ptb_unescape(spec.text))]
        else:
            nodes = self._slot(spec, scope) if spec.slot else self._phrase(spec, scope)
        if len(nodes) == 1:
            nodes[0].rel, nodes[0].to = (spec.rel, to) if spec.rel else (nodes[0].rel, nodes[0].to)
            nodes[0].roles += roles
        return nodes

    def _slot(self, spec: Node, scope: Scope) -> list[Node]:
        name, of = (scope.of if word == "X" else word for word in (spec.slot, spec.of))
        form = spec.form or scope.form
        if name == "V" and scope.verb_phrase is not None:
            return [scope.verb_phrase(form)]
        if name[0] == "+":
            return [Node(spec.form or "RP", scope.verbs[int(name[1:])].particle)]
        name, of = (scope.verbs[int(x[1:])].of if x[:1] == ">" else x for x in (name, of))
        if name in self.grammar.words:
            entry = next((scope.verbs[k] for k in spec.predicates()), None) or self._entry(name)
            if entry.tag:
                return [Node(entry.tag, entry.forms[""].split("|")[0 if scope.subject else -1])]
            label = "NN" if entry.forms.get("pl") == entry.lemma else TAGS[form]
            return [Node(label, entry.forms[form])]
        special = f"{name}/{self.grammar.nouns.get(of)}"
        chosen = special if special in self.grammar.rules else name
        rule = self.this if name == "THIS" else self._choose(chosen)
        frames = {1: self._frames(scope, int(spec.frames))} if spec.frames else None
        form = form if rule.label in ("VP", "_") else "f"
        asks = scope.asks and rule.label in ("VP", "_")
        inner = self._scope(rule, frames, of=of, form=form, subject=scope.subject, asks=asks)
        return self._expand(rule, inner)

    def _phrase(self, spec: Node, scope: Scope) -> list[Node]:
        if spec.chain is None or spec.label == "SQ":
            kept = spec.label in ("VP", "_")
            asks = spec.chain is not None or (scope.asks and spec.label == "_")
            inner = replace(scope, form=scope.form if kept else "f", asks=asks)
            parts = [node for part in spec.parts for node in self._expand(part, inner)]
            if spec.label == "_":
                return parts
            return [Node(spec.label, parts=_inverted(parts) if spec.chain is not None else parts)]
        flags = spec.chain
        numbers = map(int, re.findall(r"\d", flags) or "1")
        frames = tuple(frame for number in numbers for frame in self._frames(scope, number))

        def around(rule: str, form: str, verb_phrase: Callable[[str], Node]) -> Node:
            inner = Scope({1: frames}, {}, form=form, verb_phrase=verb_phrase)
            return self._expand(self._choose(rule), inner)[0]

        def plain(form: str) -> Node:
            inner = replace(scope, form=form, asks=False)
            return Node("VP", parts=[n for part in spec.parts for n in self._expand(part, inner)])

        def voiced(form: str) -> Node:
            rule = "passive/finite" if form in "dz" else "passive"
            return around(rule, form, plain) if "p" in flags else plain(form)

        form = "b" if "b" in flags else scope.form
        if form != "f":
            return [voiced(form)]
        rule = "asked" if scope.asks and "p" not in flags else "finite"
        kind = next((k for k in ("passive", "stative", "copula") if k[0] in flags), "")
        special = f"{rule}/{kind}"
        return [around(special if special in self.grammar.rules else rule, "f", voiced)]

    def _sentence(self, tree: Node) -> TreebankSentence:
        words = tree.words()
        for at, word in enumerate(words):
            word.at = at
        heads, deps = _dependencies(tree, len(words))
        self._inflect(words, heads, deps)
        words[0].text = words[0].text[0].upper() + words[0].text[1:]
        spans: dict[int, list[tuple[int, int, str]]] = defaultdict(list)
        phrases = []
        for node in tree.all():
            inside = node.words()
            start, end = inside[0].at, inside[-1].at + 1
            if node.parts:
                phrases.append((start, end, node.label))
            for frame, label in node.roles:
                spans[frame].append((start, end, label))
        frames = [_frame(own) for own in spans.values() if own[0][2] != "H"]
        texts = [word.text for word in words]
        return TreebankSentence(
            words=texts,
            spaces=[b not in CLITICS and a != "(" for a, b in pairwise([*texts, "."])],
            tags=[word.label for word in words],
            heads=heads,
            deps=deps,
            constituents=phrases,
            frames=sorted(frames),
        )

    def _inflect(self, words: Sequence[Node], heads: Sequence[int], deps: Sequence[str]) -> None:
        """Make verbs agree with their subjects; write contractions, and an for a."""
        for word in words:
            if "/" in word.text:
                number = _number(word.at, words, heads, deps)
                word.text = word.text.split("/")[number]
                word.label = "VBP" if word.label == "VBZ" and number != 1 else word.label
        for word, after in pairwise(words):
            if after.text == "n't":
                if word.text == "am":
                    after.text = "not"
                word.text = NEGATED.get(word.text, word.text)
            elif word.label == "DT" and word.text == "a" and AN.match(after.text):
                word.text = "an"
            elif word.label == "PRP" and after.text in SHORT and deps[after.at] in AUXILIARY:
                follows = words[min(after.at + 1, len(words) - 1)]
                subject = deps[word.at].startswith("nsubj") and word.at < heads[word.at]
                plain = follows.label[:1].isalpha() and follows.text != "n't"
                if subject and plain and self.rng.random() < CONTRACTED:
                    after.text = SHORT[after.text]


def _inverted(parts: Sequence[Node]) -> list[Node]:
    """Return a clause's parts with the first auxiliary, and n't, before the others."""
    at = next(k for k, part in enumerate(parts) if part.label == "VP")
    first, *rest = parts[at].parts
    negation = [rest.pop(0)] if rest[0].text == "n't" else []
    return [first, *negation, *parts[:at], *rest, *parts[at + 1 :]]


def _dependencies(tree: Node, size: int) -> tuple[list[int], list[str]]:
    """Return the words' heads and relations. Raises ValueError for a phrase without one head."""
    heads, deps = [tree.head().at] * size, ["root"] * size
    named = {f">{f}": node for node in tree.all() for f, label in node.roles if label[0] in "VH"}
    for node in tree.all():
        for k, part in enumerate(node.parts):
            others = {"^": node.parts[k + 1 :], "_": node.parts[:k][::-1]}.get(part.to, [])
            other = next((one for one in others if one.to not in ("^", "_")), node)
            if part.rel:
                word = part.head().at
                heads[word], deps[word] = named.get(part.to, other).head().at, part.rel
    return heads, deps


def _number(at: int, words: Sequence[Node], heads: Sequence[int], deps: Sequence[str]) -> int:
    """Return 0 if the subject of a verb is I, 2 if it is many or you, otherwise 1."""
    verb, subjects = heads[at] if deps[at] in AUXILIARY else at, list[int]()
    while not subjects:
        subjects = [k for k, head in enumerate(heads) if head == verb and deps[k][:5] == "nsubj"]
        if not subjects and deps[verb] != "conj":
            return 1
        above, verb = verb, heads[verb] if not subjects else verb
    subject = subjects[0]
    if words[subject].label in ("WDT", "WP") and deps[above].endswith("relcl"):
        subject = heads[above]
    text, tag = words[subject].text.lower(), words[subject].label
    if text == "i":
        return 0
    joined = any(head == subject and dep == "conj" for head, dep in zip(heads, deps, strict=True))
    return 2 if joined or text in MANY or tag in ("NNS", "CD") else 1


def _frame(spans: Sequence[tuple[int, int, str]]) -> FrameSpans:
    """Return a frame; a continuation directly behind what it continues is a part of that."""
    kept: list[tuple[int, int, str]] = []
    roleset = next(label[1:] for *_, label in spans if label[0] == "V")
    for start, end, label in sorted(spans):
        label = "V" if label[0] == "V" else label
        before = (span for span in kept if span[1] == start and label == f"C-{span[2]}")
        span = next(before, None)
        if span is not None:
            kept[kept.index(span)] = (span[0], end, span[2])
        else:
            kept.append((start, end, label))
    (at,) = (start for start, _, label in kept if label == "V")
    return FrameSpans(at, roleset, kept)


def made(grammar: Grammar, size: int, rng: random.Random) -> Iterator[tuple[str, TreebankSentence]]:
    """Yield different sentences with their kinds, which have their shares."""
    maker = Maker(grammar, rng)
    kinds, shares = list(grammar.shares), list(grammar.shares.values())
    seen: set[tuple[str, ...]] = set()
    while len(seen) < size:
        (kind,) = rng.choices(kinds, shares)
        sentence = maker.make(kind)
        if tuple(sentence.words) not in seen and len(sentence.words) <= LONGEST:
            seen.add(tuple(sentence.words))
            yield kind, sentence


def main(
    output: Annotated[Path, typer.Argument(help=".spacy file to write.")],
    sentences: Annotated[int, typer.Option(help="How many.", min=1)] = 20_000,
    seed: Annotated[int, typer.Option(help="Of all choices.")] = 1,
) -> None:
    """Write textbook sentences, as texts of one to a few."""
    rng = random.Random(seed)
    counts, written, text = Counter[str](), [], 0
    for kind, sentence in made(Grammar(), sentences, rng):
        counts[kind] += 1
        text += rng.random() < 0.5
        written.append(replace(sentence, paragraph=f"textbook-{text}"))
    output.parent.mkdir(parents=True, exist_ok=True)
    write_docs(written, output, "en")
    for kind, count in sorted(counts.items()):
        print(f"{kind:<56}{count:>8,}")


if __name__ == "__main__":
    typer.run(main)
