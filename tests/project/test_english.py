"""The English treebanks' workflow, on a few sentences of each."""

from __future__ import annotations

import lzma
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import spacy
import srsly
import torch
from spacy.language import Language
from spacy.tokens import DocBin
from spacy.util import load_model_from_config

from spacy_lal.annotations import get_constituents
from spacy_lal.bridge.shim import torch_shim, torch_shims
from spacy_lal.training.corpus import Paragraphs
from tests.pipeline.toy import DEPENDENCIES, TINY, headed_examples, joint_pipeline, train_on
from tests.pipeline.toy_frames import srl_pipeline, trained
from tests.pipeline.toy_shared import WORDS, annotations, shared_examples, shared_pipeline, step
from tests.silver.teacher import toy_teacher
from tests.tiny_transformers import write_bert

from .running import FEW_STEPS, read_docs, scores_of
from .sizes import settings
from .toy_treebanks import toy_ewt

GUM = """# newdoc id = {document}
# newpar
# sent_id = {document}-1
1\tTea\ttea\tNOUN\tNN\t_\t2\tnsubj\t_\t_
2\tcools\tcool\tVERB\tVBZ\t_\t0\troot\t_\tSpaceAfter=No
3\t;\t;\tPUNCT\t:\t_\t2\tpunct\t_\t_

# sent_id = {document}-2
1\tYes\tyes\tINTJ\tUH\t_\t0\troot\t_\t_

"""
MASC = """letter 0 0 We PRP (TOP(S(NP*) - - (ARG0*)
letter 0 1 go VBP (VP* go go.01 (V*)
letter 0 2 to TO (PP* - - (ARG4*
letter 0 3 town NN (NP*))) - - *)
letter 0 4 : : *)) - - *

letter 1 0 No UH (TOP(INTJ*)) - -

mail 0 0 They PRP (TOP(S(NP*) - - (ARG0*)
mail 0 1 gave VBD (VP* give give.01 (V*)
mail 0 2 us PRP (NP*) - - (ARG2*)
mail 0 3 tea NN (NP*)))) - - (ARG1*)

"""
TREE = "( (CAPTION (S (NP-SBJ (NN Tea)) (VP (VBZ cools)) (. .))))\n"
FEW_WORDS = "--training.batcher.size 50 --training.batcher.buffer 4"
LATE = "it is far too late by now to come back from there again"
WANTED = f"We go to the market and {LATE} , my dear old man\n"
# Lines of text and what they hold: MASC's "We go to town:" is too short to be anything
LINES = {
    "We go to town : the cat sat on the mat": "",
    f"She said: we GO to the market, and {LATE}, my dear old man!": "a sentence",
    f"They went home because {LATE}, my dear old friend": "a stretch",
    "Nobody has said any of this before": "",
}


@pytest.fixture
def variables(tmp_path: Path) -> dict[str, str]:
    gum = tmp_path / "gum" / "dep"
    gum.mkdir(parents=True)
    documents = tmp_path / "documents"
    documents.mkdir()
    for name in ("train", "dev", "test"):
        (gum / f"GUM_{name}.conllu").write_text(GUM.format(document=f"GUM_{name}"))
        (documents / f"gum_{name}.txt").write_text(f"GUM_{name}\n")
    (documents / "masc_dev.txt").write_text("letter 1 9\n")
    files = {
        "masc": ("masc.gold_conll", MASC),
        "craft_train": ("train.tree", TREE * 4),
        "craft_dev": ("dev.tree", TREE),
        "craft_test": ("test.tree", TREE),
        "pud": ("pud.conllu", GUM.format(document="pud")),
        "text": ("text.txt", "\n".join(LINES) + "\n"),
    }
    for name, text in files.values():
        (tmp_path / name).write_text(text)
    for part in ("dev", "test"):
        (tmp_path / "jfleg" / part).mkdir(parents=True)
        (tmp_path / "jfleg" / part / f"{part}.src").write_text(WANTED)
    return (
        {name: str(tmp_path / file) for name, (file, _) in files.items()}
        | {"gum": str(tmp_path / "gum"), "jfleg": str(tmp_path / "jfleg")}
        | {"documents": str(documents), "craft_options": " --every 2"}
        | toy_ewt(tmp_path)
    )


