"""The project's workflows run end to end on made-up data, with nothing changed but variables."""

from __future__ import annotations

import logging
import os
import re
import runpy
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy
import pytest
import safetensors.torch
import spacy
import srsly
import torch
import typer.main
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from spacy.cli._util import app as spacy_cli
from spacy.cli._util import parse_config_overrides
from spacy.language import Language
from spacy.tokens import Doc, DocBin
from spacy.training import Example
from spacy.training.initialize import convert_vectors
from spacy.util import load_config, load_model_from_config
from thinc.api import Config
from weasel.cli.run import project_run
from weasel.util import load_project_config
from weasel.util import parse_config_overrides as weasel_overrides

from spacy_lal.annotations import get_constituents, get_frames, sentence_trees
from spacy_lal.models.bridge import torch_shims
from spacy_lal.treebanks.brackets import clean_tree, read_treebank, to_sentence
from spacy_lal.treebanks.docs import Sentence, language_vocab, to_doc
from spacy_lal.treebanks.files import FormatError
from spacy_lal.trees import ConstituentTree, ptb_unescape

ROOT = Path(__file__).parents[1]
FEW_STEPS = " --training.max_steps 2 --training.eval_frequency 2"
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OMP_WAIT_POLICY": "PASSIVE", "COLUMNS": "200"}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of what a project run needs."""
    path = tmp_path_factory.mktemp("project")
    shutil.copy(ROOT / "project.yml", path)
    for folder in ("configs", "scripts", "assets/toy", "assets/vectors"):
        shutil.copytree(ROOT / folder, path / folder)
    (path / "docs/training").mkdir(parents=True)
    for paper in ("ablation_paper.json", "crf_paper.json"):
        shutil.copy(ROOT / "docs/training" / paper, path / "docs/training")
    return path


def run(project: Path, workflow: str, **variables: str) -> str:
    """Run a workflow as one does on the command line. Returns what it prints."""
    command = [sys.executable, "-m", "spacy", "project", "run", workflow, "."]
    for name, value in variables.items():
        command += [f"--vars.{name}", value]
    result = subprocess.run(
        command,
        cwd=project,
        env=os.environ | ONE_THREAD,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf8",
    )
    assert result.returncode == 0, result.stdout
    return result.stdout


@pytest.fixture
def run_here(
    project: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> Callable[..., str]:
    """`run` without new processes, which take longer than what they do. Returns what is logged."""

    def run_command(command: list[str], **options: Any) -> None:
        module = command[2] if command[1] == "-m" else ""
        monkeypatch.setattr(sys, "argv", command[2:] if module else command[1:])
        start = runpy.run_module if module else runpy.run_path
        with pytest.raises(SystemExit) as ended:
            start(module or command[1], run_name="__main__")
        assert ended.value.code == 0, command

    def run(workflow: str, **variables: str) -> str:
        caplog.clear()
        options = [part for name, value in variables.items() for part in (f"--vars.{name}", value)]
        project_run(project, workflow, overrides=weasel_overrides(options))
        return caplog.text

    monkeypatch.setattr("weasel.cli.run.run_command", run_command)
    monkeypatch.setattr("subprocess.run", run_command)  # of scripts that start others
    monkeypatch.syspath_prepend(ROOT / "scripts")
    caplog.set_level(logging.INFO, "spacy")
    return run


def read_docs(path: Path, lang: str = "en") -> list[Doc]:
    return list(DocBin().from_disk(path).get_docs(language_vocab(lang)))


# Workflows


def test_smoke_learns_its_training_data(project: Path) -> None:
    printed = run(project, "smoke")
    seen = srsly.read_json(project / "metrics/smoke-train.json")
    unseen = srsly.read_json(project / "metrics/smoke-dev.json")
    assert (seen["sentences"], seen["words"], unseen["sentences"]) == (32, 279, 10)
    assert seen["const_evalb_f"] > 0.97  # 1.0 where this was written
    assert seen["tag_acc"] > 0.97  # 1.0
    assert unseen["const_evalb_f"] > 0.75  # 0.94
    assert seen["words_per_cpu_second"] > 0
    meta = srsly.read_json(project / "training/smoke/packages/en_lal_smoke/meta.json")
    assert any(name.startswith("spacy-lal") for name in meta["requirements"])
    assert meta["performance"]["const_evalb_f"] == pytest.approx(unseen["const_evalb_f"])
    assert "(TOP (S (NP (DT The) (NN captain))" in printed
    check_half(project)


def check_half(project: Path) -> None:
    """A package with weights of half the size gives the same trees."""
    model = project / "training/smoke/model-best"
    load_script("package").main(model, project / "half", name="lal_smoke", half=True)
    (config,) = (project / "half").rglob("config.cfg")
    assert weight_types(model) == {torch.float32}
    assert weight_types(config.parent) == {torch.float16}
    assert trees_of(config.parent, project) == trees_of(model, project)


def trees_of(model: Path, project: Path) -> list[str]:
    """What a pipeline makes of the toy treebank's words."""
    nlp = spacy.load(model)
    golds = [
        gold
        for split in ("train", "dev")
        for gold in read_docs(project / f"corpus/smoke/{split}.spacy")
    ]
    docs = nlp.pipe(Doc(nlp.vocab, words=[token.text for token in gold]) for gold in golds)
    return [str(tree) for doc in docs for tree in doc._.trees]


def load_script(name: str) -> ModuleType:
    """A script as a module, with the other scripts within its reach."""
    spec = spec_from_file_location(name, ROOT / f"scripts/{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[name] = module  # typer reads annotations through it
    sys.path.insert(0, str(ROOT / "scripts"))
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(ROOT / "scripts"))
    return module


def test_train_ptb(project: Path) -> None:
    printed = run(
        project,
        "train-ptb",
        ptb_config="configs/ptb_bilstm.cfg",
        ptb_dir="assets/toy/ptb/wsj",
        ptb_conllx="assets/toy/ptb/conllx",
        ptb_take="both",
        train_options=FEW_STEPS,
    )
    assert "no trees in sections 03, 04," in printed
    docs = {split: read_docs(project / f"corpus/ptb/{split}.spacy") for split in PTB_TEXTS}
    assert {split: [doc.text for doc in docs[split]] for split in ("dev", "test")} == {
        split: PTB_TEXTS[split] for split in ("dev", "test")
    }
    assert [doc.text for doc in docs["train"]][:4] == PTB_TEXTS["train"]
    assert len(docs["train"]) == 12
    ship = docs["test"][0]
    assert [token.tag_ for token in ship][-3:] == ["IN", "MD", "."]  # the tagger's mistake
    assert [token.head.text for token in ship][:3] == ["Reed", "repaired", "repaired"]
    assert get_constituents(ship)[:2] == [(0, 9, "S"), (0, 2, "NP")]
    metrics = srsly.read_json(project / "metrics/ptb.json")
    assert metrics["sentences"] == 3
    assert 0 <= metrics["const_evalb_f"] <= 1
    assert not set(metrics) & ATTACHMENT  # this config's parser finds no heads


ATTACHMENT = {"dep_uas", "dep_las", "ptb_uas", "ptb_las", "conll18_uas", "conll18_las"}


@pytest.mark.parametrize("treebank", ["ptb", "ctb"])
def test_train_on_a_transformer(project: Path, tmp_path: Path, treebank: str) -> None:
    """The paper's configs with nothing changed but the transformer's name and sizes."""
    pytest.importorskip("spacy_transformers")
    write_transformer, folder = {"ptb": (write_xlnet, "wsj"), "ctb": (write_bert, "")}[treebank]
    write_transformer(tmp_path, toy_words(treebank))
    printed = run(
        project,
        f"train-{treebank}",
        **{f"{treebank}_dir": f"assets/toy/{treebank}/{folder}"},
        train_options=f"{FEW_STEPS} --components.transformer.model.name {tmp_path} {SMALL}",
    )
    assert f"by rules: {'semantic' if treebank == 'ptb' else 'ctb'}" in printed
    metrics = srsly.read_json(project / f"metrics/{treebank}.json")
    assert metrics["sentences"] == {"ptb": 3, "ctb": 2}[treebank]
    assert set(metrics) > {*ATTACHMENT, "const_evalb_f", "const_complete"}
    docs = read_docs(
        project / f"corpus/{treebank}/test.spacy", {"ptb": "en", "ctb": "zh"}[treebank]
    )
    assert [[token.text for token in doc if token.head == token] for doc in docs] == {
        "ptb": [["repaired"], ["fall"], ["plans"]],
        "ctb": [["关上"], ["回"]],
    }[treebank]


_PARSER = "--components.lal_constituency.model"
SMALL = " ".join(
    (
        f"{_PARSER}.hidden_width 16 {_PARSER}.rows.width 32 {_PARSER}.encoder.partition_width 16",
        f"{_PARSER}.encoder.heads 4 {_PARSER}.encoder.key_width 8 {_PARSER}.encoder.value_width 8",
        f"{_PARSER}.encoder.projection_width 16 {_PARSER}.encoder.feed_forward_width 32",
        f"{_PARSER}.encoder.self_attention_key_width 8 {_PARSER}.dependencies.arc_width 16",
        f"{_PARSER}.dependencies.relation_width 8",
    )
)


def toy_words(treebank: str) -> list[str]:
    """The words of a made-up treebank, so that a tiny vocabulary has their letters."""
    texts = [path.read_text("utf8") for path in (ROOT / f"assets/toy/{treebank}").rglob("*.*")]
    return sorted(set(re.findall(r" ([^\s()]+)\)", "".join(texts))))


def write_bert(path: Path, words: list[str]) -> None:
    """A BERT of two tiny layers with a vocabulary of letters."""
    from transformers import BertConfig, BertModel, BertTokenizerFast

    letters = sorted(set("".join(words).lower()))
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *letters]
    vocabulary += [f"##{letter}" for letter in letters]
    (path / "vocab.txt").write_text("\n".join(vocabulary), "utf8")
    BertTokenizerFast(str(path / "vocab.txt")).save_pretrained(path)
    config = BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
    )
    BertModel(config).save_pretrained(path)


