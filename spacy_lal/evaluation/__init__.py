"""What a pipeline's scores on a corpus are, and how fast it is: parses, roles, errors."""

from __future__ import annotations

from typing import Any

from spacy.language import Language


def about(nlp: Language) -> dict[str, Any]:
    """Which pipeline it is, and on how many threads it runs."""
    import torch

    name = f"{nlp.meta['lang']}_{nlp.meta['name']} {nlp.meta['version']}"
    return {"model": name, "threads": torch.get_num_threads()}
