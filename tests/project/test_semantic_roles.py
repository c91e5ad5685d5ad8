"""Workflows of `lisa_srl`."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
import spacy
import srsly
import torch
import typer.main
from spacy.cli._util import app as spacy_cli
from spacy.tokens import Doc
from spacy.training import Example

from spacy_lal.annotations import get_frames
from tests.pipeline.contract import copy_of

from .running import FEW_STEPS, ROOT, load_benchmark, read_docs, scores_of, weight_types
from .sizes import LISA, OF_LAYERS, OF_ROWS, settings
from .toy_treebanks import toy_ewt, write_parser, write_vectors


def scored(path: Path) -> list[tuple[str, str]]:
    """The parses and predicates of each result in a file of metrics."""
    return [(row["parses"], row["predicates"]) for row in scores_of(path)["roles"]]


EVERY_WAY = [(parses, given) for parses in ("model", "gold") for given in ("model", "gold")]


def test_train_srl(project: Path, tmp_path: Path, run_here: Callable[..., str]) -> None:
    run_here(
        "train-srl",
        "projects/ewt",
        **toy_ewt(tmp_path),
        warm_start="null",
        train_options=f"{FEW_STEPS} {LISA} {OF_ROWS}",
    )
    cat = read_docs(project / "projects/ewt/corpus/dev.spacy")[0]
    assert shown_frames(cat) == ["slept.01: ARG0 The cat, V slept, ARG1 in the kitchen"]
    assert scored(project / "projects/ewt/metrics/srl.json") == EVERY_WAY
    assert scores_of(project / "projects/ewt/metrics/srl.json")["sentences"] == 10


@pytest.mark.slow
def test_make_en_lal_sm(project: Path, tmp_path: Path, run_here: Callable[..., str]) -> None:
    """A joint parser and a LISA that were trained apart, in one package."""
    copy_of("joint").to_disk(tmp_path / "parser")
    small = f"{FEW_STEPS} {LISA} {OF_ROWS}"
    variables = toy_ewt(tmp_path) | {"warm_start": "null", "train_options": small}
    run_here("train-srl", "projects/ewt", **variables)
    roles = "projects/ewt/training/srl/model-best"
    starts = spacy.blank("en")
    starts.add_pipe("senter")
    one = Doc(starts.vocab, ["Go", "!", "No", "."], sent_starts=[1, 0, 1, 0])
    starts.initialize(lambda: [Example(one.copy(), one)])
    starts.to_disk(tmp_path / "starts")
    made_of = {"parser": tmp_path / "parser", "sentences": tmp_path / "starts", "roles": roles}
    run_here("make-en-lal-sm", **{name: str(path) for name, path in made_of.items()})
    path = project / "packages/en_lal_sm"
    meta = srsly.read_json(path / "meta.json")
    assert meta["pipeline"] == ["senter", "lal_constituency", "lisa_srl"]
    assert {"srl_f", "srl_pred_f", "const_evalb_f", "dep_las"} <= set(meta["performance"])
    # matrices in 8 bits with scales of 32, the rest in 16
    assert weight_types(path) == {torch.float16, torch.int8, torch.float32}
    nlp = spacy.load(next((path / "en_lal_sm").glob("en_lal_sm-*")))
    assert 0 in nlp.vocab.vectors.shape
    doc = nlp("The cat sat on the mat.")
    assert {"constituents", "srl"} <= set(doc.spans)
    assert doc.has_annotation("DEP")
    # roles by LISA's own heads, whatever the pipeline says that it was taken from
    sources = [
        pipeline.config["components"]["lisa_srl"]["parse_source"]
        for pipeline in (nlp, spacy.load(project / roles))
    ]
    assert sources == [nlp.get_pipe("lisa_srl").parse_source, "model"] == ["model", "model"]
    assert nlp.get_pipe("lisa_srl").overwrite_parser == 3.0
    assert nlp.get_pipe("lisa_srl").nonconstituent_penalty == 2.0
    assert nlp.get_pipe("lal_constituency").decoder.arc_weight == 0.5
    first, *_ = scores_of(project / "metrics/en-lal-sm.json")["roles"]
    assert (first["parses"], first["predicates"]) == ("model", "model")
    assert meta["performance"]["srl_f"] == pytest.approx(first["srl_f"])


@pytest.mark.slow
def test_compare_srl(project: Path, tmp_path: Path, run_here: Callable[..., str]) -> None:
    write_parser(tmp_path / "parser")
    variables = toy_ewt(tmp_path) | {
        "seeds": "1",
        "srl_parser": str(tmp_path / "parser"),
        "options": f"{FEW_STEPS} {LISA} {OF_ROWS}",
    }
    run_here("compare-srl", "projects/ewt", **variables)
    table = project / "docs/training/results.jsonl"
    text = f"\n{load_benchmark('tables').roles(table)}"
    (header,) = re.findall(r"\n(\| model \| seeds .*)", text)
    assert re.findall(r"F1 \((\w+)\)", header) == ["valid", "probabilities", "viterbi", "greedy"]
    models = ["LISA, its own parses", f"LISA, parses of {tmp_path / 'parser'}", "LISA, gold parses"]
    rows = re.findall(r"\n\| ([^|]+) \| 1 \|", text)
    assert sorted(rows) == sorted(["SA (no syntax)", *models])
    results = load_benchmark("results").read(table, "srl/")
    assert {name: {"uas" in r for r in of["results"]} for name, of in results.items()} == {
        "sa-1": {False},
        "lisa-1": {True},
    }


CONLL = {
    "conll05": (
        [
            ('" Trains wait , " the guard said .', "said", [7, 2, 7, 7, 7, 6, 7, 7, 7]),
            ("The mayor will open a bridge in June .", "open", [1, 3, 3, 3, 5, 3, 7, 3, 3]),
        ],
        [
            "wait: A1 Trains, V wait",
            "say: A1 Trains wait, A0 the guard, V said",
            "open: A0 The mayor, AM-MOD will, V open, A1 a bridge, AM-TMP in June",
        ],
    ),
    "conll12": (
        [
            ("Ten workers built the wagon .", "built", [1, 2, 2, 4, 2, 2]),
            ("Anna hopes that the plant will grow .", "hopes", [1, 1, 6, 4, 6, 6, 1, 1]),
        ],
        [
            "build.01: ARG0 Ten workers, V built, ARG1 the wagon",
            "hope.01: ARG0 Anna, V hopes, ARG1 that the plant will grow",
            "grow.01: ARG1 the plant, ARGM-MOD will, V grow",
        ],
    ),
}


@pytest.mark.parametrize("name", CONLL)
def test_train_conll(
    project: Path, tmp_path: Path, run_here: Callable[..., str], name: str
) -> None:
    """Words, trees and roles, and heads by rules in the trees; lexical ones, as in UD."""
    write_vectors(tmp_path / "vectors", "en")
    run_here(
        name,
        "projects/conll",
        **{name: f"../../assets/toy/{name}"},
        vectors=str(tmp_path / "vectors"),
        train_options=f"{FEW_STEPS} {LISA} {OF_LAYERS}",
    )
    sentences, frames = CONLL[name]
    corpus = project / "projects/conll/corpus" / name[-2:]
    docs = read_docs(corpus / "test.spacy")
    assert [frame for doc in docs for frame in shown_frames(doc)] == frames
    for doc, (words, root, heads) in zip(docs, sentences, strict=True):
        assert doc.text.strip() == words
        assert [token.head.i for token in doc] == heads
        assert next(doc.sents).root.text == root
    for split, count in (("train", 6), ("dev", 2)):
        assert len(read_docs(corpus / f"{split}.spacy")) == count
    metrics = project / f"projects/conll/metrics/{name[-2:]}.json"
    assert scored(metrics) == EVERY_WAY
    others = ("05-dev", "05-brown") if name == "conll05" else ("12-dev",)
    for other in others:
        assert scored(project / f"projects/conll/metrics/{other}.json") == EVERY_WAY
    # as the config says, not what the script would choose
    scores = scores_of(metrics)
    assert {row["decoder"] for row in scores["roles"]} == {"probabilities"}
    assert scores["unique_core_roles"] is False


def test_conll_with_given_predicates_and_parses(
    project: Path, tmp_path: Path, run_here: Callable[..., str]
) -> None:
    """Stanford's heads and relations, a parser trained on them, LISA with an indicator."""
    write_vectors(tmp_path / "vectors", "en")
    toy = ROOT / "assets/toy/conll05"
    files = {}
    for part, folder in (("train", "train"), ("dev", "devel"), ("test", "test.wsj")):
        texts = (path.read_text() for path in sorted((toy / folder / "words").iterdir()))
        blocks = [of.split("\n") for text in texts for of in text.strip().split("\n\n")]
        files[f"{part}_conllx"] = tmp_path / f"{part}.conllx"
        rows = (
            [f"{i}\t{word}\t_\tX\tX\t_\t{i - 1}\tdobj\t_\t_" for i, word in enumerate(of, 1)]
            for of in blocks
        )
        text = "".join("\n".join(row) + "\n\n" for row in rows)
        files[f"{part}_conllx"].write_text(text)
    options = {name: str(path) for name, path in files.items()}
    options |= {"conll05": "../../assets/toy/conll05", "vectors": str(tmp_path / "vectors")}
    run_here("convert05", "projects/conll", **options)
    doc, *_ = read_docs(project / "projects/conll/corpus/05/test.spacy")
    assert [token.dep_ for token in doc] == ["ROOT", *["dobj"] * (len(doc) - 1)]
    parser = settings(
        "lal_dependency",
        tok2vec__width=8,
        tok2vec__embed__word_width=8,
        tok2vec__embed__affix_width=4,
        input_encoder__hidden_width=16,
        input_encoder__tag_width=8,
        dependencies__arc_width=16,
        dependencies__relation_width=8,
    )
    run_here("parser05", "projects/conll", **options, train_options=f"{FEW_STEPS} {parser}")
    given = {"model.indicator_width": 4, "predicate_source": "doc"}
    indicator = " ".join(f"--components.lisa_srl.{name} {of}" for name, of in given.items())
    options |= {"parses": "model,gold,training/parser05/model-best"}
    small = f"{FEW_STEPS} {LISA} {OF_LAYERS} {indicator}"
    run_here("train05", "projects/conll", **options, train_options=small)
    run_here("evaluate05", "projects/conll", **options)
    rows = scored(project / "projects/conll/metrics/05.json")
    assert rows == [(source, "gold") for source in options["parses"].split(",")]