def write_phobert(path: Path, words: list[str]) -> None:
    """A PhoBERT of two tiny layers: one word whole, others in letters, all but "g" known."""
    from transformers import RobertaConfig, RobertaModel

    whole = "thuyền_trưởng"
    merges, symbol = [], whole[0]
    for letter in whole[1:-1]:
        merges.append((symbol, letter))
        symbol += letter
    merges.append((symbol, f"{whole[-1]}</w>"))
    letters = set("".join(words)) - {"g"}
    symbols = sorted(letters | {first + second for first, second in merges[:-1]})
    pieces = [*symbols, *(f"{symbol}@@" for symbol in symbols), whole]
    (path / "vocab.txt").write_text("".join(f"{piece} 1\n" for piece in pieces), "utf8")
    codes = "".join(f"{first} {second} 1\n" for first, second in merges)
    (path / "bpe.codes").write_text(codes, "utf8")
    config = RobertaConfig(
        vocab_size=len(pieces) + 5,  # <s>, <pad>, </s>, <unk>, <mask>
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=258,
        type_vocab_size=1,
        tokenizer_class="PhobertTokenizer",
    )
    RobertaModel(config).save_pretrained(path)


def write_xlmr(path: Path, words: list[str]) -> None:
    """An XLM-R of two tiny layers with a vocabulary of letters."""
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast, XLMRobertaConfig, XLMRobertaModel

    special = ["<s>", "<pad>", "</s>", "<unk>"]
    pieces = [*special, "▁", *sorted(set("".join(words)) - {"▁"})]
    tokenizer = Tokenizer(models.Unigram([(piece, -1.0) for piece in pieces], unk_id=3))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    names = ("bos_token", "pad_token", "eos_token", "unk_token")
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, **dict(zip(names, special, strict=True))
    ).save_pretrained(path)
    config = XLMRobertaConfig(
        vocab_size=len(pieces),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=514,
        type_vocab_size=1,
    )
    XLMRobertaModel(config).save_pretrained(path)


def write_xlnet(path: Path, words: list[str]) -> None:
    """An XLNet of two tiny layers with a vocabulary of letters."""
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast, XLNetConfig, XLNetModel

    special = ["<unk>", "<s>", "</s>", "<cls>", "<sep>", "<pad>", "<mask>"]
    pieces = [*special, "▁", *sorted(set("".join(words)) - {"▁"})]
    unigram = models.Unigram([(piece, -1.0) for piece in pieces], unk_id=0)
    tokenizer = Tokenizer(unigram)
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="$A:0 <sep>:0 <cls>:2",
        special_tokens=[("<sep>", special.index("<sep>")), ("<cls>", special.index("<cls>"))],
    )
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        padding_side="left",
        **{f"{token[1:-1]}_token": token for token in special if token not in ("<s>", "</s>")},
    ).save_pretrained(path)
    config = XLNetConfig(vocab_size=len(pieces), d_model=32, n_layer=2, n_head=2, d_inner=64)
    XLNetModel(config).save_pretrained(path)


PTB_TEXTS = {
    "train": [
        "Harbor Mills sold two old ships in May .",
        "The ships were bought by a dealer who restores them .",
        "Prices will rise 3 1/2 % , the dealer said .",
        '" We do n\'t know why sales fell . "',
    ],
    "dev": [
        "The dealer sold two offices .",
        "The mill was bought by a bank .",
        "Analysts expect sales to rise .",
    ],
    "test": [
        "Ms. Reed repaired the old ship in May .",
        '" Costs will fall , " she said .',
        "The owner ( a dealer ) plans to buy the bank .",
    ],
}


def test_train_ewt_and_ewt_joint(
    project: Path,
    tmp_path: Path,
    run_here: Callable[..., str],
    capsys: pytest.CaptureFixture[str],
) -> None:
    write_ewt(tmp_path)
    variables = {
        "ewt_dir": str(tmp_path),
        "propbank": str(tmp_path / "skeletons"),
        "package_dir": "packages",
        "train_options": FEW_STEPS,
    }
    run_here("train-ewt-joint", **variables)
    check_package(project / "packages/en_lal_joint_sm", project / "metrics/ewt-joint.json")
    metrics = srsly.read_json(project / "metrics/ewt-joint.json")
    assert (metrics["sentences"], metrics["evalb_parameters"]) == (10, "nk")
    assert set(metrics) > ATTACHMENT
    assert weight_types(project / "packages/en_lal_joint_sm") == {torch.float16}
    capsys.readouterr()
    run_here("train-ewt", **variables)
    assert "Skipping 'ewt-anneal'" in capsys.readouterr().out
    check_package(project / "packages/en_lal_const_sm", project / "metrics/ewt.json")
    assert weight_types(project / "packages/en_lal_const_sm") == {torch.float32}
    assert not set(srsly.read_json(project / "metrics/ewt.json")) & ATTACHMENT


