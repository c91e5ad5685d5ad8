"""Pipelines for long runs: so many threads, and memory that doesn't grow."""

from __future__ import annotations

import os

from spacy.language import Language

PRIMITIVES = "ONEDNN_PRIMITIVE_CACHE_CAPACITY"
"""The environment variable that says how many prepared operations oneDNN keeps."""
KEPT = "64"
"""How many it keeps here, unless the variable is set."""


def load(model: str, threads: int = 0, gpu: int = -1) -> Language:
    """The pipeline, on this GPU or the CPU (-1), with so many threads, 0 for torch's own choice.

    Unless the environment says otherwise, oneDNN, which compiles what torch computes on a CPU for
    every shape of a batch, keeps the latest 64 of them instead of 1,024: batches of sentences
    hardly ever have a shape again. It asks when it is first used in a process.
    """
    os.environ.setdefault(PRIMITIVES, KEPT)
    import spacy
    import torch

    from ..pipeline.loading import load_pipeline

    if threads:
        torch.set_num_threads(threads)
    if gpu >= 0:
        spacy.require_gpu(gpu)
    return load_pipeline(model)
