"""`spacy.explain` knows every label of the pipelines that ship."""

import warnings

import pytest
import spacy

import spacy_lal
from spacy_lal.annotations import install_extensions


@pytest.mark.parametrize(
    "name", ["en_lal_md", "fr_lal_md", "id_lal_md", "is_lal_md", "en_lal_ged_md"]
)
def test_labels_of_pipelines(name):
    nlp = pytest.importorskip(name).load()
    labels = set()
    for _, pipe in nlp.pipeline:
        data = getattr(pipe, "label_data", None)
        if isinstance(data, dict):
            labels |= {part for label in data.get("labels", ()) for part in label.split("::")}
            labels |= {*data.get("tags", ()), *data.get("relations", ())}
            labels |= {role[2:] for role in data.get("roles", ()) if role != "O"}
    labels = {label.rstrip("+") for label in labels} - {"<H>"}
    labels |= {*nlp.get_pipe("gec_detector").labels} if "gec_detector" in nlp.pipe_names else set()
    assert labels
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert [label for label in sorted(labels) if not spacy.explain(label)] == []


def test_meanings():
    install_extensions()
    assert spacy.explain("WHNP") == "noun phrase with a wh-word"
    assert spacy.explain("SBAR") == "clause introduced by a subordinating conjunction or a wh-word"
    assert spacy.explain("nsubj:pass") == "nominal subject of a passive"
    assert spacy.explain("R-ARGM-LOC").endswith(": place")
    assert spacy.explain("C-ARG1").startswith("continuation of an argument: patient")
    assert spacy.explain("M:DET") == "missing: determiner"
    assert spacy.explain("NN") == "noun, singular or mass"  # spaCy's own
    assert spacy.explain("ADV") == "adverb"


def test_frames_that_only_help():
    nlp = pytest.importorskip("en_lal_sm").load()
    doc = nlp("The letter had been sent by Ann, and he is tall.")
    kept = [frame.predicate.text for frame in spacy_lal.get_frames(doc, helping=False)]
    assert "sent" in kept
    assert "is" in kept  # a copula has arguments
    assert not {"had", "been"} & {*kept}
    assert {"had", "been"} <= {frame.predicate.text for frame in doc._.frames}
    for style in ("srl", "srl_lanes"):
        full, fewer = (
            spacy_lal.render(doc, style, jupyter=False, options={"helping": helping})
            for helping in (True, False)
        )
        assert len(fewer) < len(full)
