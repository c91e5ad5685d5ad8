"""Average attention of a detector's heads to encoder layers (Kaneko and Komachi 2019, figure 2)."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import numpy
import spacy
import srsly
import typer
from spacy.util import minibatch

from spacy_lal.annotations.grammar_errors import CORRECT, get_errors
from spacy_lal.drawing.charts import layer_attention_svg
from spacy_lal.evaluation.detection_scores import detector_of
from spacy_lal.ged.network import layer_attention
from spacy_lal.pipeline.pipes import pipes_before, run_pipes
from spacy_lal.training.corpus import Corpus


def main(
    model: Annotated[str, typer.Argument(help="A pipeline with `gec_detector`: name or folder.")],
    corpus: Annotated[Path, typer.Argument(help="A .spacy file with errors.", exists=True)],
    output: Annotated[Path, typer.Argument(help="The .svg file to write; numbers go beside it.")],
) -> None:
    """Average the attention over all words of CORPUS, over errors, and over other words."""
    nlp = spacy.load(model)
    try:
        pipe = detector_of(nlp)
    except ValueError as error:
        typer.echo(f"layer_attention: {error}", err=True)
        raise typer.Exit(1) from None
    earlier = pipes_before(nlp, pipe)
    alphas, wrong = [], []
    for examples in minibatch(Corpus(corpus)(nlp), 64):
        docs = list(run_pipes(earlier, [example.predicted for example in examples]))
        words = numpy.asarray([not token.is_space for doc in docs for token in doc])
        alphas.append(layer_attention(pipe.model, docs)[:, words])
        for example in examples:
            labels = get_errors(example.reference, pipe.spans_key)
            pairs = zip(example.reference, labels, strict=True)
            wrong += [label != CORRECT for token, label in pairs if not token.is_space]
    alpha, errors = numpy.concatenate(alphas, axis=1), numpy.asarray(wrong)
    parts = {"all": alpha, "errors": alpha[:, errors], "correct": alpha[:, ~errors]}
    means = {name: part.mean(1) for name, part in parts.items() if part.shape[1]}
    output.parent.mkdir(parents=True, exist_ok=True)
    names = [f"layer {k}" for k in range(1, len(alpha) + 1)]
    attrs = pipe.model.get_ref("layers").attrs
    if attrs.get("embeddings") or attrs.get("settings", {}).get("embeddings"):
        names = ["embeddings", *names[:-1]]
    output.write_text(layer_attention_svg(means["all"], names=names), encoding="utf8")
    numbers = {name: numpy.round(mean.astype(float), 4).tolist() for name, mean in means.items()}
    srsly.write_json(output.with_suffix(".json"), numbers)
    for name, mean in means.items():
        typer.echo(f"{name}: {' '.join(f'{weight:.3f}' for weight in mean.mean(1))}")


if __name__ == "__main__":
    typer.run(main)
