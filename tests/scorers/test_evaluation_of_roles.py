"""What `evaluate-srl` compares, apart from the model: parses of others, groups of arguments."""

from pathlib import Path

import pytest
import spacy
from spacy.tokens import Doc
from spacy.training import Example

from spacy_lal.evaluation.roles import _heads_of

NLP = spacy.blank("en")


def test_parses_without_heads_are_none(tmp_path: Path) -> None:
    """Or the model's own would be scored under their name."""
    NLP.to_disk(tmp_path / "none")
    bare = Doc(NLP.vocab, words=["It", "is"])
    parsed = Doc(NLP.vocab, words=["It", "is"], heads=[1, 1], deps=["nsubj", "ROOT"])
    with pytest.raises(ValueError, match="the corpus has no gold heads"):
        _heads_of("gold", NLP, [Example(bare.copy(), bare)])
    with pytest.raises(ValueError, match=r"none finds no heads"):
        _heads_of(str(tmp_path / "none"), NLP, [Example(bare, parsed)])
    examples = [Example(bare, parsed), Example(bare.copy(), bare)]
    assert _heads_of("gold", NLP, examples)[0] == ([1, 1], ["nsubj", "ROOT"])
