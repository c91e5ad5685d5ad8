"""How many sentences with two objects, "She lent my sister some money", get both roles.

    python benchmarks/double_objects.py MODEL... [--wrong] [--json FILE]

double_objects.txt has the sentences, which are nobody's training data. A sentence counts if the
verb's frame has both objects as arguments of their own, what is given as ARG1, and who gets it as
another role.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, NamedTuple

import typer
from spacy.tokens import Doc
from tables import markdown

from spacy_lal.frames import get_frames
from spacy_lal.pipeline.loading import load_pipeline

SENTENCES = Path(__file__).with_suffix(".txt")
RECIPIENTS = ("ARG2", "ARG3", "ARG4", "ARGM-GOL")


class Sentence(NamedTuple):
    """Texts of its verb, of who gets something and of what it is; known: the verb was trained."""

    verb: str
    recipient: str
    thing: str
    text: str
    known: bool


def read() -> list[Sentence]:
    """The sentences of double_objects.txt."""
    known, sentences = True, []
    for line in SENTENCES.read_text(encoding="utf8").splitlines():
        known = known and bool(line)
        if line and not line.startswith("#"):
            sentences.append(Sentence(*line.split(" | "), known=known))
    return sentences


def right(doc: Doc, sentence: Sentence) -> bool:
    """Whether both objects are what they should be."""
    for frame in get_frames(doc):
        if frame.predicate.text == sentence.verb:
            roles = {span.text: span.label_ for span in frame.arguments}
            return (
                roles.get(sentence.thing) == "ARG1" and roles.get(sentence.recipient) in RECIPIENTS
            )
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
        found[model] = {
            name: sum(hit for hit, s in zip(hits, sentences, strict=True) if s.known == known)
            / sum(s.known == known for s in sentences)
            for name, known in (("verbs of the script", True), ("other verbs", False))
        }
        rows.append([model, *(f"{100 * share:.0f} %" for share in found[model].values())])
        for doc, hit in zip(docs, hits, strict=True):
            if wrong and not hit:
                print(*get_frames(doc), sep="\n")
    print(markdown(["pipeline", "verbs of the script", "other verbs"], rows))
    if output is not None:
        output.write_text(json.dumps(found) + "\n", encoding="utf8")


if __name__ == "__main__":
    typer.run(main)
