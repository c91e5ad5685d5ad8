"""`lal_dependency` and spaCy's parser, from scratch for the same processor time, on any treebanks.

A treebank is LANG=FOLDER, a folder of train.spacy, dev.spacy and test.spacy (projects/ud). Every
treebank, system and seed is a run GROUP/FOLDER-SYSTEM-SEED in RESULTS (results.py); existing runs
are skipped. Words are gold, one sentence a Doc; all else is predicted.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import results
import spacy
import torch
import typer
from ablate import PACKAGES, Settings, with_settings
from measure import processor, versions
from spacy.cli.init_config import init_config
from spacy.language import Language
from spacy.schemas import ConfigSchemaTraining
from spacy.tokens import Doc
from spacy.training.initialize import init_nlp
from spacy.training.loop import create_train_batches
from spacy.util import load_config, registry
from thinc.api import Config
from wasabi import msg

from spacy_lal.evaluation.parse_scores import measure_parses
from spacy_lal.parsing.decoders import HEAD_DECODERS
from spacy_lal.parsing.dependency import LabelAttentionDependency
from spacy_lal.structure.arborescence import is_projective
from spacy_lal.training.corpus import Corpus

CONFIG = Path(__file__).parents[1] / "configs/ud.cfg"
ON_ENCODER = CONFIG.with_name("ud_md.cfg")
PARSER = "components.lal_dependency"
WARM_UP = 0.05
"""The share of the time in which the rate rises."""
CHECKS = 5
"""Number of scorings of the development set, the last at the end; the best weights are kept."""
CHECK_SENTENCES = 300
SCORES = ("conll18_uas", "conll18_las", "dep_uas", "dep_las", "tag_acc")
COUNTS = (
    "sentences",
    "words",
    "nonprojective_gold",
    "nonprojective_predicted",
    "words_per_cpu_second",
)


class System(NamedTuple):
    """A config, its highest learning rate, and other settings."""

    config: Callable[[], Config]
    rate: float
    settings: dict[str, Any] = {}  # noqa: RUF012


def ours() -> Config:
    return load_config(CONFIG)


def on_encoder() -> Config:
    return load_config(ON_ENCODER)


def spacys() -> Config:
    """Return spaCy's config for a tagger and a parser on a CPU, as of `spacy init config`."""
    return Config(init_config(lang="xx", pipeline=["tagger", "parser"])).copy()


SYSTEMS = {
    "lal": System(ours, rate=0.003),
    "lal-without": System(ours, rate=0.003, settings={f"{PARSER}.model.encoder.heads": 0}),
    # the folder of the encoder is an option
    "lal-md": System(on_encoder, 0.0015, {"nlp.pipeline": ["tok2vec", "lal_dependency"]}),
    "spacy": System(spacys, rate=0.001),
}


def configured(system: System, lang: str, folder: Path, seed: int) -> Config:
    """Return the system's config for one treebank."""
    places = {f"paths.{part}": str(folder / f"{part}.spacy") for part in ("train", "dev")}
    settings: Settings = places | {
        "nlp.lang": lang,
        # no word segmentation, as words are gold
        "nlp.tokenizer": {"@tokenizers": "spacy.Tokenizer.v1"},
        "system.seed": seed,
        "training.seed": seed,
        "training.optimizer.learn_rate": system.rate,
        **system.settings,
    }
    for part in ("train", "dev"):
        path = places[f"paths.{part}"]
        settings[f"corpora.{part}"] = {"@readers": "spacy-lal.Corpus.v1", "path": path}
    return with_settings(system.config(), settings, new=True).interpolate()


class Trained(NamedTuple):
    """A pipeline with its best weights, and its training."""

    nlp: Language
    about: dict[str, Any]
    curve: list[dict[str, Any]]


