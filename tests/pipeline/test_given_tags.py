"""Parsers that read the tags of Docs (input_encoder.tags = "doc"), gold or of another component."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import spacy
import torch
from spacy.language import Language
from spacy.tokens import Doc, DocBin
from spacy.training import Example

from spacy_lal.bridge.shim import torch_shim
from spacy_lal.evaluation import evaluate
from spacy_lal.interpret import explain
from spacy_lal.layers.input_encoders import BiLSTMInput, BranchInput, PositionInput
from spacy_lal.training.corpus import Corpus

from .contract import annotations
from .toy import DEPENDENCIES, TINY, TWO_STAGE, headed_examples, train_on

INPUTS: dict[str, dict[str, Any]] = {
    "bilstm": {**TINY["input_encoder"], "tags": "doc"},  # type: ignore[dict-item]
    "positions": {"@misc": "spacy-lal.PositionRows.v1", "width": 32, "tags": "doc"},
    "branch": {"@misc": "spacy-lal.BranchRows.v1", "width": 32, "tags": "doc"},
    "branch and bilstm": {
        "@misc": "spacy-lal.BranchRows.v1",
        "width": 32,
        "bilstm": {**TINY["input_encoder"], "tags": "doc"},  # type: ignore[dict-item]
    },
}


def pipeline(name: str) -> Language:
    nlp = spacy.blank("en")
    model = TWO_STAGE if name.startswith("branch") else {**TINY, "dependencies": DEPENDENCIES}
    nlp.add_pipe("lal_constituency", config={"model": {**model, "input_encoder": INPUTS[name]}})
    return nlp


def with_gold_tags(of_training: list[Example]) -> list[Example]:
    for example in of_training:
        for token, gold in zip(example.predicted, example.reference, strict=True):
            token.tag_ = gold.tag_
    return of_training


@pytest.fixture(scope="module", params=INPUTS)
def nlp(request: pytest.FixtureRequest) -> Language:
    spacy.util.fix_random_seed(0)
    nlp = pipeline(request.param)
    return train_on(nlp, with_gold_tags(headed_examples(nlp)), 80)


def test_learns_its_trees_and_keeps_the_tags(nlp: Language, tmp_path: Path) -> None:
    assert nlp.get_pipe("lal_constituency").tags == ()  # type: ignore[attr-defined]
    names = torch_shim(nlp.get_pipe("lal_constituency").model).module.state_dict()  # type: ignore[attr-defined]
    assert not any("tag_scores" in name for name in names)
    nlp.to_disk(tmp_path)
    again = spacy.load(tmp_path)
    for example in with_gold_tags(headed_examples(nlp)):
        doc = nlp(example.predicted.copy())
        assert str(doc._.trees[0]) == str(example.reference._.trees[0])
        assert annotations(again(example.predicted)) == annotations(doc)


def test_tags_are_all_that_it_knows_of_words(nlp: Language) -> None:
    """Other tags change the scores, unknown ones and words without one are no error."""
    doc, same, other, unknown = (
        Doc(nlp.vocab, words=["The", "cat", "sat"], tags=tags, sent_starts=[True, False, False])
        for tags in (["DT", "NN", "VBD"], ["DT", "NN", "VBD"], ["UH"] * 3, ["XYZ", "", "NN"])
    )
    model = nlp.get_pipe("lal_constituency").model  # type: ignore[attr-defined]
    mine, again, theirs, _ = (
        next(iter(model.predict([d]).batches)).scores for d in (doc, same, other, unknown)
    )
    scores = [
        torch.cat([s.flatten() for s in of[1:3] if s is not None]) for of in (mine, again, theirs)
    ]
    assert torch.equal(scores[0], scores[1])
    assert not torch.allclose(scores[0], scores[2])
    unknown = nlp(unknown)
    assert [token.tag_ for token in unknown] == ["XYZ", "", "NN"]


def test_docs_without_tags(nlp: Language) -> None:
    with pytest.raises(ValueError, match=r"'The cat sat' has no tags.*annotating_components"):
        nlp("The cat sat")
    assert list(nlp.pipe(["", "  "])), "nothing to read"


def test_corpora_give_gold_tags_or_a_tagger_does(nlp: Language, tmp_path: Path) -> None:
    golden = [example.reference for example in headed_examples(nlp)]
    DocBin(docs=golden, store_user_data=True).to_disk(tmp_path / "gold.spacy")
    read = [example.predicted for example in Corpus(tmp_path / "gold.spacy")(nlp)]
    assert [[t.tag_ for t in doc] for doc in read] == [[t.tag_ for t in doc] for doc in golden]
    (scores,) = evaluate(nlp, [tmp_path / "gold.spacy"])["results"]
    assert scores["const_evalb_f"] == 1
    tagged = spacy.blank("en")
    tagged.add_pipe("tagger")
    tagged.add_pipe("lal_constituency", source=nlp)
    assert not any(
        e.predicted.has_annotation("TAG") for e in Corpus(tmp_path / "gold.spacy")(tagged)
    )
    plain = spacy.blank("en")
    plain.add_pipe("lal_constituency", config={"model": TINY})
    assert not any(
        e.predicted.has_annotation("TAG") for e in Corpus(tmp_path / "gold.spacy")(plain)
    )


def test_attention_can_be_read() -> None:
    nlp = pipeline("positions")
    train_on(nlp, with_gold_tags(headed_examples(nlp)), 2)
    doc = Doc(nlp.vocab, words=["The", "cat", "sat"], tags=["DT", "NN", "VBD"])
    assert explain(nlp, doc)


def test_settings_that_contradict() -> None:
    with pytest.raises(ValueError, match="tag_depth > 0"):
        BiLSTMInput(tag_depth=0, tags="doc")
    with pytest.raises(ValueError, match='content = "tag"'):
        BranchInput(content="word", tags="doc")
    with pytest.raises(ValueError, match="setting of its own"):
        BranchInput(bilstm=BiLSTMInput(), tags="doc")
    with pytest.raises(ValueError, match="tags must be one of"):
        PositionInput(tags="gold")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="a setting of parsers"):
        spacy.blank("en").add_pipe(
            "lisa_srl",
            config={
                "model": {"input_encoder": {"@misc": "spacy-lal.BiLSTMRows.v1", "tags": "doc"}}
            },
        )


def test_content_of_given_tags_is_a_row_of_the_table() -> None:
    """Content is the projected word vector plus the embedding of the given tag, as in Mrini et al.
    2020 (section 3.1); in the delexicalised branch (Vu-Tran et al., section 2.2) the tag alone."""
    x, given = torch.randn(1, 3, 5), torch.tensor([[2, 0, -1]])
    rows = PositionInput(width=8, max_length=4, tags="doc").build(5, 3)
    tags, shares = rows.read_tags(x, given, 3)
    assert shares.tolist() == [[[0, 0, 1], [1, 0, 0], [0, 0, 0]]]
    assert tags.argmax(-1)[0, :2].tolist() == [2, 0]
    content = x @ rows.content.weight.T
    content[0, 0] += rows.tag_embedding[2]
    content[0, 1] += rows.tag_embedding[0]
    rows.layer_norm = torch.nn.Identity()  # type: ignore[assignment]
    found, _ = rows(x, torch.tensor([3]), given)
    torch.testing.assert_close(found[0, 1:4, :4], content[0])
    branch = BranchInput(width=8, max_length=4, tags="doc").build(5, 3)
    branch.layer_norm = torch.nn.Identity()  # type: ignore[assignment]
    found, _ = branch(x, torch.tensor([3]), given)
    torch.testing.assert_close(found[0, 1, 5:9], branch.content.weight[:, 2])
    other, _ = branch(torch.randn(1, 3, 5), torch.tensor([3]), given)
    torch.testing.assert_close(found[..., 5:], other[..., 5:])