def test_conll_on_an_encoder(project: Path, tmp_path: Path, run_here: Callable[..., str]) -> None:
    pytest.importorskip("transformers")
    from ..tiny_transformers import write_bert

    write_bert(tmp_path, ["The", "mayor", "will", "open", "a", "bridge"])
    conll = {"conll05": "../../assets/toy/conll05", "encoder": str(tmp_path)}
    conll |= {"parses": "model", "predicates": "gold"}
    run_here("convert05", "projects/conll", **conll)
    small = settings("lisa_srl", heads=2, head_width=8, feed_forward_width=16, tok2vec__layers=1)
    options = f"{FEW_STEPS} {small} {OF_LAYERS}"
    run_here("encoder05", "projects/conll", **conll, train_options=options)
    path = project / "projects/conll/metrics/05-encoder.json"
    assert scored(path) == [("model", "gold")]
    assert len(srsly.read_json(path)["results"]) == 2


def shown_frames(doc: Doc) -> list[str]:
    return [
        f"{frame.roleset}: {', '.join(f'{span.label_} {span.text}' for span in frame.spans)}"
        for frame in get_frames(doc)
    ]


def test_rules_find_no_heads_without_trees(tmp_path: Path) -> None:
    command = typer.main.get_command(spacy_cli)
    files = [str(ROOT / "assets/toy/conll05/devel"), str(tmp_path / "dev.spacy")]
    options = ["--heads", "collins", "--report", str(tmp_path / "report.json")]
    command(["lal", "convert", "conll05", *files, *options], standalone_mode=False)
    counts = srsly.read_json(tmp_path / "report.json")["dev.spacy"]
    assert counts["without heads"] == [["sentence 1", "no tree"], ["sentence 2", "no tree"]]
    docs = read_docs(tmp_path / "dev.spacy")
    assert not any(doc.has_annotation("DEP") for doc in docs)
