"""Every public name, resolved the way spaCy resolves it."""

from __future__ import annotations

import inspect
import subprocess
import sys
import tomllib
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path

import pytest
import spacy
from spacy.util import registry

NAMES = {
    "architectures": [
        "spacy-lal.BiLSTMLayers.v1",
        "spacy-lal.EncoderLayers.v1",
        "spacy-lal.LISA.v1",
        "spacy-lal.LabelAttentionDependencyParser.v1",
        "spacy-lal.LabelAttentionParser.v1",
        "spacy-lal.MHMLA.v1",
        "spacy-lal.PretrainedEncoder.v1",
        "spacy-lal.ReleasedParser.v1",
        "spacy-lal.TransformerLayers.v1",
        "spacy-lal.TwoStageParser.v1",
        "spacy-lal.WithEncoder.v1",
        "spacy-lal.WithOwnVectors.v1",
        "spacy-lal.WithWordLayer.v1",
        "spacy-lal.WordAffixEmbed.v1",
        "spacy-lal.WordCharEmbed.v1",
    ],
    "augmenters": ["spacy-lal.corrupt.v1"],
    "callbacks": ["spacy-lal.heads_of_docs.v1", "spacy-lal.treebank_tokens.v1"],
    "misc": [
        "spacy-lal.BiLSTMRows.v1",
        "spacy-lal.BiaffineDependencies.v1",
        "spacy-lal.BiaffineSpans.v1",
        "spacy-lal.BranchRows.v1",
        "spacy-lal.LabelAttentionEncoder.v1",
        "spacy-lal.PositionRows.v1",
        "spacy-lal.TransformerSpans.v1",
        "spacy-lal.crf_objective.v1",
        "spacy-lal.map_decoder.v1",
        "spacy-lal.margin_objective.v1",
        "spacy-lal.margin_objective.v2",
        "spacy-lal.mbr_decoder.v1",
    ],
    "optimizers": ["spacy-lal.GroupedAdam.v1", "spacy-lal.Nadam.v1"],
    "readers": ["spacy-lal.Corpus.v1", "spacy-lal.Mix.v1", "spacy-lal.Paragraphs.v1"],
    "loggers": ["spacy-lal.PlateauLogger.v1"],
    "schedules": ["spacy-lal.inverse_sqrt.v1", "spacy-lal.plateau.v1"],
    "scorers": [
        "spacy-lal.attachment_scorer.v1",
        "spacy-lal.constituency_scorer.v1",
        "spacy-lal.detection_scorer.v1",
        "spacy-lal.srl_scorer.v1",
    ],
}
ENCODERS = [f"spacy-lal.{name}.v1" for name in ("PretrainedEncoder", "ReleasedParser")]
FACTORIES = [
    "gec_detector",
    "lal_constituency",
    "lal_dependency",
    "lal_empty_tensor",
    "lal_list_items",
    "lal_tok2vec",
    "lisa_srl",
    "spanformer",
]
CLI = ["lal"]


@pytest.mark.parametrize(("kind", "name"), [(k, n) for k, names in NAMES.items() for n in names])
def test_registered_functions(kind: str, name: str) -> None:
    if name in ENCODERS and find_spec("tokenizers") is None:
        with pytest.raises(ImportError, match=r"pip install 'spacy-lal\[encoders\]'"):
            registry.get(kind, name)
    else:
        assert callable(registry.get(kind, name))


@pytest.mark.parametrize("kind", NAMES)
def test_types_are_objects(kind: str) -> None:
    """confection 0.1 (spaCy 3.8.11 and before) checks nothing against names of types."""
    for name in NAMES[kind]:
        if name not in ENCODERS or find_spec("tokenizers"):
            found = inspect.signature(registry.get(kind, name)).parameters.values()
            assert not [p.name for p in found if isinstance(p.annotation, str)], name


@pytest.mark.parametrize("name", FACTORIES)
def test_types_of_factories_are_objects(name: str) -> None:
    (entry,) = entry_points(group="spacy_factories", name=name)
    found = inspect.signature(entry.load()).parameters.values()
    assert not [p.name for p in found if isinstance(p.annotation, str)]


def test_types_of_the_factory_in_benepars_place_are_objects() -> None:
    pytest.importorskip("tokenizers")
    from spacy_lal.compat.benepar import make_benepar

    found = inspect.signature(make_benepar).parameters.values()
    assert not [p.name for p in found if isinstance(p.annotation, str)]


@pytest.mark.parametrize("name", FACTORIES)
def test_factories(name: str) -> None:
    assert spacy.blank("xx").has_factory(name)


def test_no_name_is_missing_here() -> None:
    """Configs name these entry points: none of them may go. New ones need no place here."""
    declared = {
        group.removeprefix("spacy_").removeprefix("thinc_"): {
            e.name for e in entry_points(group=group) if e.value.startswith("spacy_lal")
        }
        for group in _groups()
    }
    for kind, names in {**NAMES, "factories": FACTORIES, "cli": CLI}.items():
        assert declared[kind] >= set(names)


def _groups() -> list[str]:
    pyproject = Path(__file__).parents[1] / "pyproject.toml"
    return list(tomllib.loads(pyproject.read_text(encoding="utf8"))["project"]["entry-points"])


def test_import_has_no_side_effects() -> None:
    """Importing the package loads neither torch nor spaCy."""
    script = "import sys, spacy_lal; print('torch' in sys.modules, 'spacy' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["False", "False"]