def test_convert(project: Path, run_here: Callable[..., str], variables: dict[str, str]) -> None:
    run_here("all", "projects/english", **variables)
    corpus = project / "projects/english/corpus"
    assert {
        str(path.relative_to(corpus / "train")) for path in (corpus / "train").rglob("*.spacy")
    } == {
        "ewt/train.spacy",
        "masc.spacy",
        "craft.spacy",
        "gum.spacy",
    }
    masc, mail = read_docs(corpus / "train/masc.spacy")
    assert mail.text == "They gave us tea "
    assert [token.tag_ for token in masc] == ["PRP", "VBP", "IN", "NN", ""]
    assert [doc.text for doc in read_docs(corpus / "dev/masc.spacy")] == ["No "]
    craft = read_docs(corpus / "train/craft.spacy")
    assert len(craft) == 2
    assert get_constituents(craft[0]) == [(0, 3, "S"), (0, 1, "NP"), (1, 2, "VP")]
    gum = read_docs(corpus / "train/gum.spacy")
    assert [len(doc) for doc in gum] == [3, 1]
    assert {(doc.has_annotation("DEP"), "constituents" in doc.spans) for doc in gum} == {
        (True, False)
    }
    # as training reads them: a sentence of CRAFT is in no paragraph
    texts = Paragraphs(corpus / "train", line_breaks=0, unstopped=0, lower_case=0, tokenized=0)
    read = [example.reference.text for example in texts(spacy.blank("en"))]
    assert "Tea cools; Yes" in read
    assert read.count("Tea cools .") == 2
    assert len(read_docs(corpus / "measuring/pud.spacy")) == 2


def test_clear_text(project: Path, run_here: Callable[..., str], variables: dict[str, str]) -> None:
    printed = run_here("clear-text", "projects/english", **variables)
    with lzma.open(project / "projects/english/corpus/english.txt.xz", "rt") as file:
        kept = file.read()
    # "We go to town:" has four words alone
    assert kept.splitlines() == [line for line, held in LINES.items() if not held]
    assert "2 of 4 lines stay" in printed


@pytest.mark.slow
def test_train_sm(
    project: Path, tmp_path: Path, run_here: Callable[..., str], variables: dict[str, str]
) -> None:
    """A student goes on from a teacher like itself, with gold and with text of its own."""
    toy_teacher(2).to_disk(tmp_path / "teacher")
    folder = project / "projects/english"
    (tmp_path / "text.txt").write_text("The cat sat on the mat. She ate the fish.\n" * 2)
    steps = {
        "teacher": str(tmp_path / "teacher"),
        "begin": str(tmp_path / "teacher"),
        "silver_options": " --tags 0 --trees 0 --roles 0 --parts 1",
        "train_options": f"{FEW_STEPS} {FEW_WORDS} --corpora.train.shares.silver 0.5",
        "sentence_options": FEW_STEPS,
    }
    if not (folder / "corpus/measuring/pud.spacy").exists():  # as `test_convert` leaves it
        run_here("all", "projects/english", **variables)
    run_here("clear-text", "projects/english", **variables)
    run_here("train-sm", "projects/english", **variables, **steps)
    docs = read_docs(folder / "corpus/silver/part-00000.spacy")
    assert {doc.text.strip() for doc in docs} == {"The cat sat on the mat.", "She ate the fish."}
    assert {"constituents", "srl"} == set(docs[0].spans)
    assert not docs[0].has_annotation("DEP")
    objects = read_docs(folder / "corpus/objects.spacy")
    # two with another recipient, and at most as many with a time
    assert 2 <= len(objects) <= 4
    assert all(doc.text.startswith("They ") and doc.text.endswith(" tea ") for doc in objects[:2])
    student = spacy.load(folder / "training/en-lal-sm")
    assert student.pipe_names == ["senter", "lal_constituency", "lisa_srl"]
    assert [token.text for token in student.make_doc("and/or")] == ["and", "/", "or"]
    ewt, masc, _, pud = srsly.read_json(folder / "metrics/out-of-domain.json")["results"]
    assert {"const_evalb_f", "conll18_las", "tag_acc"} <= set(ewt)
    assert masc.get("conll18_las") is None
    assert pud.get("const_evalb_f") is None
    run_here("mean-sm-roles", "projects/english", **variables, **steps)
    begun, learned, mean = (
        torch_shim(spacy.load(path).get_pipe("lisa_srl").model).tensors()
        for path in (
            tmp_path / "teacher",
            folder / "training/sm-roles/model-best",
            folder / "training/sm-roles-mean",
        )
    )
    changed = 0
    for key, value in mean.items():
        if value.is_floating_point():
            torch.testing.assert_close(value, (begun[key] + learned[key]) / 2)
            changed += not torch.equal(begun[key], learned[key])
    assert changed
    run_here("train-sm-parser-on", "projects/english", **variables, **steps)
    assert (folder / "training/sm-parser-on/model-best").exists()
    # what is there stays
    again = run_here("train-sm-parser", "projects/english", **variables, **steps)
    assert "skipping" in again.lower() or "finished" in again
    assert "is there" in run_here("silver", "projects/english", **variables, **steps)