def train(config: Config, seconds: float) -> Trained:
    """Train for so many seconds of processor time, without initialisation and scoring. The learning
    rate rises from 0 and falls to 0 with the time."""
    nlp = init_nlp(config)
    config = nlp.config.interpolate()
    settings = registry.resolve(config["training"], schema=ConfigSchemaTraining)
    optimizer, rate = settings["optimizer"], settings["optimizer"].learn_rate
    dev = list(Corpus(config["corpora"]["dev"]["path"])(nlp))
    dev = dev[:: max(1, len(dev) // CHECK_SENTENCES)]
    corpus = Corpus(config["corpora"]["train"]["path"])
    batches = create_train_batches(nlp, corpus, settings["batcher"], 0)
    coming = next(batches)  # reads the data before the clock runs
    curve: list[dict[str, Any]] = []
    best = b""
    spent, steps, words, epoch = 0.0, 0, 0, 0
    while spent < seconds:
        begin = time.process_time()
        epoch, batch = coming
        done = spent / seconds
        optimizer.learn_rate = rate * min(done / WARM_UP, 1 - done)
        nlp.update(batch, drop=settings["dropout"], sgd=optimizer)
        optimizer.step_schedules()
        coming = next(batches)
        spent += time.process_time() - begin
        steps += 1
        words += sum(len(example) for example in batch)
        if spent < seconds * (len(curve) + 1) / CHECKS:
            continue
        with nlp.use_params(optimizer.averages or {}):
            found = nlp.evaluate(dev)
            point = {key: round(found[key], 5) for key in ("dep_las", "tag_acc")}
            curve.append({"step": steps, "seconds": round(spent, 1), **point})
            if point["dep_las"] == max(p["dep_las"] for p in curve):
                best = nlp.to_bytes(exclude=["vocab", "tokenizer"])
        msg.text(f"  {curve[-1]}")
    nlp.from_bytes(best, exclude=["vocab", "tokenizer"])
    about = {"steps": steps, "epochs": epoch, "training_words": words, "cpu_seconds": spent}
    return Trained(nlp, about | {"words_per_cpu_second": round(words / spent)}, curve)


def scored(nlp: Language, test: Path) -> list[dict[str, Any]]:
    """Return scores on the test set, with each decoder for this package's parser."""
    pipes = [pipe for _, pipe in nlp.pipeline if isinstance(pipe, LabelAttentionDependency)]
    found = []
    for decoder in (*HEAD_DECODERS,) if pipes else ("transitions",):
        for pipe in pipes:
            pipe.decoder = decoder
        scores = measure_parses(nlp, list(Corpus(test)(nlp)))
        kept = {key: round(scores[key], 5) for key in SCORES}
        found.append({"decoder": decoder, **kept, **{key: scores[key] for key in COUNTS}})
    return found


def heads_of(doc: Doc) -> list[int]:
    """Return every word's head, 0 for the root and k for word k."""
    return [0 if token.head == token else token.head.i + 1 for token in doc]


def about_data(lang: str, folder: Path) -> dict[str, Any]:
    """Return sentences and words of each part, and how many trees have crossing arcs."""
    found: dict[str, Any] = {}
    nlp = spacy.blank("xx")
    for part in ("train", "dev", "test"):
        docs = list(Corpus(folder / f"{part}.spacy").docs(nlp))
        crossing = [not is_projective(heads_of(doc)) for doc in docs if doc.has_annotation("DEP")]
        words = sum(len(doc) for doc in docs)
        found[part] = {"sentences": len(docs), "words": words, "nonprojective": sum(crossing)}
    return {"treebank": folder.name, "lang": lang, "data": found}


def run(
    name: str, lang: str, folder: Path, seed: int, minutes: float, encoder: Path | None
) -> dict[str, Any]:
    """Train one system on one treebank, and score it."""
    about = about_data(lang, folder) | {"system": name}
    system = SYSTEMS[name]
    config = configured(system, lang, folder, seed)
    if system.config is on_encoder:
        config = with_settings(config, {"components.tok2vec.model.path": str(encoder)})
    trained = train(config, 60 * minutes)
    return about | {
        "seed": seed,
        "minutes": minutes,
        "rate": system.rate,
        **trained.about,
        "processor": processor(),
        "versions": versions(*PACKAGES),
        "curve": trained.curve,
        "results": scored(trained.nlp, folder / "test.spacy"),
    }


def main(
    table: Annotated[Path, typer.Argument(metavar="RESULTS", help="Table of results, .jsonl.")],
    treebanks: Annotated[list[str], typer.Argument(help="LANG=FOLDER, each.")],
    minutes: Annotated[float, typer.Option(help="Processor time of a training.")] = 5.0,
    systems: Annotated[
        str, typer.Option(help=f"Of {', '.join(SYSTEMS)}, commas between.")
    ] = "lal,spacy",
    seeds: Annotated[str, typer.Option(help="Seeds, commas between.")] = "1",
    group: Annotated[str, typer.Option(help="Of the runs.")] = "ud",
    encoder: Annotated[
        Path | None, typer.Option(help="lal-md: folder of `lal import-encoder`.", exists=True)
    ] = None,
) -> None:
    """Train and score every run that has no result yet; print the scores."""
    torch.set_num_threads(1)
    if "lal-md" in systems.split(",") and encoder is None:
        typer.echo("ud: lal-md needs --encoder", err=True)
        raise typer.Exit(1)
    there = results.read(table)
    for treebank, seed, name in product(treebanks, seeds.split(","), systems.split(",")):
        lang, _, path = treebank.partition("=")
        of = f"{group}/{Path(path).name}-{name}-{seed}"
        if of in there:
            if there[of].get("minutes", minutes) != minutes:
                typer.echo(f"ud: {of} had {there[of]['minutes']} minutes", err=True)
                raise typer.Exit(1)
            msg.info(f"{of} is there")
            continue
        msg.info(of)
        found = run(name, lang, Path(path), int(seed), minutes, encoder)
        results.add(of, found, table)
        for row in found["results"]:
            scores = "  ".join(f"{key} {100 * row[key]:.2f}" for key in SCORES)
            msg.good(f"{row['decoder']}  {scores}")


if __name__ == "__main__":
    typer.run(main)
