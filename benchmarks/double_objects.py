"""Share of sentences with two objects, "She lent my sister some money", with both roles right.

    python benchmarks/double_objects.py MODEL... [--wrong] [--json FILE]

double_objects.txt has the sentences, which are in no training data, and similar ones: "He saw the
man last week", "She called her boss a liar". In a right sentence the verb's frame has both phrases
as separate arguments: the theme as ARG1 and the recipient as another role; without two objects the
first as ARG1, and the second as ARGM-TMP or ARG2.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, NamedTuple

import typer
from spacy.tokens import Doc
from tables import markdown

from spacy_lal.annotations.frames import get_frames
from spacy_lal.pipeline.pipes import load_pipeline

SENTENCES = Path(__file__).with_suffix(".txt")
OBJECTS = {"ARG2", "ARG3", "ARG4", "ARGM-GOL"}, {"ARG1"}
KINDS = {
    "verbs of the script": OBJECTS,
    "other verbs": OBJECTS,
    "a time": ({"ARG1"}, {"ARGM-TMP"}),
    "what one is called": ({"ARG1"}, {"ARG2"}),
}
"""Labels of the first and the second phrase by kind of sentence, in the file's order."""


class Sentence(NamedTuple):
    """A sentence's verb and the two phrases behind it, as texts."""

    verb: str
    first: str
    second: str
    text: str
    kind: str


def read() -> list[Sentence]:
    """Return the sentences of double_objects.txt."""
    kinds = SENTENCES.read_text(encoding="utf8").split("\n\n")
    return [
        Sentence(*line.split(" | "), kind=kind)
        for kind, lines in zip(KINDS, kinds, strict=True)
        for line in lines.splitlines()
        if not line.startswith("#")
    ]


def right(doc: Doc, sentence: Sentence) -> bool:
    """Return whether both phrases have the right labels."""
    for frame in get_frames(doc):
        if frame.predicate.text == sentence.verb:
            roles = {span.text: span.label_ for span in frame.arguments}
            first, second = KINDS[sentence.kind]
            return roles.get(sentence.first) in first and roles.get(sentence.second) in second
    return False


def main(
    models: Annotated[list[str], typer.Argument(help="Names or folders of pipelines.")],
    wrong: Annotated[bool, typer.Option(help="Print the frames of the others.")] = False,
    output: Annotated[Path | None, typer.Option("--json")] = None,
) -> None:
    """Print the share of sentences that each pipeline gets right."""
    sentences = read()
    rows, found = [], {}
    for model in models:
        docs = list(load_pipeline(model).pipe(sentence.text for sentence in sentences))
        hits = [right(doc, sentence) for doc, sentence in zip(docs, sentences, strict=True)]
        of_kind = {
            kind: [hit for hit, s in zip(hits, sentences, strict=True) if s.kind == kind]
            for kind in KINDS
        }
        found[model] = {kind: sum(hits) / len(hits) for kind, hits in of_kind.items()}
        rows.append([model, *(f"{100 * share:.0f} %" for share in found[model].values())])
        for doc, hit in zip(docs, hits, strict=True):
            if wrong and not hit:
                print(*get_frames(doc), sep="\n")
    print(markdown(["pipeline", *KINDS], rows))
    if output is not None:
        output.write_text(json.dumps(found) + "\n", encoding="utf8")


if __name__ == "__main__":
    typer.run(main)