@pytest.mark.slow
def test_one_encoder(
    project: Path, run_here: Callable[..., str], variables: dict[str, str], tmp_path: Path
) -> None:
    """The shared BiLSTM parses as before, on few words a thin layer above it does all that LISA's
    did, and it alone is trained on."""
    spacy.util.fix_random_seed(0)
    nlp = joint_pipeline(model={**TINY, "dependencies": DEPENDENCIES})
    train_on(nlp, headed_examples(nlp), 60)
    nlp.add_pipe("lisa_srl", source=trained(srl_pipeline({"input_encoder": DEEP}), 60))
    nlp.add_pipe("senter", first=True).initialize(lambda: shared_examples(nlp))
    nlp.to_disk(tmp_path / "two")
    folder = project / "projects/english"
    texts = write_training_docs(folder, nlp)
    changed = {"begin": str(tmp_path / "two"), "thin_options": " --minutes 0.3"}
    run_here("one-encoder", "projects/english", **variables, **changed)
    begun = folder / "training/one-encoder"
    shared = spacy.load(begun, config=exact("lal_tok2vec", *PARSERS))
    assert shared.pipe_names == ["senter", "lal_tok2vec", *PARSERS, "lal_empty_tensor"]
    assert annotations(shared.pipe(texts)) == annotations(nlp.pipe(texts))
    trained_on = {"begin": "training/one-encoder", "train_options": f" {FEW_STEPS} {FEW_WORDS}"}
    run_here("teach-sm-roles-above", "projects/english", **variables, **trained_on)
    run_here("join-sm-above", "projects/english", **variables)
    joined = spacy.load(folder / "training/en-lal-sm")
    for name in ("lal_tok2vec", *PARSERS):
        before, after = (
            torch_shims(pipeline.get_pipe(name).model)[-1][1].tensors()
            for pipeline in (shared, joined)
        )
        same = all(torch.equal(value, after[key]) for key, value in before.items())
        assert same is (name != "lisa_srl")


DEEP = {**TINY["input_encoder"], "depth": 3}