def sizes(component: str, **widths: int) -> str:
    """Options of `spacy train` that make a two-stage parser small; `rows__width` is rows.width."""
    return settings(component, **{"spans__span_width": 16, "spans__label_width": 8} | widths)


def settings(component: str, **widths: int) -> str:
    """Options of `spacy train` for a component's model."""
    return " ".join(
        f"--components.{component}.model.{name.replace('__', '.')} {width}"
        for name, width in widths.items()
    )


LABEL_ATTENTION = {
    "encoder__heads": 4,
    "encoder__key_width": 8,
    "encoder__value_width": 8,
    "encoder__projection_width": 8,
}
SELF_ATTENTION = {
    "encoder__self_attention_heads": 2,
    "encoder__self_attention_key_width": 8,
    "encoder__feed_forward_width": 16,
}


def test_train_ewt_crf_and_ewt_spanformer(
    project: Path, tmp_path: Path, run_here: Callable[..., str]
) -> None:
    write_ewt(tmp_path)
    variables = {"ewt_dir": str(tmp_path), "propbank": str(tmp_path / "skeletons")}
    small = sizes("lal_constituency", rows__hidden_width=16, **LABEL_ATTENTION)
    options = {"ewt_warm_start": "null", "train_options": f"{FEW_STEPS} {small}"}
    logged = run_here("train-ewt-crf", **variables, **options)
    assert "parameters begin" not in logged
    metrics = srsly.read_json(project / "metrics/ewt-crf.json")
    assert (metrics["sentences"], metrics["evalb_parameters"]) == (10, "nk")
    small = sizes("spanformer", rows__hidden_width=16)
    source = "training/ewt-crf/model-best"
    options = {"ewt_warm_start": source, "train_options": f"{FEW_STEPS} {small}"}
    logged = run_here("train-ewt-spanformer", **variables, **options)
    taken = re.search(rf"(\d+) of (\d+) parameters begin as those of {source}", logged)
    assert taken is not None
    assert 0.5 < int(taken[1]) / int(taken[2]) < 1
    assert srsly.read_json(project / "metrics/ewt-spanformer.json")["sentences"] == 10


def test_self_train_ewt_crf(project: Path, tmp_path: Path, run_here: Callable[..., str]) -> None:
    """Silver trees are those of sentences that both parse alike, as many words as of gold ones."""
    write_ewt(tmp_path)
    text = tmp_path / "text.txt"
    text.write_text("The cat sat on the mat. Tom gave her a map.\n" * 100, encoding="utf8")
    small = sizes("lal_constituency", rows__hidden_width=16, **LABEL_ATTENTION)
    run_here(
        "self-train-ewt-crf",
        ewt_dir=str(tmp_path),
        propbank=str(tmp_path / "skeletons"),
        silver_text=str(text),
        silver_parser="training/ewt-crf-second/model-best",
        ewt_warm_start="training/ewt-crf-second/model-best",
        train_options=f"{FEW_STEPS} {small}",
    )
    gold = read_docs(project / "corpus/ewt/train.spacy")
    docs = read_docs(project / "corpus/ewt-silver/train.spacy")
    silver = [doc.text for doc in docs if "sat on the mat" in doc.text or "her a map" in doc.text]
    assert 0 < len(silver) < 200
    assert sorted(doc.text for doc in docs) == sorted([*(doc.text for doc in gold), *silver])
    words = sum(map(len, gold))
    assert 2 * words <= sum(map(len, docs)) < 2 * words + max(map(len, docs))
    assert [doc.text for doc in docs[: len(gold)]] != [doc.text for doc in gold]
    assert srsly.read_json(project / "metrics/ewt-crf.json")["sentences"] == 10


def test_train_vtb(project: Path, tmp_path: Path, run_here: Callable[..., str]) -> None:
    """A slow tokenizer aligns words of several syllables; what it doesn't know stops nothing."""
    pytest.importorskip("spacy_transformers")
    write_phobert(tmp_path, toy_words("vtb"))
    small = sizes("lal_constituency", rows__width=16, **LABEL_ATTENTION, **SELF_ATTENTION)
    transformer = f"--components.transformer.model.name {tmp_path}"
    run_here(
        "train-vtb",
        vtb_dir="assets/toy/vtb",
        train_options=f"{FEW_STEPS} {transformer} {small}",
    )
    docs = read_docs(project / "corpus/vtb/test.spacy", "vi")
    assert [str(*sentence_trees(doc)) for doc in docs] == [
        "(TOP (S (NP (N Thuyền_trưởng) (Np Nam)) (VP (R đã) (V về) (NP (N bến_cảng))) (. .)))",
        "(TOP (S (NP (L Các) (N cô_giáo)) (VP (V mua) (NP (M ba) (Nc quyển) (N truyện))) (, ,)"
        " (VP (V hát)) (. .)))",
    ]
    assert srsly.read_json(project / "metrics/vtb.json")["sentences"] == 2
    nlp = spacy.load(project / "training/vtb/model-best")
    doc = nlp("thuyền_trưởng  mở cửa_gà g .")
    assert [leaf for tree in doc._.trees for leaf in tree.leaves] == doc.text.split()
    assert pieces_of(doc) == {
        "thuyền_trưởng": ["thuyền_trưởng"],
        " ": [],
        "mở": ["m@@", "ở"],
        "cửa_gà": ["c@@", "ử@@", "a@@", "_@@", "à"],
        "g": [],
        ".": ["."],
    }
    # more pieces than PhoBERT has positions
    doc = nlp(f"mở {'cửa_' * 100} .")
    assert len(doc._.trees[0].leaves) == 3


def pieces_of(doc: Doc) -> dict[str, list[str]]:
    """The word pieces that a transformer's vectors of each token are made of."""
    data = doc._.trf_data
    strings = [piece for row in data.wordpieces.strings for piece in row]
    indices = iter(data.align.dataXd.tolist())
    lengths = data.align.lengths.tolist()
    return {
        token.text: [strings[next(indices)] for _ in range(length)]
        for token, length in zip(doc, lengths, strict=True)
    }


def write_vectors(path: Path, lang: str) -> None:
    """A pipeline of word vectors, made as one makes it of fastText's."""
    words = ["La", "dame", "vend", "livre", "the", "door"]
    rows = [f"{word} {k} 0.5 -{k}.25 1" for k, word in enumerate(words)]
    path.mkdir()
    (path / "toy.vec").write_text("\n".join([f"{len(words)} 4", *rows, ""]), "utf8")
    command = typer.main.get_command(spacy_cli)
    command(["init", "vectors", lang, str(path / "toy.vec"), str(path)], standalone_mode=False)


OF_VECTORS = {
    "tok2vec__width": 8,
    "tok2vec__embed__word_width": 8,
    "tok2vec__embed__char_width": 8,
    "tok2vec__embed__char_hidden_width": 8,
    "rows__hidden_width": 16,
}


def test_train_ftb(project: Path, tmp_path: Path, run_here: Callable[..., str]) -> None:
    write_vectors(tmp_path / "vectors", "fr")
    small = sizes("spanformer", **OF_VECTORS)
    run_here(
        "train-ftb",
        ftb_dir="assets/toy/ftb",
        train_options=f"{FEW_STEPS} --paths.vectors {tmp_path / 'vectors'} {small}",
    )
    metrics = srsly.read_json(project / "metrics/ftb.json")
    assert (metrics["sentences"], metrics["words"]) == (2, 13)
    nlp = spacy.load(project / "training/ftb/model-best")
    assert nlp.vocab.vectors.shape == (6, 4)
    assert nlp.get_pipe("spanformer").labels[0] == "AP"


