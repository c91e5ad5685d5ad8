"""Which component of a pipeline is explained, and what is said where there is none."""

from __future__ import annotations

import pytest
import spacy
from spacy.language import Language
from spacy.tokens import DocBin
from spacy.training import Example
from typer.testing import CliRunner

from spacy_lal.cli import app
from spacy_lal.interpret import error_analysis, explain, explain_docs, top_heads

from ..pipeline.toy import TREES, dependency_pipeline, gold_doc, headed_examples, tiny_pipeline

FUNCTIONS = {
    "explain": lambda nlp, docs: explain(nlp, docs[0]),
    "explain_docs": lambda nlp, docs: list(explain_docs(nlp, docs)),
    "top_heads": lambda nlp, docs: top_heads(nlp, docs),
    "error_analysis": lambda nlp, docs: error_analysis(nlp, [Example(d.copy(), d) for d in docs]),
}


def pipeline_of(*factories: str) -> Language:
    nlp = spacy.blank("en")
    for factory in factories:
        nlp.add_pipe(factory)
    return nlp


def with_roles(nlp: Language) -> Language:
    """As `en_lal_sm` is made: a parser, then LISA."""
    both = spacy.blank("en")
    both.add_pipe("lal_constituency", source=nlp)
    both.add_pipe("lisa_srl")
    return both


@pytest.mark.parametrize("name", FUNCTIONS)
def test_lisa_beside_the_parser_is_not_taken(nlp, name):
    docs = [gold_doc(nlp, tree) for tree in TREES[:2]]
    found, alone = (FUNCTIONS[name](pipeline, docs) for pipeline in (with_roles(nlp), nlp))
    if name == "top_heads":
        assert found.to_dict() == alone.to_dict()
    elif name == "error_analysis":
        assert found.to_dict() == alone.to_dict()
        assert found.correct > 0
    elif name == "explain":
        assert [e.spans for e in found] == [e.spans for e in alone] != [[]]
    else:
        assert [[e.spans for _, e in doc] for doc in found] == [
            [e.spans for _, e in doc] for doc in alone
        ]


def refused() -> list[tuple[object, str]]:
    parsers = tiny_pipeline()
    parsers.add_pipe("lal_constituency", name="other")
    detector, roles = pipeline_of("gec_detector"), pipeline_of("lisa_srl")
    return [
        (pipeline_of(), "found none"),
        (detector, "found none"),
        (roles, "found none"),
        (parsers, "found ['lal_constituency', 'other']"),
        (detector.get_pipe("gec_detector"), "'gec_detector' is no label attention parser"),
        (roles.get_pipe("lisa_srl"), "'lisa_srl' is no label attention parser"),
        ("en_lal_sm", "'en_lal_sm' is no label attention parser"),
    ]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_what_is_no_single_parser(nlp, name):
    docs = [gold_doc(nlp, TREES[0])]
    for pipeline, message in refused():
        with pytest.raises(ValueError, match="label attention parser") as error:
            FUNCTIONS[name](pipeline, docs)
        assert message in str(error.value)
        assert "\n" not in str(error.value)


@pytest.mark.parametrize("name", ["top_heads", "error_analysis"])
def test_a_parser_without_constituents(name):
    heads = dependency_pipeline()
    heads.initialize(lambda: headed_examples(heads))
    with pytest.raises(ValueError, match="'lal_dependency' finds no constituents"):
        FUNCTIONS[name](heads, [gold_doc(heads, TREES[0])])


def test_the_command(nlp, tmp_path):
    DocBin(docs=[gold_doc(nlp, tree) for tree in TREES]).to_disk(tmp_path / "data.spacy")

    def heads(pipeline: Language, *options: str):
        pipeline.to_disk(tmp_path / "model")
        command = ["attention", str(tmp_path / "model"), str(tmp_path / "data.spacy"), *options]
        return CliRunner().invoke(app, command)

    result = heads(with_roles(nlp), "--errors")
    assert result.exit_code == 0, result.output
    assert "constituents" in result.stdout
    result = heads(pipeline_of("sentencizer"), "--errors")
    assert result.exit_code == 1
    assert result.stderr.startswith("attention: expected one label attention parser")
    assert result.stderr.count("\n") == 1