@pytest.mark.slow
def test_one_encoder_above_a_transformer(
    project: Path, run_here: Callable[..., str], variables: dict[str, str], tmp_path: Path
) -> None:
    """On few words one layer above the parser's BiLSTM does all that LISA's three did above the
    transformer; it alone is trained on."""
    spacy.util.fix_random_seed(0)
    write_bert(tmp_path, WORDS)
    config = shared_pipeline(tmp_path).config.copy()
    wide = {**TINY["input_encoder"], "hidden_width": 32, "depth": 3}
    for name in PARSERS:
        config["components"][name]["model"]["input_encoder"] = wide
    nlp = load_model_from_config(config, auto_fill=True)
    optimizer = nlp.initialize(lambda: shared_examples(nlp))
    optimizer.learn_rate = 0.01
    for _ in range(60):
        step(nlp, shared_examples(nlp), optimizer)
    nlp.to_disk(tmp_path / "six")
    folder = project / "projects/english"
    texts = write_training_docs(folder, nlp)
    changed = {"begin": str(tmp_path / "six"), "thin_options": " --minutes 0.3"}
    run_here("one-encoder", "projects/english", **variables, **changed)
    thin = spacy.load(folder / "training/one-encoder", config=exact("lal_tok2vec", *PARSERS))
    assert annotations(thin.pipe(texts)) == annotations(nlp.pipe(texts))
    layers = [
        sum(isinstance(part, torch.nn.LSTM) for part in torch_shim(pipe.model).module.modules())
        for pipe in map(thin.get_pipe, ("lal_tok2vec", *PARSERS))
    ]
    # two directions each
    assert layers == [6, 0, 2]
    trained_on = {"md_begin": "training/one-encoder", "md_options": f" {FEW_STEPS} {FEW_WORDS}"}
    run_here("teach-md-roles-above", "projects/english", **variables, **trained_on)
    run_here("join-md-above", "projects/english", **variables)
    joined = spacy.load(folder / "training/en-lal-md")
    for name in ("tok2vec", "lal_tok2vec", *PARSERS):
        before, after = (
            torch_shims(pipeline.get_pipe(name).model)[-1][1].tensors()
            for pipeline in (thin, joined)
        )
        same = all(torch.equal(value, after[key]) for key, value in before.items())
        assert same is (name != "lisa_srl")


PARSERS = ["lal_constituency", "lisa_srl"]


def exact(*names: str) -> dict[str, str]:
    """Rounding would decide what is nearly as good after so few steps."""
    return {f"components.{name}.model.prediction": "float32" for name in names}


def write_training_docs(folder: Path, nlp: Language) -> list[str]:
    """Write sentences where the workflow has its corpora, and return their texts."""
    docs = [example.reference for example in shared_examples(nlp)]
    train = folder / "corpus/train/ewt/train.spacy"
    train.parent.mkdir(parents=True, exist_ok=True)
    DocBin(docs=docs, store_user_data=True).to_disk(train)
    corpus = folder / "corpus"
    places = "silver/part.spacy", "textbook.spacy", "objects.spacy", "ewt/dev.spacy"
    for place in (*places, *(f"train/{name}.spacy" for name in ("masc", "gum", "craft"))):
        (corpus / place).parent.mkdir(exist_ok=True)
        shutil.copy(train, corpus / place)
    return [" ".join(token.text for token in doc) for doc in docs]


@pytest.mark.slow
def test_make_en_lal_md(
    project: Path, run_here: Callable[..., str], variables: dict[str, str], tmp_path: Path
) -> None:
    pytest.importorskip("transformers")
    run_here("convert-ewt", "projects/english", **variables)
    (tmp_path / "bert").mkdir()
    write_bert(tmp_path / "bert", ["Tea", "cools", "it", "."])
    options = (
        f" {FEW_STEPS} {FEW_WORDS} --components.tok2vec.model.sha256 null"
        " --components.tok2vec.model.layers 2 --system.encoder_width 32"
    )
    run_here(
        "make-en-lal-md",
        "projects/english",
        **variables,
        encoder=str(tmp_path / "bert"),
        md_begin="null",
        md_options=options,
    )
    package = project / "packages/en_lal_md"
    (model,) = (package / "en_lal_md").glob("en_lal_md-*")
    nlp = spacy.load(model)
    assert nlp.pipe_names == [
        "tok2vec",
        "senter",
        "lal_constituency",
        "lisa_srl",
        "lal_empty_tensor",
    ]
    lisa = nlp.get_pipe("lisa_srl")
    assert (lisa.parse_source, lisa.overwrite_parser, lisa.nonconstituent_penalty) == (
        "model",
        2.0,
        2.0,
    )
    doc = nlp("Tea cools. It does not!")
    assert doc.tensor is None or not doc.tensor.size
    assert "constituents" in doc.spans
    assert "srl" in doc.spans
    assert "MiniLM" in str(nlp.meta["sources"])
    # of what it was trained with, neither the vectors nor the machine's paths
    assert nlp.vocab.vectors.shape[0] == 0
    assert nlp.meta["vectors"]["vectors"] == 0
    for path in (model / "config.cfg", model / "tok2vec/model"):
        assert str(tmp_path).encode() not in path.read_bytes()


