"""New processes that begin like those of "spawn", but cost less."""

from __future__ import annotations

import multiprocessing
from multiprocessing.context import ForkServerContext


def fork_server() -> ForkServerContext:
    """Processes that get everything by pickle, as with "spawn". They are forks of one that has
    imported spaCy and torch, but nothing of ours: that takes longer than what tests do in them."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["spacy", "torch"])
    return context
