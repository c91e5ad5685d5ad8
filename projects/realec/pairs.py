"""Pairs of a wrong and a right sentence by kind of error, made of templates and words.

    python pairs.py pairs/measured.txt ../../assets/textbook/errors.tsv --each 20
    python pairs.py pairs/training.txt corpus/kinds/pairs.spacy --each 300

A file of templates has words by class, and templates below headings:

    noun who: nurse, child/children
    verb act: wash the car, bake/baked/baked a cake
    pair long: long/longer
    word name: Tom, Anna
    ## participles after have = VERB:FORM
    {name} has [{act}|{act.n}] {act+}.
    [|The] {who} is here. = DET

`{who}` and `{who.pl}` are forms of a noun ("an" for "a" comes by itself); `{act}`, `{act.z}`, `.d`,
`.n` and `.g` of a verb, and `{act+}` the words behind it; `{long.a}` and `{long.b}` of a pair. A
class stands for the same word in the whole sentence, but `{who2}` for another one. `[wrong|right]`
is an error; a template without one is a right sentence, as those below a heading `right: …` are.
Behind `=` stands the error's kind, for a heading's templates or for one.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, NamedTuple

import spacy
import typer
from spacy.tokens import Doc
from wasabi import msg

from spacy_lal.annotations.grammar_errors import CORRECT, Correction, set_errors
from spacy_lal.artificial_errors.corrupt import MISSING, REPLACED, UNNECESSARY
from spacy_lal.artificial_errors.english import plural, regular
from spacy_lal.formats.docbins import write_spacy
from spacy_lal.formats.files import whole_file

COLUMNS = "kind\twrong\tright\n"
TRIES = 200
"""Sentences drawn for one that is not there yet."""
_HEADING = re.compile(r"## (?P<kind>.+?)( = (?P<label>[A-Z:]+))?")
_TEMPLATE = re.compile(r"(?P<text>.+?)( = (?P<label>[A-Z:]+))?")
_SLOT = re.compile(r"\{([a-z_]+)(\d*)(?:\.([a-z]+))?(\+?)\}")
_ERROR = re.compile(r"\[([^|\]]*)\|([^\]]*)\](\s*\w*)")
_AN = re.compile(r"\ba (?=(?!uni|eur|one\b|use)[aeiou]|hon|hour)", re.IGNORECASE)

Forms = dict[str, str]


class Template(NamedTuple):
    """A sentence with slots and errors, and the kind of its errors, "" without."""

    text: str
    label: str


class Sentence(NamedTuple):
    """The wrong sentence, "" if there is none, with brackets around its errors; the right one; and
    labels of the errors with what is right there, before them if words are missing."""

    wrong: str
    right: str
    labels: list[tuple[str, str]]


def forms_of(kind: str, word: str) -> Forms:
    """Return the forms of a word by their names in slots. Raises KeyError for an unknown kind."""
    first, _, rest = word.partition(" ")
    one, *others = first.split("/")
    if kind == "verb":
        verb = regular(one.rstrip("!"), doubled=one.endswith("!"))
        past, participle = others or (verb.pasts[0],) * 2
        gerund = verb.gerund
        return {"": verb.base, "z": verb.third, "d": past, "n": participle, "g": gerund, "+": rest}
    one, *others = word.split("/")
    return {
        "noun": {"": one, "pl": others[0] if others else plural(one)},
        "pair": {"": one, "a": one, "b": others[0] if others else one},
        "word": {"": word},
    }[kind]


def read(path: Path) -> tuple[dict[str, list[Forms]], dict[str, list[Template]]]:
    """Return words by class and templates by kind. Raises ValueError, with the line."""
    words: dict[str, list[Forms]] = {}
    kinds: dict[str, list[Template]] = {}
    label = ""
    for number, line in enumerate(path.read_text("utf8").splitlines(), 1):
        if not line or line.startswith("# "):
            continue
        if heading := _HEADING.fullmatch(line):
            label = heading["label"] or ""
            templates = kinds.setdefault(heading["kind"], [])
        elif found := re.fullmatch(r"(noun|verb|pair|word) ([a-z_]+): (.+)", line):
            words[found[2]] = [forms_of(found[1], word) for word in found[3].split(", ")]
        elif (found := _TEMPLATE.fullmatch(line)) and kinds:
            templates.append(Template(found["text"], found["label"] or label))
        else:
            raise ValueError(f"{path}:{number}: neither words, heading nor template: {line!r}")
    return words, kinds


def filled(template: Template, words: dict[str, list[Forms]], rng: random.Random) -> Sentence:
    """Return a sentence of the template. Raises KeyError for a slot without words."""
    chosen: dict[tuple[str, str], Forms] = {}

    def word(slot: re.Match[str]) -> str:
        name, number, form, rest = slot.groups()
        if (name, number) not in chosen:
            others = [forms for (of, _), forms in chosen.items() if of == name]
            chosen[name, number] = rng.choice([of for of in words[name] if of not in others])
        return chosen[name, number]["+" if rest else form or ""]

    text = _SLOT.sub(word, template.text)
    labels: list[tuple[str, str]] = []

    def wrong(error: re.Match[str]) -> str:
        old, new, behind = error.groups()
        operation = REPLACED if old else MISSING
        if old and f" {new}".endswith(f" {old}"):
            operation = MISSING
        missing = new.removesuffix(old).strip() if operation == MISSING else new
        labels.append((f"{operation if new else UNNECESSARY}:{template.label}", missing))
        return f"[{old}]{behind}" if old else f"[{behind.strip()}]"

    if "|" not in text:
        return Sentence("", template.text if text == template.text else _sentence(text), [])
    right = _sentence(_ERROR.sub(r"\2\3", text))
    return Sentence(_sentence(_ERROR.sub(wrong, text)), right, labels)


def _sentence(text: str) -> str:
    text = _AN.sub("an ", re.sub(r" +", " ", text).strip())
    # an opening bracket may stand before the first letter
    return re.sub(r"^(\[?)(\w)", lambda m: m[1] + m[2].upper(), text)


def made(path: Path, each: int, seed: int) -> Iterator[tuple[str, Sentence]]:
    """Yield at most `each` sentences of each kind, of all its templates in turn, none twice."""
    words, kinds = read(path)
    for kind, templates in kinds.items():
        rng = random.Random(f"{seed} {kind}")
        seen: set[str] = set()
        count = 0
        for number in range(TRIES * each):
            sentence = filled(templates[number % len(templates)], words, rng)
            if sentence.right not in seen and sentence.wrong not in seen:
                seen |= {sentence.right, sentence.wrong} - {""}
                yield kind, sentence
                count += 1
            if count == each:
                break


def docs_of(sentence: Sentence, nlp: spacy.Language) -> Iterator[Doc]:
    """Yield the wrong sentence, with its errors as a detector learns them, and the right one."""
    if sentence.wrong:
        parts = re.split(r"[\[\]]", sentence.wrong)
        doc = nlp.make_doc("".join(parts))
        labels = [CORRECT] * len(doc)
        corrections: dict[int, list[Correction]] = {}
        start = 0
        for number, part in enumerate(parts):
            inside = doc.char_span(start, start + len(part), alignment_mode="expand")
            if number % 2 and inside is not None:
                label, right = sentence.labels[number // 2]
                corrections[inside.start] = [Correction(right, 1.0)]
                # of a word after a missing one, the first token
                end = inside.start + 1 if label.startswith(MISSING) else inside.end
                labels[inside.start : end] = [label] * (end - inside.start)
            start += len(part)
        set_errors(doc, labels, begins=corrections, corrections=corrections)
        yield doc
    doc = nlp.make_doc(sentence.right)
    set_errors(doc, [CORRECT] * len(doc))
    yield doc


def main(
    templates: Annotated[Path, typer.Argument(help="Templates and words.", exists=True)],
    output: Annotated[Path, typer.Argument(help="The .tsv or .spacy file to write.")],
    each: Annotated[int, typer.Option(help="Pairs of each kind, at most.", min=1)] = 20,
    seed: Annotated[int, typer.Option(help="Of all choices.")] = 1,
) -> None:
    """Write pairs of wrong and right sentences."""
    output.parent.mkdir(parents=True, exist_ok=True)
    pairs = list(made(templates, each, seed))
    if output.suffix == ".spacy":
        nlp = spacy.blank("en")
        write_spacy((doc for _, pair in pairs for doc in docs_of(pair, nlp)), output)
    else:
        rows = (f"{kind}\t{pair.wrong}\t{pair.right}\n" for kind, pair in pairs)
        with whole_file(output) as unfinished:
            unfinished.write_text(COLUMNS + "".join(rows), "utf8")
    msg.good(f"{output}: {len(pairs):,} pairs of {len({kind for kind, _ in pairs})} kinds")


if __name__ == "__main__":
    typer.run(main)