@pytest.mark.slow
def test_make_en_lal_lg(
    project: Path, run_here: Callable[..., str], variables: dict[str, str], tmp_path: Path
) -> None:
    run_here("convert-ewt", "projects/english", **variables)
    corpus = project / "projects/english/corpus"
    for name in ("gum", "masc", "craft", "textbook"):
        place = corpus / ("textbook.spacy" if name == "textbook" else f"train/{name}.spacy")
        shutil.copy(corpus / "train/ewt/train.spacy", place)
    (tmp_path / "bert").mkdir()
    write_bert(tmp_path / "bert", ["Tea", "cools", "it", "."])
    run_here(
        "make-en-lal-lg",
        "projects/english",
        **variables,
        lg_encoder=str(tmp_path / "bert"),
        begin="null",
        lg_options=(
            f" {FEW_STEPS} {FEW_WORDS} --components.tok2vec.model.sha256 null"
            " --components.tok2vec.model.layers 2 --components.tok2vec.model.trained_from 1"
            " --system.encoder_width 32 --corpora.train.epoch_words 60"
        ),
    )
    (model,) = (project / "packages/en_lal_lg/en_lal_lg").glob("en_lal_lg-*")
    nlp = spacy.load(model)
    assert nlp.get_pipe("lal_constituency").keep_scores
    assert nlp.config["components"]["tok2vec"]["model"]["cache"] is None
    assert (model / "tok2vec/model.safetensors").exists()
    doc = nlp("Tea cools. It does not!")
    assert {"constituents", "srl"} <= set(doc.spans)
    assert "mpnet" in str(nlp.meta["sources"])


@pytest.mark.slow
@pytest.mark.slow
@pytest.mark.parametrize(
    ("workflow", "leg", "version", "trains"),
    [
        ("on", "roles", "0.5.0", {"senter", "lisa_srl"}),
        ("parser", "parser", "0.4.0", {"lal_constituency"}),
    ],
    ids=["on", "parser"],
)
def test_components_of_en_lal_md_go_on(
    project: Path,
    run_here: Callable[..., str],
    variables: dict[str, str],
    tmp_path: Path,
    workflow: str,
    leg: str,
    version: str,
    trains: set[str],
) -> None:
    """They learn from gold and from text that the pipeline annotated; all else stays."""
    pytest.importorskip("transformers")
    folder = project / "projects/english"
    shutil.rmtree(folder / "corpus", ignore_errors=True)
    run_here("all", "projects/english", **variables)
    (tmp_path / "bert").mkdir()
    write_bert(tmp_path / "bert", ["Tea", "cools", "it", "."])
    begin = shared_pipeline(tmp_path / "bert")
    begin.remove_pipe("tagger")
    begin.add_pipe("lal_empty_tensor")
    begin.initialize(lambda: shared_examples(begin))
    begin.to_disk(tmp_path / "begin")
    (tmp_path / "text.txt").write_text("The cat sat on the mat. She ate the fish.\n" * 2)
    run_here("clear-text", "projects/english", **variables)
    variables |= {
        "teacher": str(tmp_path / "begin"),
        f"md_{leg}_begin": str(tmp_path / "begin"),
        "silver_options": " --tags 0 --trees 0 --heads 0 --roles 0 --parts 1",
        "md_options": f"{FEW_STEPS} {FEW_WORDS} --corpora.train.shares.silver 0.5",
        "md_student": workflow,
        "md": f"training/{workflow}-{leg}/model-best",
        "md_version": version,
    }
    if workflow == "on":
        variables |= {
            "md_sentences_begin": str(tmp_path / "begin"),
            "md_roles_begin": "training/on-sentences/model-best",
            "sentence_options": FEW_STEPS,
            "md": "training/on-roles-mean",
        }
    run_here(f"make-en-lal-md-{workflow}", "projects/english", **variables)
    trained = spacy.load(folder / f"training/{workflow}-{leg}/model-best")
    assert trained.pipe_names == begin.pipe_names
    for name in ("tok2vec", "lal_constituency", "lisa_srl"):
        mine, theirs = (torch_shim(nlp.get_pipe(name).model).tensors() for nlp in (trained, begin))
        same = all(torch.equal(value, theirs[part]) for part, value in mine.items())
        assert same == (name not in trains)
    boundaries = [nlp.get_pipe("senter").model.to_bytes() for nlp in (trained, begin)]
    assert (boundaries[0] == boundaries[1]) == ("senter" not in trains)
    assert srsly.read_json(project / "packages/en_lal_md/meta.json")["version"] == version