@pytest.mark.parametrize(
    ("name", "widths"),
    [("spanformer_ptb", OF_VECTORS), ("spanformer_ftb_xlmr", {"rows__width": 8})],
)
def test_config_trains(name: str, widths: dict[str, int], tmp_path: Path) -> None:
    options = sizes("spanformer", **widths)
    if name == "spanformer_ftb_xlmr":
        pytest.importorskip("spacy_transformers")
        write_xlmr(tmp_path, toy_words("ftb"))
        options += f" --components.transformer.model.name {tmp_path}"
    else:
        write_vectors(tmp_path / "vectors", "en")
        options += f" --paths.vectors {tmp_path / 'vectors'}"
    overrides = parse_config_overrides(options.split())
    nlp = trained_two_steps(load_config(ROOT / f"configs/{name}.cfg", overrides))
    doc = nlp("La  dame vend un livre\n.")
    assert [leaf for tree in doc._.trees for leaf in tree.leaves] == doc.text.split()


def trained_two_steps(config: Config) -> Language:
    """The config's pipeline after two updates on toy sentences."""
    nlp = load_model_from_config(config.interpolate(), auto_fill=True)
    docs = [to_doc(sentence, nlp.vocab) for sentence in toy_sentences(nlp.lang)]
    examples = [Example(Doc(nlp.vocab, words=[t.text for t in doc]), doc) for doc in docs]
    optimizer = nlp.initialize(lambda: examples)
    before = parameters_of(nlp)
    for _ in range(2):  # where there is a warm-up, the first learning rate is 0
        losses = nlp.update(examples, sgd=optimizer, drop=nlp.config["training"]["dropout"])
        optimizer.step_schedules()
    assert losses[nlp.pipe_names[-1]] > 0
    after = parameters_of(nlp)
    assert any(not torch.equal(after[key], value) for key, value in before.items())
    assert all(value.isfinite().all() for value in after.values())
    return nlp


def parameters_of(nlp: Language) -> dict[str, torch.Tensor]:
    """Copies of the parser's own."""
    shims = [shim for _, shim in torch_shims(nlp.get_pipe(nlp.pipe_names[-1]).model)]
    return {
        f"{number}.{key}": value.detach().clone()
        for number, shim in enumerate(shims)
        for key, value in shim.tensors().items()
    }


def toy_sentences(lang: str) -> list[Sentence]:
    """Of the development data."""
    if lang == "fr":
        convert = load_script("convert_ftb")
        path = convert.find_file(ROOT / "assets/toy/ftb", "dev")
        return list(convert.read_sentences(path, convert.Losses()))
    trees = read_treebank(ROOT / "assets/toy/dev.mrg")
    return [to_sentence(clean_tree(tree)) for tree in trees]


def check_package(path: Path, metrics: Path) -> None:
    """The package says whose data it was trained on and how well it does."""
    meta = srsly.read_json(path / "meta.json")
    assert meta["name"] == path.name.removeprefix("en_")
    assert meta["license"] == "CC BY-SA 4.0"
    assert [source["license"] for source in meta["sources"]][:2] == ["CC BY-SA 4.0"] * 2
    measured = {k: v for k, v in srsly.read_json(metrics).items() if k in {"tag_acc", *ATTACHMENT}}
    assert measured
    assert measured.items() <= meta["performance"].items()
    assert (path / "setup.py").exists()


def weight_types(folder: Path) -> set[torch.dtype]:
    """Of all weights in a pipeline's folder or in a package."""
    paths = list(folder.rglob("model.safetensors"))
    assert paths
    return {t.dtype for path in paths for t in safetensors.torch.load_file(path).values()}


def write_ewt(path: Path) -> None:
    """The toy treebank in the layout of UD's and PropBank's halves of the English Web Treebank."""
    for split in ("train", "dev", "test"):
        trees = read_treebank(ROOT / f"assets/toy/{split.replace('test', 'dev')}.mrg")
        words, skeleton = [f"# newdoc id = weblog-{split}"], []
        for number, tree in enumerate(trees):
            tree = clean_tree(tree)
            before, after = [""] * len(tree.leaves), [""] * len(tree.leaves)
            for start, end, label in tree.rooted().spans():
                before[start] += f"({label}"
                after[end - 1] += ")"
            roles = toy_roles(tree)
            for i, (word, tag) in enumerate(tree.tagged):
                head, relation = (0, "root") if i == 0 else (1, "dep")
                words.append(f"{i + 1}\t{word}\t_\t_\t{tag}\t_\t{head}\t{relation}\t_\t_")
                bit = f"{before[i]}*{after[i]}"
                skeleton.append(f"weblog/{split} {number} {i} [WORD] {tag} {bit} {roles[i]}")
            words.append("")
            skeleton.append("")
        (path / f"en_ewt-ud-{split}.conllu").write_text("\n".join(words), "utf8")
        folder = path / "skeletons/weblog/00"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{split}.xml.gold_skel").write_text("\n".join(skeleton), "utf8")


def toy_roles(tree: ConstituentTree) -> list[str]:
    """The last columns of a skeleton: the first finite verb has an argument on each side."""
    words, tags = zip(*tree.tagged, strict=True)
    verbs = [i for i, tag in enumerate(tags) if tag in ("VBD", "VBZ", "VBP")]
    if not verbs or tags[-1] != ".":
        return ["- -"] * len(words)
    (verb, *_), end = verbs, len(words) - 1
    cells = ["*"] * len(words)
    cells[verb] = "(V*)"
    for first, last, role in ((0, verb, "ARG0"), (verb + 1, end, "ARG1")):
        if first < last:
            cells[first] = f"({role}{cells[first]}"
            cells[last - 1] += ")"
    roleset = f"{words[verb]} {words[verb]}.01"
    return [f"{roleset if i == verb else '- -'} {cell}" for i, cell in enumerate(cells)]


def test_project_names_files_that_exist() -> None:
    config = load_project_config(ROOT, interpolate=False)
    scripts = " ".join(line for command in config["commands"] for line in command["script"])
    named = set(
        re.findall(r"(?:scripts|configs|assets/toy)/[\w./]+", scripts + str(config["vars"]))
    )
    assert named
    assert [name for name in sorted(named) if not (ROOT / name).exists()] == []


# Semantic roles

LISA = settings(
    "lisa_srl",
    heads=2,
    head_width=8,
    feed_forward_width=16,
    tag_width=16,
    arc_width=16,
    relation_width=8,
    predicate_width=16,
    role_width=16,
    tok2vec__width=8,
    tok2vec__embed__word_width=8,
    tok2vec__embed__affix_width=4,
)
OF_ROWS = settings("lisa_srl", rows__hidden_width=16)
OF_LAYERS = settings("lisa_srl", layers=3, tag_layer=1, syntax_layer=2)


def scored(path: Path) -> list[tuple[str, str]]:
    """The parses and predicates of each result in a file of metrics."""
    return [(r["parses"], r["predicates"]) for r in srsly.read_json(path)["results"]]


EVERY_WAY = [(parses, given) for parses in ("model", "gold") for given in ("model", "gold")]


