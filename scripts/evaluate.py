"""Score a pipeline on a treebank with EVALB and attachment scores, and time it.

The pipeline reads the gold words, one sentence a Doc, and predicts everything else. The scored
trees' terminals carry the gold tags, so that EVALB skips no sentence over a mistagged comma;
tag accuracy is reported apart. If the pipeline finds heads, they are scored in three conventions
(`spacy_lal/scorers/attachment.py`): dep_*, spaCy's, without words of the relation punct; ptb_*,
without words with a tag of punctuation; conll18_*, all words, relations up to ":".
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Any

import spacy
import srsly
import torch
import typer
from spacy.language import Language
from spacy.training import Example
from wasabi import msg

from spacy_lal.scorers.attachment import score_attachment
from spacy_lal.scorers.constituency import score_constituency
from spacy_lal.training.corpus import Corpus

ATTACHMENT = ("dep_uas", "dep_las", "ptb_uas", "ptb_las", "conll18_uas", "conll18_las")


def measure(
    nlp: Language, examples: list[Example], prm: str = "nk", batch_size: int | None = None
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Scores of the pipeline, and how much it read and how fast."""
    nlp("One sentence to warm up .")
    cpu, wall = time.process_time(), time.perf_counter()
    docs = nlp.pipe((example.predicted for example in examples), batch_size=batch_size)
    pairs = [Example(doc, example.reference) for doc, example in zip(docs, examples, strict=True)]
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    scores = score_constituency(pairs, prm=prm)
    crossing = {}
    if any(pair.predicted.has_annotation("DEP") for pair in pairs):
        attachment = score_attachment(pairs)
        scores |= {key: attachment[key] for key in ATTACHMENT}
        crossing = {
            "nonprojective_gold": attachment["dep_nonproj"],
            "nonprojective_predicted": attachment["dep_nonproj_pred"],
        }
    words = sum(len(pair.reference) for pair in pairs)
    return scores, {
        "sentences": len(pairs),
        "words": words,
        **crossing,
        "words_per_cpu_second": round(words / cpu, 1),
        "words_per_second": round(words / wall, 1),
    }


def main(
    model: Annotated[str, typer.Argument(help="A pipeline's name or folder.")],
    corpus: Annotated[Path, typer.Argument(help="A .spacy file with trees.", exists=True)],
    prm: Annotated[str, typer.Option(help="EVALB parameters: a name or a .prm file.")] = "nk",
    output: Annotated[Path | None, typer.Option(help="Write the numbers here, as JSON.")] = None,
    gpu_id: Annotated[int, typer.Option(help="GPU, or -1 for the CPU.")] = -1,
    threads: Annotated[int, typer.Option(help="Threads of torch, 0 for its own choice.")] = 0,
    batch_size: Annotated[int, typer.Option(help="Docs a batch, 0 for the pipeline's.")] = 0,
) -> None:
    """EVALB, attachment scores, tag accuracy and speed of MODEL on CORPUS."""
    if gpu_id >= 0:
        spacy.require_gpu(gpu_id)
    if threads:
        torch.set_num_threads(threads)
    nlp = spacy.load(model)
    examples = list(Corpus(corpus)(nlp))
    if not examples:
        msg.fail(f"no sentences in {corpus}", exits=1)
    scores, counts = measure(nlp, examples, prm, batch_size or None)
    result: dict[str, Any] = {
        "model": f"{nlp.meta['lang']}_{nlp.meta['name']} {nlp.meta['version']}",
        "corpus": str(corpus),
        "sentences": counts.pop("sentences"),
        "words": counts.pop("words"),
        "evalb_parameters": prm,
        **scores,
        **counts,
        "threads": torch.get_num_threads(),
        "device": "cpu" if gpu_id < 0 else torch.cuda.get_device_name(gpu_id),
    }
    rows = [
        (key, f"{100 * value:.2f}" if key in scores else value)
        for key, value in result.items()
        if value is not None and not isinstance(value, dict)
    ]
    msg.table(rows)
    if output is not None:
        output.parent.mkdir(parents=True, exist_ok=True)
        srsly.write_json(output, result)


if __name__ == "__main__":
    app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    app.command()(main)
    app()