@pytest.mark.slow
def test_make_en_lal_bio_sm(
    project: Path, run_here: Callable[..., str], variables: dict[str, str], tmp_path: Path
) -> None:
    """A parser begins as another, with the words of articles besides."""
    run_here("convert-ewt", "projects/english", **variables)
    run_here("convert-gum", "projects/english", **variables)
    begin = toy_teacher(2)
    boundaries = spacy.blank("en")
    boundaries.add_pipe("senter")
    boundaries.initialize(lambda: headed_examples(boundaries))
    begin.add_pipe("senter", source=boundaries, first=True)
    begin.to_disk(tmp_path / "begin")
    widths = {"hidden_width": 32, "tok2vec__word_width": 16, "tok2vec__affix_width": 4}
    widths |= {"tok2vec__min_count": 1, "input_encoder__hidden_width": 16}
    widths |= {"input_encoder__depth": 2}
    widths |= {"input_encoder__tag_width": 8, "encoder__heads": 4, "encoder__key_width": 8}
    widths |= {"encoder__value_width": 8, "encoder__projection_width": 4}
    few = f"{FEW_STEPS} {FEW_WORDS} {settings('lal_constituency', **widths)}"
    craft = {name: variables[name] for name in ("craft_train", "craft_dev", "craft_test")}
    logged = run_here(
        "make-en-lal-bio-sm",
        "projects/craft",
        **craft,
        begin=str(tmp_path / "begin"),
        epoch_words="100",
        train_options=few,
    )
    assert f"parameters begin as those of {tmp_path / 'begin'}" in logged
    package = project / "packages/en_lal_bio_sm"
    (model,) = (package / "en_lal_bio_sm").glob("en_lal_bio_sm-*")
    nlp = spacy.load(model)
    assert nlp.pipe_names == ["senter", "lal_constituency"]
    (vocabulary,) = (
        shim.header["vocabulary"][0]
        for _, shim in torch_shims(nlp.get_pipe("lal_constituency").model)
        if shim.header and "vocabulary" in shim.header
    )
    assert {"mat", "tea"} <= set(vocabulary)
    assert [token.text for token in nlp("Tea-like and/or cold")][:3] == ["Tea", "-", "like"]
    assert 0 <= srsly.read_json(package / "meta.json")["performance"]["const_evalb_f"] <= 1

    # what was tried besides, on the same data
    ud = str(Path(variables["ud"]) / "en_ewt-ud-train.conllu")
    run_here("heads", "projects/craft", ud=ud)
    heads = read_docs(project / "projects/craft/corpus/ewt.spacy", "en")
    assert heads
    assert not any("constituents" in doc.spans for doc in heads)
    folder = project / "projects/craft"
    on = {
        "begin": str(model),
        "run": "on",
        "arc_weight": "0.25",
        "limit": "1",
        "ewt": "corpus/ewt.spacy",
    }
    run_here("train", "projects/craft", **on, epoch_words="100", train_options=few)
    decoder = spacy.load(folder / "training/on/model-best").get_pipe("lal_constituency").decoder
    assert decoder.arc_weight == 0.25
    few = f"{FEW_STEPS} {settings('lal_constituency', **widths)}"
    run_here("from-nothing", "projects/craft", train_options=few)
    assert 0 <= scores_of(folder / "metrics/from-nothing.json")["const_evalb_f"] <= 1
