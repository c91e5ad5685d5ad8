"""Clauses and triples against the annotation of 150 sentences of EWT dev.

    python benchmarks/clauses.py EWT_DEV.spacy [--pipeline en_lal_md] [--errors]
    PYTHONPATH=. python benchmarks/clauses.py EWT_DEV.spacy --pipeline en_core_web_sm --textacy

EWT_DEV.spacy has trees, heads and roles; with `--pipeline`, those of a pipeline are read instead.
With `--textacy`, triples are those of textacy, which needs an environment of its own.
The annotation and how it was made are in tests/fixtures/views.
"""

import argparse
import json
from collections.abc import Iterable
from pathlib import Path

import spacy
from spacy.tokens import Doc, DocBin, Token

from spacy_lal.annotations import bare_doc, get_clauses, get_triples, install_extensions

VIEWS = Path(__file__).parents[1] / "tests" / "fixtures" / "views" / "ewt_dev.json"


def f_score(gold: set, found: set) -> str:
    both = len(gold & found)
    p, r = both / max(len(found), 1), both / max(len(gold), 1)
    return f"P {p:.1%} R {r:.1%} F {2 * both / max(len(gold) + len(found), 1):.1%}"


def of_pass(read: dict, name: str) -> dict:
    return read["agreed"] | read.get(name, {})


def flat(views: dict) -> tuple[dict, set]:
    """Return {(sentence, verb): (voice, subject, kind)} and {(sentence, triple)}."""
    clause = {(k, v): rest for k, some in views.items() for v, *rest in some["clauses"]}
    triple = {(k, *t) for k, some in views.items() for t in some["triples"]}
    return clause, triple


def head(token: Token) -> int:
    """Return the word by which the annotation names a clause as a subject: its verb."""
    copulas = [child.i for child in token.children if child.dep_ == "cop"]
    return copulas[-1] if copulas and token.dep_.startswith("csubj") else token.i


def found_in(docs: Iterable[tuple[str, Doc]]) -> dict:
    views = {}
    for number, doc in docs:
        views[number] = {
            "clauses": [
                [c.verb.i, c.voice, None if c.subject is None else head(c.subject.root), c.kind]
                for c in get_clauses(doc)
                if c.finite
            ],
            "triples": [
                [None if t.subject is None else head(t.subject.root), t.verb.i, t.object.root.i]
                for t in get_triples(doc)
            ],
        }
    return views


def found_by_textacy(docs: Iterable[tuple[str, Doc]]) -> dict:
    """Return the triples of textacy, one for each head word of a subject and of an object."""
    from textacy.extract import subject_verb_object_triples

    def heads(tokens: list[Token]) -> list[int]:
        return [t.i for t in tokens if t.dep_ == "conj" or t.head is t or t.head not in tokens]

    views = {}
    for number, doc in docs:
        triples = [
            [subject, found.verb[-1].i, object_]
            for found in subject_verb_object_triples(doc)
            for subject in heads(found.subject)
            for object_ in heads(found.object)
        ]
        views[number] = {"clauses": [], "triples": triples}
    return views


def compare(gold: dict, found: dict) -> None:
    (gold_clauses, gold_triples), (clauses_, triples_) = flat(gold), flat(found)
    print("finite clauses ", f_score(set(gold_clauses), set(clauses_)), f"({len(gold_clauses)})")
    both = sorted(gold_clauses.keys() & clauses_.keys())
    for i, name in enumerate(("voice", "subject", "kind")) if both else ():
        right = sum(gold_clauses[place][i] == clauses_[place][i] for place in both)
        print(
            f"{name:<15} {right / len(gold_clauses):.1%} of all, "
            f"{right / len(both):.1%} of those found"
        )
    print("triples        ", f_score(gold_triples, triples_), f"({len(gold_triples)})")
    plain = ({t[0:1] + t[2:] for t in some} for some in (gold_triples, triples_))
    print("verb and object", f_score(*plain))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--pipeline")
    parser.add_argument("--textacy", action="store_true")
    parser.add_argument("--errors", action="store_true", help="print what differs, with words")
    options = parser.parse_args()
    install_extensions()
    read = json.loads(VIEWS.read_text("utf8"))
    print("first pass against second pass")
    compare(of_pass(read, "first"), of_pass(read, "second"))
    other = read["reader"]
    print(f"\nannotation against a second reader, {len(other)} sentences")
    compare({number: read["agreed"][number] for number in other}, other)
    nlp = spacy.load(options.pipeline) if options.pipeline else spacy.blank("en")
    docs = list(DocBin().from_disk(options.data).get_docs(nlp.vocab))
    chosen = [docs[int(number)] for number in read["agreed"]]
    if options.pipeline:
        bare = [bare_doc(doc, one_sentence=True) for doc in chosen]
        chosen = list(nlp.pipe(bare))
    find = found_by_textacy if options.textacy else found_in
    found = find(zip(read["agreed"], chosen, strict=True))
    print(f"\nannotation against {options.pipeline or options.data.name}")
    compare(read["agreed"], found)
    for number, doc in zip(read["agreed"], chosen, strict=True):
        for layer in ("clauses", "triples") if options.errors else ():
            gold, own = (
                {tuple(entry) for entry in views[number][layer]}
                for views in (read["agreed"], found)
            )
            for sign, entries in (("-", gold - own), ("+", own - gold)):
                for entry in entries:
                    words = [doc[i].text if isinstance(i, int) else str(i) for i in entry]
                    print(f"{number} {sign} {layer[:-1]} {' '.join(words)} {entry}")


if __name__ == "__main__":
    main()
