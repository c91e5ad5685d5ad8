"""Tiny transformers, made once."""

import pytest

WORDS = "She doesn't like ähnliche words, but Unbelievable ones."


@pytest.fixture(scope="session")
def folders(tmp_path_factory):
    """Folder by kind of model."""
    pytest.importorskip("transformers")
    import torch

    from tests import tiny_transformers

    torch.manual_seed(0)
    made = {}
    for kind in ("bert", "xlmr", "xlnet", "roberta", "electra", "mpnet"):
        made[kind] = tmp_path_factory.mktemp(kind)
        getattr(tiny_transformers, f"write_{kind}")(made[kind], WORDS.split())
    return made