def test_train_ewt_srl(project: Path, tmp_path: Path, run_here: Callable[..., str]) -> None:
    write_ewt(tmp_path)
    run_here(
        "train-ewt-srl",
        ewt_dir=str(tmp_path),
        propbank=str(tmp_path / "skeletons"),
        ewt_warm_start="null",
        train_options=f"{FEW_STEPS} {LISA} {OF_ROWS}",
    )
    cat = read_docs(project / "corpus/ewt/dev.spacy")[0]
    assert shown_frames(cat) == ["slept.01: ARG0 The cat, V slept, ARG1 in the kitchen"]
    assert scored(project / "metrics/ewt-srl.json") == EVERY_WAY
    assert srsly.read_json(project / "metrics/ewt-srl.json")["sentences"] == 10


def test_self_train_ewt_srl(project: Path, tmp_path: Path, run_here: Callable[..., str]) -> None:
    """Silver frames are those that the first LISA finds, of as many words as gold ones."""
    write_ewt(tmp_path)
    write_parser(tmp_path / "parser")
    text = tmp_path / "text.txt"
    text.write_text("The cat sat on the mat. Tom gave her a map.\n" * 100, encoding="utf8")
    crf = sizes("lal_constituency", rows__hidden_width=16, **LABEL_ATTENTION)
    variables = {"ewt_dir": str(tmp_path), "propbank": str(tmp_path / "skeletons")}
    run_here("ewt-convert", **variables)
    run_here("english-vectors")
    few = {"ewt_warm_start": "null", "train_options": f"{FEW_STEPS} {crf}"}
    run_here("ewt-crf-second", **variables, **few)
    few = {"ewt_warm_start": "null", "train_options": f"{FEW_STEPS} {LISA} {OF_ROWS}"}
    run_here("ewt-srl-train", **variables, **few)
    silver = {
        "silver_text": str(text),
        "silver_parser": "training/ewt-crf-second/model-best",
        "silver_frames_options": " --least 0.0",
        "srl_parser": str(tmp_path / "parser"),
    }
    run_here("ewt-srl-silver", **variables, **silver)
    gold = read_docs(project / "corpus/ewt/train.spacy")
    docs = read_docs(project / "corpus/ewt-silver/frames.spacy")
    of_gold = {doc.text for doc in gold}
    silver_docs = [doc for doc in docs if doc.text not in of_gold]
    texts = {doc.text.strip() for doc in silver_docs}
    assert texts
    assert texts <= {"The cat sat on the mat.", "Tom gave her a map."}
    assert len(docs) == len(gold) + len(silver_docs)
    for doc in silver_docs:
        assert doc.has_annotation("DEP")
        assert "srl" in doc.spans
        assert "constituents" not in doc.spans
    logged = run_here(
        "ewt-srl-self-train", **variables, train_options=f"{FEW_STEPS} {LISA} {OF_ROWS}"
    )
    assert "parameters begin as those of training/ewt-srl/model-best" in logged
    run_here("ewt-srl-self-evaluate", **variables)
    assert scored(project / "metrics/ewt-srl-self.json") == EVERY_WAY


def test_make_en_lal_sm(project: Path, tmp_path: Path, run_here: Callable[..., str]) -> None:
    """A joint parser and a LISA that were trained apart, in one package."""
    write_ewt(tmp_path)
    variables = {"ewt_dir": str(tmp_path), "propbank": str(tmp_path / "skeletons")}
    run_here("train-ewt-joint", **variables, train_options=FEW_STEPS)
    small = f"{FEW_STEPS} {LISA} {OF_ROWS}"
    run_here("train-ewt-srl", **variables, ewt_warm_start="null", train_options=small)
    run_here("make-en-lal-sm", pipeline_roles="training/ewt-srl/model-best")
    path = project / "packages/en_lal_sm"
    meta = srsly.read_json(path / "meta.json")
    assert meta["pipeline"] == ["lal_constituency", "lisa_srl"]
    assert {"srl_f", "srl_pred_f", "const_evalb_f", "dep_las"} <= set(meta["performance"])
    # the parser in 16 bits, matrices of LISA in 8 with scales of 32
    assert weight_types(path) == {torch.float16, torch.int8, torch.float32}
    nlp = spacy.load(next((path / "en_lal_sm").glob("en_lal_sm-*")))
    assert 0 in nlp.vocab.vectors.shape
    doc = nlp("The cat sat on the mat.")
    assert {"constituents", "srl"} <= set(doc.spans)
    assert doc.has_annotation("DEP")


def test_compare_ewt_srl(project: Path, tmp_path: Path, run_here: Callable[..., str]) -> None:
    write_ewt(tmp_path)
    write_parser(tmp_path / "parser")
    page = project / "docs/srl.md"
    page.write_text("before\n<!-- srl: start -->\nold\n<!-- srl: end -->\nafter\n", "utf8")
    variables = {
        "ewt_dir": str(tmp_path),
        "propbank": str(tmp_path / "skeletons"),
        "srl_seeds": "1",
        "srl_parser": str(tmp_path / "parser"),
        "srl_options": f"{FEW_STEPS} {LISA} {OF_ROWS}",
    }
    run_here("compare-ewt-srl", **variables)
    text = page.read_text("utf8")
    lines = r"((\|.*)?\n)+"
    tables = rf"{lines}F1 by words.*\n{lines}F1 of arguments by.*\n{lines}"
    assert re.fullmatch(rf"before\n<!-- srl: start -->\n{tables}<!-- srl: end -->\nafter\n", text)
    rows = re.findall(r"\n\| ([^|]+) \| (viterbi|valid|greedy) \| 1 \|", text)
    models = ["LISA, its own parses", f"LISA, parses of {tmp_path / 'parser'}", "LISA, gold parses"]
    decoders = ["viterbi", "valid", "greedy"]
    assert sorted(rows) == sorted((m, d) for m in ["SA (no syntax)", *models] for d in decoders)
    results = {path.stem: srsly.read_json(path) for path in project.glob("docs/training/srl/*")}
    assert {name: {"uas" in r for r in of["results"]} for name, of in results.items()} == {
        "sa-1": {False},
        "lisa-1": {True},
    }


def write_parser(path: Path) -> None:
    """A pipeline that finds heads, badly."""
    nlp = spacy.blank("en")
    nlp.add_pipe("parser")
    doc = Doc(nlp.vocab, words=["Go", "on"], heads=[0, 0], deps=["ROOT", "dep"])
    nlp.initialize(lambda: [Example(Doc(nlp.vocab, words=["Go", "on"]), doc)])
    nlp.to_disk(path)


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
        f"train-{name}",
        **{f"{name}_dir": f"assets/toy/{name}"},
        train_options=f"{FEW_STEPS} --paths.vectors {tmp_path / 'vectors'} {LISA} {OF_LAYERS}",
    )
    sentences, frames = CONLL[name]
    docs = read_docs(project / f"corpus/{name}/test.spacy")
    assert [frame for doc in docs for frame in shown_frames(doc)] == frames
    for doc, (words, root, heads) in zip(docs, sentences, strict=True):
        assert doc.text.strip() == words
        assert [token.head.i for token in doc] == heads
        assert next(doc.sents).root.text == root
    for split, count in (("train", 6), ("dev", 2)):
        assert len(read_docs(project / f"corpus/{name}/{split}.spacy")) == count
    assert scored(project / f"metrics/{name}.json") == EVERY_WAY


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


# Conversion of the Penn Treebank


@pytest.fixture(scope="module")
def convert_ptb() -> ModuleType:
    return load_script("convert_ptb")


