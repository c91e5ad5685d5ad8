"""Beginning a training with the weights of a pipeline on disk."""

from __future__ import annotations

import json
import logging
from pathlib import Path

import numpy
import pytest
import spacy
import torch
from spacy.language import Language
from spacy.training import Example
from spacy.vectors import Vectors

from spacy_lal.bridge.shim import TorchShim, torch_shims
from spacy_lal.bridge.warm_start import take_weights
from spacy_lal.layers.role_paths import path_rows
from tests.pipeline.contract import copy_of
from tests.pipeline.toy import (
    TINY,
    TREES,
    TWO_STAGE,
    bare_doc,
    dependency_pipeline,
    examples,
    gold_doc,
    headed_examples,
    joint_pipeline,
    predicted,
    tiny_pipeline,
    train,
    train_on,
)
from tests.pipeline.toy_frames import frames_examples, spans_of, srl_pipeline, trained


@pytest.fixture(scope="module")
def source() -> Language:
    return copy_of("constituency")


@pytest.fixture(scope="module")
def folder(source: Language, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("source")
    source.to_disk(path)
    return path


def shims(nlp: Language) -> list[TorchShim]:
    (pipe,) = (pipe for _, pipe in nlp.pipeline)
    return [shim for _, shim in torch_shims(pipe.model)]


def begin(nlp: Language, path: Path | str, **settings: object) -> Language:
    (name,) = nlp.pipe_names
    nlp.config["initialize"]["components"] = {name: {"warm_start": str(path), **settings}}
    nlp.initialize(lambda: headed_examples(nlp))
    return nlp


def rows(shim: TorchShim, name: str, kind: str) -> dict[str, torch.Tensor]:
    """The rows of one parameter by the names that they belong to."""
    assert shim.header is not None
    return dict(zip(shim.header[kind], shim.tensors()[name], strict=True))


@pytest.mark.parametrize("reverse", [False, True])
def test_a_joint_model_begins_as_a_constituency_model(
    source: Language, folder: Path, reverse: bool
) -> None:
    nlp = joint_pipeline(decoder={"@misc": "spacy-lal.mbr_decoder.v1", "arc_weight": 0.0})
    settings = {}
    if reverse:
        pipe = source.get_pipe("lal_constituency")
        labels = {kind: names[::-1] for kind, names in pipe.label_data.items()}
        labels["labels"].insert(1, "<H>")
        labels["tags"].insert(2, "NEW")
        settings["labels"] = labels | {"relations": ["nsubj", "ROOT"]}
    begin(nlp, folder, **settings)
    for mine, theirs in zip(shims(nlp), shims(source), strict=True):
        have, given = mine.tensors(), theirs.tensors()
        for name, value in given.items():
            kind = {"scorer.output": "labels", "input_encoder.tag_scores": "tags"}.get(
                name.rpartition(".")[0], "tags" if name == "input_encoder.tag_embedding" else ""
            )
            if not kind:
                torch.testing.assert_close(have[name], value, rtol=0, atol=0)
                continue
            ours = rows(mine, name, kind)
            for label, row in rows(theirs, name, kind).items():
                torch.testing.assert_close(ours[label], row, rtol=0, atol=0)
    header, old = shims(nlp)[0].header, shims(source)[0].header
    assert header is not None
    assert old is not None
    assert (header["labels"] == old["labels"]) is False
    assert ("NEW" in header["tags"]) == reverse
    assert nlp.get_pipe("lal_constituency").label_data["labels"] == header["labels"]


def test_what_was_learned_is_there_before_any_training(folder: Path) -> None:
    """Trees of arcs that count for nothing; "<H>" alone is untrained."""
    nlp = joint_pipeline(decoder={"@misc": "spacy-lal.mbr_decoder.v1", "arc_weight": 0.0})
    begin(nlp, folder)
    pipe = nlp.get_pipe("lal_constituency")
    scorer = shims(nlp)[0].module.scorer
    with torch.no_grad():
        scorer.output.bias[pipe.labels.index("<H>")] = -100
    # in the sixth, "and dogs" would have to be a group
    kept = [k for k in range(len(TREES)) if k != 5]
    assert [predicted(nlp, TREES[k]) for k in kept] == [TREES[k] for k in kept]


def test_the_vocabulary_comes_along(folder: Path) -> None:
    nlp = joint_pipeline()
    name = nlp.pipe_names[0]
    nlp.config["initialize"]["components"] = {name: {"warm_start": str(folder)}}
    # of its own Docs it would know two words
    nlp.initialize(lambda: headed_examples(nlp)[2:3])
    embedding = shims(nlp)[1]
    assert embedding.header is not None
    words = embedding.header["vocabulary"][0]
    assert {"cat", "fish", "bone"} <= set(words)
    assert len(embedding.tensors()["tables.0.weight"]) == len(words) + 1


@pytest.mark.parametrize(
    "embed",
    [
        TINY["tok2vec"],
        {"@architectures": "spacy-lal.WordCharEmbed.v1", "word_width": 16, "min_count": 1},
    ],
)
def test_new_words_begin_as_unknown_ones(embed: dict[str, object], tmp_path: Path) -> None:
    """They have rows of their own, but the trees that the source finds stay the same."""
    first = train(tiny_pipeline(model={**TINY, "tok2vec": embed}), steps=20)
    first.to_disk(tmp_path)
    unknown = "(TOP (S (NP (DT Thy) (NNS zebras)) (VP (VBP graze) (ADVP (RB Ωuietly))) (. .)))"
    nlp = tiny_pipeline(model={**TINY, "tok2vec": embed})
    name = nlp.pipe_names[0]
    nlp.config["initialize"]["components"] = {name: {"warm_start": str(tmp_path)}}
    gold = gold_doc(nlp, unknown)
    nlp.initialize(lambda: [*examples(nlp), Example(bare_doc(nlp, gold), gold)])
    mine, theirs = (shims(each)[1] for each in (nlp, first))
    assert mine.header is not None
    assert theirs.header is not None
    for ours, known in zip(mine.header["vocabulary"], theirs.header["vocabulary"], strict=True):
        assert ours[: len(known)] == known
        assert len(ours) == len(set(ours))
    assert "zebras" in mine.header["vocabulary"][0]
    for tree in (*TREES, unknown):
        assert predicted(nlp, tree) == predicted(first, tree)
    (name, before), *_ = mine.tensors().items()
    before = before.clone()
    nlp.update([Example(bare_doc(nlp, gold), gold)], sgd=nlp.create_optimizer())
    row = mine.header["vocabulary"][0].index("zebras") + 1
    assert len(before) == len(mine.header["vocabulary"][0]) + 1
    assert not torch.equal(mine.tensors()[name][row], before[row])


@pytest.mark.parametrize("width", [3, 7])
def test_no_other_parameter_is_taken_for_a_table(width: int, tmp_path: Path) -> None:
    """A CharLSTM of another width is nothing of the source's with rows to add or to cut off."""

    def embed(hidden: int) -> dict[str, object]:
        name = "spacy-lal.WordCharEmbed.v1"
        return {"@architectures": name, "char_hidden_width": hidden, "min_count": 1}

    train(tiny_pipeline(model={**TINY, "tok2vec": embed(5)}), steps=1).to_disk(tmp_path)
    nlp = begin(tiny_pipeline(model={**TINY, "tok2vec": embed(width)}), tmp_path)
    mine, theirs = (shims(each)[1].tensors() for each in (nlp, spacy.load(tmp_path)))
    assert torch.equal(mine["words.weight"], theirs["words.weight"])
    lstm = [name for name, value in mine.items() if value.shape != theirs[name].shape]
    assert lstm
    for name in lstm:
        rows = min(len(mine[name]), len(theirs[name]))
        assert not torch.equal(mine[name][:rows].flatten()[:9], theirs[name][:rows].flatten()[:9])


def test_the_source_is_not_changed_by_training(source: Language, folder: Path) -> None:
    before = {name: value.clone() for name, value in shims(source)[0].tensors().items()}
    nlp = begin(joint_pipeline(), folder)
    nlp.update(headed_examples(nlp), sgd=nlp.create_optimizer())
    after = spacy.load(folder)
    for name, value in shims(after)[0].tensors().items():
        assert torch.equal(value, before[name])


def test_a_dependency_parser_begins_as_a_constituency_parser(
    source: Language, folder: Path, caplog: pytest.LogCaptureFixture, monkeypatch
) -> None:
    monkeypatch.setattr(logging.getLogger("spacy"), "propagate", True)
    caplog.set_level(logging.INFO, "spacy")
    nlp = begin(dependency_pipeline(), folder)
    mine, theirs = shims(nlp)[0].tensors(), shims(source)[0].tensors()
    name = "encoder.label_attention.w_qs"
    assert torch.equal(mine[name], theirs[name])
    taken, total = (
        sum(v.numel() for shim in shims(nlp) for n, v in shim.tensors().items() if keep(n))
        for keep in (lambda n: not n.startswith("dependencies."), lambda n: True)
    )
    assert (
        f"lal_dependency: {taken} of {total} parameters begin as those of {folder}" in caplog.text
    )


def test_relations_go_by_name(tmp_path: Path) -> None:
    first = train_on(dependency_pipeline(), headed_examples(dependency_pipeline()), steps=1)
    first.to_disk(tmp_path)
    relations = first.get_pipe("lal_dependency").label_data["relations"]
    second = begin(
        dependency_pipeline(),
        tmp_path,
        labels={"relations": ["new", *relations[::-1][:4]], "tags": ["DT"]},
    )
    for name in ("bilinear", "left", "right", "bias"):
        mine, theirs = (
            rows(shims(nlp)[0], f"dependencies.relation.{name}", "relations")
            for nlp in (second, first)
        )
        for relation in relations[::-1][:4]:
            assert torch.equal(mine[relation], theirs[relation])


def test_counts_what_fits(source: Language) -> None:
    (mine,) = (pipe for _, pipe in source.pipeline)
    taken, total = take_weights(mine.model, mine.model)
    assert taken == total == sum(v.numel() for s in shims(source) for v in s.tensors().values())


def test_counts_what_the_source_has_no_part_of(source: Language) -> None:
    """An embedding and nothing else: the rest begins from nothing, and counts."""
    (parser,) = (pipe for _, pipe in source.pipeline)
    embedding = parser.model.get_ref("tok2vec")
    taken, total = take_weights(parser.model, embedding)
    assert taken == sum(v.numel() for _, s in torch_shims(embedding) for v in s.tensors().values())
    assert total == sum(v.numel() for s in shims(source) for v in s.tensors().values())
    assert taken < total


def test_a_model_of_other_widths_takes_what_fits(folder: Path) -> None:
    model = json.loads(
        json.dumps(tiny_pipeline().config["components"]["lal_constituency"]["model"])
    )
    model["input_encoder"]["hidden_width"] = 24
    nlp = begin(tiny_pipeline(model=model), folder)
    loaded = spacy.load(folder)
    mine, theirs = (shims(each)[1].tensors() for each in (nlp, loaded))
    assert all(torch.equal(mine[name], theirs[name]) for name in theirs)


def test_word_vectors_behind_the_embedding_change_nothing_at_first(
    source: Language, folder: Path, tmp_path: Path
) -> None:
    """The first LSTM finds more features than it was trained on, and does not listen yet."""
    vectors = spacy.blank("en")
    numbers = numpy.random.default_rng(0).normal(size=(50, 10)).astype("float32")
    vectors.vocab.vectors = Vectors(data=numbers, mode="floret", minn=2, maxn=3)
    vectors.to_disk(tmp_path)
    embed = {"@architectures": "spacy-lal.WithOwnVectors.v1", "embed": TINY["tok2vec"], "width": 6}
    nlp = tiny_pipeline(model={**TINY, "tok2vec": embed})
    nlp.config["initialize"]["vectors"] = str(tmp_path)
    begin(nlp, folder)
    given = shims(source)[0].tensors()["input_encoder.lower.back.0.weight_ih_l0"]
    mine = shims(nlp)[0].tensors()["input_encoder.lower.back.0.weight_ih_l0"]
    assert mine.shape[1] == given.shape[1] + 6
    assert [predicted(nlp, tree) for tree in TREES] == [predicted(source, tree) for tree in TREES]
    nlp.update(headed_examples(nlp), sgd=nlp.create_optimizer())
    trained = shims(nlp)[0].tensors()["input_encoder.lower.back.0.weight_ih_l0"]
    assert trained[:, given.shape[1] :].abs().max() > 0


def test_a_path_that_is_not_there() -> None:
    with pytest.raises(OSError, match=r"no/such/pipeline"):
        begin(joint_pipeline(), "no/such/pipeline")


def test_a_pipeline_without_a_parser(tmp_path: Path) -> None:
    other = spacy.blank("en")
    other.add_pipe("sentencizer")
    other.to_disk(tmp_path)
    with pytest.raises(ValueError, match=r"warm_start: .* has no component of this package"):
        begin(joint_pipeline(), tmp_path)


@pytest.mark.parametrize("model", [{}, {"role_paths": True}])
def test_roles_and_joint_labels_go_by_name(model: dict[str, object], tmp_path: Path) -> None:
    first = trained(srl_pipeline(model), steps=10)
    first.to_disk(tmp_path)
    names = first.get_pipe("lisa_srl").label_data
    reversed_names = {kind: labels[::-1] for kind, labels in names.items()}
    reversed_names["roles"] = ["O", *[role for role in names["roles"] if role != "O"][::-1]]
    second = srl_pipeline(model)
    second.config["initialize"]["components"] = {
        "lisa_srl": {"warm_start": str(tmp_path), "labels": reversed_names}
    }
    second.initialize(lambda: frames_examples(second))
    for example in frames_examples(first):
        mine, theirs = (nlp(example.predicted.copy()) for nlp in (second, first))
        assert spans_of(mine) == spans_of(theirs)
        for attribute in ("tag_", "dep_"):
            assert [getattr(t, attribute) for t in mine] == [getattr(t, attribute) for t in theirs]


def test_paths_take_the_relations_that_both_have(tmp_path: Path) -> None:
    first = srl_pipeline({"role_paths": True})
    first.initialize(lambda: frames_examples(first))
    first.to_disk(tmp_path)
    labels = first.get_pipe("lisa_srl").label_data
    known = labels["relations"]
    second = srl_pipeline({"role_paths": True})
    second.config["initialize"]["components"] = {
        "lisa_srl": {
            "warm_start": str(tmp_path),
            "labels": {**labels, "relations": ["never seen", *known[::-1]]},
        }
    }
    second.initialize(lambda: frames_examples(second))
    mine, theirs = (
        dict(zip(path_rows(nlp.get_pipe("lisa_srl").relations), paths_of(nlp), strict=True))
        for nlp in (second, first)
    )
    assert {name[-1] for name in mine.keys() - theirs.keys()} == {"never seen"}
    for name, row in theirs.items():
        torch.testing.assert_close(mine[name], row)


def paths_of(nlp: Language) -> torch.Tensor:
    for _, shim in torch_shims(nlp.get_pipe("lisa_srl").model):
        for name, parameter in shim.module.named_parameters():
            if name == "paths.table":
                return parameter.data
    raise AssertionError("no table")


@pytest.mark.parametrize("bilstm", [False, True])
def test_an_encoder_behind_the_embedding_changes_no_roles_at_first(
    bilstm: bool, tmp_path: Path
) -> None:
    """With a BiLSTM, LISA reads the words themselves and, behind them, what that made of them."""
    rows = {"@misc": "spacy-lal.BiLSTMRows.v1", "hidden_width": 8, "depth": 2, "tag_width": 4}
    model: dict[str, object] = {"input_encoder": rows} if bilstm else {}
    first = trained(srl_pipeline(model), steps=30)
    first.to_disk(tmp_path)
    embed = first.config["components"]["lisa_srl"]["model"]["tok2vec"]
    hashed = {
        "@architectures": "spacy.MultiHashEmbed.v2",
        "width": 6,
        "attrs": ["NORM"],
        "rows": [50],
        "include_static_vectors": False,
    }
    both = {"@architectures": "spacy-lal.WithEncoder.v1", "embed": embed, "encoder": hashed}
    second = srl_pipeline({**model, "tok2vec": both})
    second.config["initialize"]["components"] = {"lisa_srl": {"warm_start": str(tmp_path)}}
    second.initialize(lambda: frames_examples(second))
    for example in frames_examples(first):
        mine, theirs = (nlp(example.predicted.copy()) for nlp in (second, first))
        assert spans_of(mine) == spans_of(theirs)
        assert [t.tag_ for t in mine] == [t.tag_ for t in theirs]


@pytest.mark.parametrize("label_rank", [None, 6])
@pytest.mark.parametrize("bilstm", [False, True])
def test_labels_and_tags_of_two_stages_go_by_name(
    tmp_path: Path, label_rank: int | None, bilstm: bool
) -> None:
    """In another order of names, the trained parser finds the same trees and tags."""
    encoder = {**TINY["encoder"], "arrangement": "stack"}
    rows_of = {"@misc": "spacy-lal.BranchRows.v1", "width": 16}
    model = {
        **TWO_STAGE,
        "input_encoder": {**rows_of, "bilstm": TINY["input_encoder"] if bilstm else None},
        "encoder": encoder,
        "spans": {**TWO_STAGE["spans"], "label_rank": label_rank},
    }
    first = train(tiny_pipeline(model=model), steps=10)
    first.to_disk(tmp_path)
    pipe = first.get_pipe("lal_constituency")
    reversed_names = {kind: names[::-1] for kind, names in pipe.label_data.items()}
    second = begin(tiny_pipeline(model=model), tmp_path, labels=reversed_names)
    assert second.get_pipe("lal_constituency").labels == pipe.labels[::-1]
    for tree in TREES:
        assert predicted(second, tree) == predicted(first, tree)