def test_sections(convert_ptb: ModuleType) -> None:
    assert convert_ptb.sections("02-21") == [f"{i:02}" for i in range(2, 22)]
    assert convert_ptb.sections("00, 24") == ["00", "24"]
    with pytest.raises(ValueError, match="'2-x'"):
        convert_ptb.sections("2-x")


def test_section_files_of_both_editions(convert_ptb: ModuleType, tmp_path: Path) -> None:
    for name in ("22/WSJ_2201.MRG", "23/wsj_2301.tree", "23/wsj_2300.tree", "23/readme.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    files, empty = convert_ptb.section_files(tmp_path, ["22", "23", "24"])
    assert [path.name for path in files] == ["WSJ_2201.MRG", "wsj_2300.tree", "wsj_2301.tree"]
    assert empty == ["24"]


def test_conllx_words_may_be_plain_or_escaped(convert_ptb: ModuleType, tmp_path: Path) -> None:
    sentences = list(convert_ptb.read_trees(ROOT / "assets/toy/ptb/wsj/23/wsj_2302.mrg"))
    rows = (ROOT / "assets/toy/ptb/conllx/test.conllx").read_text("utf8").split("\n\n")[2]
    path = tmp_path / "test.conllx"
    for text in (rows, rows.replace("-LRB-", "(").replace("-RRB-", ")")):
        path.write_text(text, "utf8")
        (merged,), faults = convert_ptb.splits.merge(
            sentences, path, convert_ptb.Take.heads, ptb_unescape
        )
        assert faults == 0
        assert merged.tags == sentences[0].tags
        assert merged.heads[6] == 6
        assert merged.deps[1] == "nsubj"


def test_conllx_that_does_not_fit_says_where(convert_ptb: ModuleType, tmp_path: Path) -> None:
    sentences = list(convert_ptb.read_trees(ROOT / "assets/toy/ptb/wsj/23/wsj_2301.mrg"))
    text = (ROOT / "assets/toy/ptb/conllx/test.conllx").read_text("utf8")
    path = tmp_path / "test.conllx"
    path.write_text(text, "utf8")
    with pytest.raises(FormatError, match=r"test.conllx:21: more than the treebank's 2 sentences"):
        convert_ptb.splits.merge(sentences, path, convert_ptb.Take.both, ptb_unescape)
    path.write_text(text.split("\n\n")[0] + "\n", "utf8")
    with pytest.raises(ValueError, match="1 sentences, the treebank has 2"):
        convert_ptb.splits.merge(sentences, path, convert_ptb.Take.both, ptb_unescape)
    path.write_text(text.replace("Costs", "Prices"), "utf8")
    with pytest.raises(FormatError, match=r"test.conllx:11: sentence 2 is .`` Prices will"):
        convert_ptb.splits.merge(sentences, path, convert_ptb.Take.both, ptb_unescape)


def test_head_rules_only_where_conllx_gives_no_heads(
    convert_ptb: ModuleType, tmp_path: Path
) -> None:
    toy, conllx = ROOT / "assets/toy/ptb/wsj", str(ROOT / "assets/toy/ptb/conllx")
    rules, take = convert_ptb.HeadRules, convert_ptb.Take
    relations = {}
    for name, options in {
        "neither": {},
        "rules": {"heads": rules.semantic},
        "tags": {"heads": rules.semantic, "conllx": conllx, "take": take.tags},
        "heads": {"heads": rules.semantic, "conllx": conllx},
    }.items():
        convert_ptb.main(toy, tmp_path, **options)
        (doc, *_) = read_docs(tmp_path / "test.spacy")
        relations[name] = doc[0].dep_, doc[-1].tag_
    assert relations == {
        "neither": ("", "."),
        "rules": ("dep", "."),
        "tags": ("dep", "."),
        "heads": ("nn", "."),
    }


# Conversion of the Chinese Treebank


@pytest.fixture(scope="module")
def convert_ctb() -> ModuleType:
    return load_script("convert_ctb")


def test_ctb_splits(convert_ctb: ModuleType, tmp_path: Path) -> None:
    toy = ROOT / "assets/toy/ctb"
    found = {}
    for split in convert_ctb.Split:
        convert_ctb.main(toy, tmp_path / split, split=split)
        found[str(split)] = {
            part: "".join(doc.text for doc in read_docs(tmp_path / split / f"{part}.spacy", "zh"))
            for part in ("dev", "test")
        }
    assert found == {
        "constituency": {
            "dev": "她是学校校长。孩子们唱歌和跳舞。",
            "test": "船长慢慢关上门。卖茶叶的商人回家了。",
        },
        "dependency": {
            "dev": "医生给病人一杯水。学生看书。",
            "test": "渔民说：“海水很冷”。旧桥不安全。火车明天到南湖。",
        },
    }


@pytest.mark.parametrize("option", ["auto", "gb18030"])
def test_ctb_encodings(convert_ctb: ModuleType, tmp_path: Path, option: str) -> None:
    text = (ROOT / "assets/toy/ctb/bracketed/chtb_001.fid").read_text("utf8")
    path = tmp_path / "chtb_001.fid"
    path.write_bytes(text.encode("gb18030"))
    first, *_, last = convert_ctb.reader(option)(path)
    assert list(first.words) == ["老师", "已经", "打开", "了", "窗户", "。"]
    assert not any(first.spaces)
    assert last.constituents[0] == (0, 4, "NP")
    with pytest.raises(FormatError, match="not utf-8"):
        convert_ctb.reader("utf-8")(path)


def test_ctb_file_names(convert_ctb: ModuleType, tmp_path: Path) -> None:
    for name in ("a/chtb_0040.nw", "b/CHTB_1148.FID", "chtb_007.fid", "readme.txt", ".chtb_1.fid"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    assert sorted(convert_ctb.numbered_files(tmp_path)) == [7, 40, 1148]
    (tmp_path / "chtb_0007.fid").touch()
    with pytest.raises(ValueError, match="have the same number"):
        convert_ctb.numbered_files(tmp_path)


# Ablations


def test_ablation(project: Path, tmp_path: Path) -> None:
    write_ewt(tmp_path)
    results, page = project / "docs/training/ablation", project / "docs/ablation.md"
    variables = {
        "ewt_dir": str(tmp_path),
        "propbank": str(tmp_path / "skeletons"),
        "ablation_rows": "base,matrix-project",
        "ablation_seeds": "1",
        "ablation_options": FEW_STEPS,
    }
    run(project, "ablate-ewt", **variables)
    base = srsly.read_json(results / "base-1.json")
    assert [point["step"] for point in base["curve"]] == [0, 2]
    assert base["seed"] == 1
    assert base["options"] == {"training.max_steps": 2, "training.eval_frequency": 2}
    assert set(base["test"]) >= {"const_evalb_f", *ATTACHMENT}
    assert base["training_words_per_cpu_second"] > 0
    changed = srsly.read_json(results / "matrix-project-1.json")
    assert {key.rpartition(".")[2]: value for key, value in changed["settings"].items()} == {
        "query": "matrix",
        "combine": "project",
    }
    text = page.read_text("utf8")
    assert "| matrix | projected |" in text
    assert re.search(r"\| vector \| side by side \|.*\| 1 \| 96\.38 \| 97\.42 \| 96\.26 \|", text)
    # what is there is neither trained again nor written over
    stamp = (results / "base-1.json").stat().st_mtime
    page.write_text(f"before\n{text[text.index('<!--') :]}after\n", "utf8")
    printed = run(project, "ablate-ewt", **variables | {"ablation_rows": "base"})
    assert "base-1.json is there" in printed
    assert (results / "base-1.json").stat().st_mtime == stamp
    assert page.read_text("utf8").startswith("before\n")
    assert page.read_text("utf8").endswith("after\n")


def test_ablation_of_two_stage_parsers(
    project: Path, tmp_path: Path, run_here: Callable[..., str]
) -> None:
    write_ewt(tmp_path)
    run_here(
        "ablate-ewt-crf",
        ewt_dir=str(tmp_path),
        propbank=str(tmp_path / "skeletons"),
        crf_rows="crf,heads-64,spanformer",
        crf_seeds="1",
        crf_options=FEW_STEPS,
    )
    results = {path.stem: srsly.read_json(path) for path in project.glob("docs/training/crf/*")}
    assert set(results) == {"crf-1", "heads-64-1", "spanformer-1"}
    assert len({result["parameters"] for result in results.values()}) == 3
    text = (project / "docs/crf.md").read_text("utf8")
    assert text.count("<!-- crf: ") == 2
    assert re.search(r"### Three two-stage parsers\n.*\n(\|.*\n){5}", text)
    # tables of which one row was run are left out
    assert re.findall(r"\| (none, and no branch|none|\d\d) \|.*\| 1 \| (\S+) \|", text) == [
        ("none, and no branch", "–"),
        ("64", "83.08"),
    ]


ABLATIONS = {
    # base config, rows, base row, names of some tables and how many rows these have
    "ewt_ablation": ("ablation_rows", "base", "table 1,table 2", 7),  # one row is in both
    "ewt_crf_ablation": ("crf_rows", "crf", "parsers,heads,content", 7),
}


@pytest.mark.parametrize("name", ABLATIONS)
def test_every_row_is_a_change_of_the_base_config(name: str) -> None:
    rows, first, names, count = ABLATIONS[name]
    ablate = load_script("ablate")
    table = srsly.read_json(ROOT / f"configs/{rows}.json")
    base = Config().from_disk(ROOT / f"configs/{name}.cfg", interpolate=False)
    changed = {
        row: ablate.with_settings(base, settings).to_str()
        for row, settings in table["rows"].items()
    }
    assert changed[first] == base.to_str()
    assert len(set(changed.values())) == len(changed)
    assert {row for of in table["tables"].values() for row in of["rows"]} == set(changed)
    for of in table["tables"].values():
        assert {len(cells) for cells in of["rows"].values()} == {len(of["columns"])}
    assert len(ablate.chosen_rows(names, table["rows"], table["tables"])) == count
    with pytest.raises(ValueError, match="no row or table 'tabel 1'"):
        ablate.chosen_rows("tabel 1", table["rows"], table["tables"])
    with pytest.raises(ValueError, match=r"the config has no training\.max_stepz"):
        ablate.with_settings(base, {"training.max_stepz": 1})


def test_every_row_of_two_stage_parsers_trains() -> None:
    ablate = load_script("ablate")
    base = Config().from_disk(ROOT / "configs/ewt_crf_ablation.cfg", interpolate=False)
    for settings in srsly.read_json(ROOT / "configs/crf_rows.json")["rows"].values():
        nlp = trained_two_steps(ablate.with_settings(base, settings))
        assert nlp("The door opened.")._.trees


# Vectors


def test_vectors_are_those_that_spacy_reads(tmp_path: Path) -> None:
    """A table as floret writes it, through our file of 16 bits and through spaCy's own reader."""
    rows = numpy.random.default_rng(0).normal(size=(20, 4)).round(2)
    lines = [f"{k} " + " ".join(map(str, row)) + " " for k, row in enumerate(rows.tolist())]
    header = "20 4 3 5 2 2166136261 < >"
    (tmp_path / "table.floret").write_text("\n".join([header, *lines]) + "\n", "utf8")
    script = load_script("vectors")
    script.save(tmp_path / "table.floret", tmp_path / "stored.safetensors")
    script.build(tmp_path / "stored.safetensors", tmp_path / "pipeline")
    ours, theirs = spacy.load(tmp_path / "pipeline"), spacy.blank("en")
    convert_vectors(theirs, tmp_path / "table.floret", truncate=0, prune=-1, mode="floret")
    for word in ("ship", "harbours", "x", "don't"):
        assert ours.vocab[word].vector == pytest.approx(theirs.vocab[word].vector, abs=2e-3)
    found = " ".join(script.tokens("I don't, cannot: it's 3% e.g. Mr. Li’s up-to-date."))
    assert found == "I do n't , can not : it 's 3 % e.g. Mr. Li 's up - to - date ."
    (tmp_path / "other.safetensors").write_bytes(safetensors.torch.save({"a": torch.ones(1)}))
    with pytest.raises(typer.Exit):
        script.build(tmp_path / "other.safetensors", tmp_path / "pipeline")


# Installation


@pytest.mark.skipif(shutil.which("make") is None, reason="needs make")
@pytest.mark.parametrize(
    "text",
    [
        'It\'s "odd" `date` $HOME ${HOME} $(date) $(shell date) $$ \\',
        "--model x",
        "-n",
        "",
        "naïve 😀 #1 100% a=b:=c",
        "two\nlines",
        None,
    ],
)
def test_make_demo_passes_text_on_as_it_is(text: str | None, tmp_path: Path) -> None:
    python = tmp_path / "venv/bin/python"
    python.parent.mkdir(parents=True)
    python.write_text('#!/bin/sh\nprintf "%s\\0" "$@"\n')
    python.chmod(0o755)
    (tmp_path / "meta.json").touch()
    later = (tmp_path / "meta.json").stat().st_mtime + 60
    for stamp in ("bin/pip", ".torch", ".package", ".en_lal_sm"):
        (tmp_path / "venv" / stamp).touch()
        os.utime(tmp_path / "venv" / stamp, (later, later))
    command = ["make", "demo", f"VENV={tmp_path / 'venv'}", f"PIPELINE={tmp_path}"]
    of_make = ("TEXT", "DEMO_TEXT", "MAKEFLAGS", "MFLAGS", "MAKELEVEL", "MAKEOVERRIDES")
    environment = {name: value for name, value in os.environ.items() if name not in of_make}
    result = subprocess.run(
        command if text is None else [*command, f"TEXT={text}"],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        encoding="utf8",
        check=True,
    )
    arguments = result.stdout.split("\0")[:-1]
    assert arguments == ["scripts/demo.py", *([] if text is None else ["--", text])]


@pytest.mark.parametrize("status", [0, 3])
def test_progress_keeps_status_and_shows_failure(status: int, tmp_path: Path) -> None:
    log = tmp_path / "log"
    code = f"import sys; print('line of output'); sys.exit({status})"
    result = subprocess.run(
        [sys.executable, ROOT / "scripts/progress.py", "Working", log, sys.executable, "-c", code],
        capture_output=True,
        encoding="utf8",
    )
    assert result.returncode == status
    assert log.read_text("utf8") == "line of output\n"
    assert ("line of output" in result.stderr) == bool(status)
    assert ("Working: done" in result.stdout) == (not status)


def test_constraints_pin_every_dependency_within_its_range() -> None:
    lines = (ROOT / "constraints.txt").read_text("utf8").splitlines()
    pinned = {}
    for line in lines:
        if line and not line.startswith("#"):
            name, _, version = line.partition("==")
            pinned[canonicalize_name(name)] = version
    with (ROOT / "pyproject.toml").open("rb") as file:
        package = tomllib.load(file)["project"]
    extras = package["optional-dependencies"]
    for text in [*package["dependencies"], *extras["transformers"], *extras["dev"]]:
        requirement = Requirement(text)
        assert requirement.specifier.contains(pinned[canonicalize_name(requirement.name)]), text


# Grammatical errors

TOY_GED = ROOT / "assets/toy/ged"
DETECTOR = settings(
    "gec_detector",
    heads=4,
    layers__hidden_width=16,
    layers__depth=2,
    layers__language_words=20,
)
EMBEDDED = settings(
    "gec_detector",
    layers__tok2vec__word_width=8,
    layers__tok2vec__affix_width=4,
    layers__tok2vec__min_count=1,
)
WITH_VECTORS = settings(
    "gec_detector",
    layers__tok2vec__width=8,
    layers__tok2vec__embed__word_width=8,
    layers__tok2vec__embed__affix_width=4,
    layers__tok2vec__embed__min_count=1,
)


def detected(path: Path) -> list[dict[str, Any]]:
    results: list[dict[str, Any]] = srsly.read_json(path)["results"]
    assert all(0 <= result["f05"] <= 100 for result in results)
    return results


def test_train_fce(project: Path, run_here: Callable[..., str]) -> None:
    """On the project's own config for a CPU, with a block of the training file to choose by."""
    run_here("english-vectors")
    run_here(
        "train-fce",
        fce_train=str(TOY_GED / "train.tsv"),
        fce_train_options=" --without-block 10/10",
        fce_dev=str(TOY_GED / "train.tsv"),
        fce_dev_options=" --block 10/10",
        fce_test=str(TOY_GED / "test.tsv"),
        fce_config="configs/ged.cfg",
        train_options=f"{FEW_STEPS} {DETECTOR} {WITH_VECTORS}",
    )
    counts = [len(read_docs(project / f"corpus/fce/{part}.spacy")) for part in ("train", "dev")]
    assert counts == [54, 6]
    (result,) = detected(project / "metrics/fce.json")
    assert (result["tokens"], result["errors"]) == (99, 8)


def test_train_realec(project: Path, tmp_path: Path, run_here: Callable[..., str]) -> None:
    (tmp_path / "english").mkdir()
    shutil.copy(TOY_GED / "train.tsv", tmp_path / "english/en_realec_dev.tsv")
    run_here(
        "train-realec",
        multiged_dir=str(tmp_path),
        train_options=f"{FEW_STEPS} {DETECTOR} {WITH_VECTORS}",
    )
    parts = ("train", "dev", "test")
    read = [
        [doc.text for doc in read_docs(project / f"corpus/realec/{part}.spacy")] for part in parts
    ]
    assert [len(texts) for texts in read] == [36, 12, 12]
    assert len(detected(project / "metrics/realec.json")) == 1


@pytest.mark.parametrize(
    ("lang", "name"), [("de", "german/de_falko-merlin"), ("it", "italian/it_merlin")]
)
def test_train_multiged(
    project: Path, tmp_path: Path, run_here: Callable[..., str], lang: str, name: str
) -> None:
    for part in ("train", "dev"):
        path = tmp_path / f"{name}_{part}.tsv"
        path.parent.mkdir(exist_ok=True)
        shutil.copy(TOY_GED / f"{part}.tsv", path)
    run_here(
        f"train-multiged-{lang}",
        multiged_dir=str(tmp_path),
        train_options=f"{FEW_STEPS} {DETECTOR} {EMBEDDED}",
    )
    assert spacy.load(project / f"training/multiged-{lang}/model-best").lang == lang
    assert len(read_docs(project / f"corpus/multiged-{lang}/held-out.spacy")) == 6
    assert len(detected(project / f"metrics/multiged-{lang}.json")) == 1


def test_make_en_lal_ged_sm(project: Path, tmp_path: Path, run_here: Callable[..., str]) -> None:
    """Artificial errors, then learners', a threshold and a package."""
    (tmp_path / "english").mkdir()
    shutil.copy(TOY_GED / "train.tsv", tmp_path / "english/en_realec_dev.tsv")
    text = tmp_path / "text.txt"
    sentence = "The old farmer sold {} red apples at the market, because his sister has asked him."
    text.write_text("\n".join(sentence.format(n) for n in ["two", "three", "four", "five", "six"]))
    logged = run_here(
        "make-en-lal-ged-sm",
        multiged_dir=str(tmp_path),
        ged_text=str(text),
        ged_edited_text=str(text),
        ged_edited_dev=str(text),
        ged_most_marked="0.1",
        train_options=f"{FEW_STEPS} {DETECTOR} {WITH_VECTORS}",
    )
    assert "parameters begin as those of training/ged-open/model-last" in logged
    path = project / "packages/en_lal_ged_sm"
    meta = srsly.read_json(path / "meta.json")
    assert set(meta["performance"]) == {"ged_p", "ged_r", "ged_f05"}
    assert weight_types(path) == {torch.float16, torch.int8, torch.float32}
    nlp = spacy.load(next((path / "en_lal_ged_sm").glob("en_lal_ged_sm-*")))
    (edited,) = {len(doc) for doc in nlp.pipe(text.read_text().splitlines())}
    marked = sum(len(doc._.grammar_errors) for doc in nlp.pipe(text.read_text().splitlines()))
    assert marked <= 0.1 * 5 * edited


def test_compare_ged(project: Path, tmp_path: Path, run_here: Callable[..., str]) -> None:
    for part in ("train", "dev"):
        path = tmp_path / f"german/de_falko-merlin_{part}.tsv"
        path.parent.mkdir(exist_ok=True)
        shutil.copy(TOY_GED / f"{part}.tsv", path)
    run_here("multiged-de-convert", multiged_dir=str(tmp_path))
    page = project / "docs/ged.md"
    start, end = (f"<!-- multiged-de heads: {edge} -->" for edge in ("start", "end"))
    page.write_text(f"before\n{start}\nold\n{end}\nafter\n", "utf8")
    run_here(
        "ged-compare",
        ged_compare_setting="heads",
        ged_compare_values="1,4",
        ged_seeds="1,2",
        ged_options=f" --nlp.lang de {FEW_STEPS} {DETECTOR} {EMBEDDED}".replace(
            "--components.gec_detector.model.heads 4", ""
        ),
    )
    rows = re.findall(r"^\| (\w+) \| (\w+) \|", page.read_text("utf8"), re.MULTILINE)
    assert rows == [("heads", "seeds"), ("1", "2"), ("4", "2")]
    names = {path.stem for path in project.glob("docs/training/ged/*.json")}
    assert names == {f"multiged-de-heads-{value}-{seed}" for value in (1, 4) for seed in (1, 2)}


def test_train_ged_synthetic(project: Path, tmp_path: Path, run_here: Callable[..., str]) -> None:
    """Then `train-realec` may begin with what was learned of artificial errors."""
    write_ewt(tmp_path)
    small = f"{FEW_STEPS} {DETECTOR} {WITH_VECTORS}"
    run_here(
        "train-ged-synthetic",
        ewt_dir=str(tmp_path),
        propbank=str(tmp_path / "skeletons"),
        train_options=small,
    )
    assert len(detected(project / "metrics/ged-synthetic.json")) == 1
    docs = read_docs(project / "corpus/ged/dev.spacy")
    assert all("errors" in doc.spans for doc in docs)
    logged = run_here(
        "realec-train",
        ged_warm_start="training/ged-synthetic/model-best",
        train_options=small + " --system.seed 2",
    )
    assert "parameters begin as those of training/ged-synthetic/model-best" in logged
