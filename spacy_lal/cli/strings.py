"""Which strings a packaged pipeline keeps: not the words of its training data."""

from __future__ import annotations

from pathlib import Path

import srsly
from thinc.api import Config

from ..pipeline.loading import load_pipeline

ALL_IN_THEIR_FILES = {
    "gec_detector",
    "lal_constituency",
    "lal_dependency",
    "lal_empty_tensor",
    "lisa_srl",
    "senter",
    "sentencizer",
    "spanformer",
    "tok2vec",
}
"""Factories of components whose own files have all strings that they ever look up by a hash."""


def forget_words(pipeline: Path) -> None:
    """Leave of a pipeline's strings those that loading it adds, and its word vectors' keys.

    spaCy adds every word that it meets to its vocabulary, in training, too. They are megabytes on
    disk and take several times as much memory. A pipeline keeps all its strings if one of its
    components isn't known to do without.
    """
    config = Config().from_disk(pipeline / "config.cfg", interpolate=False)
    components = config.get("components", {}).values()
    if not {component.get("factory") for component in components} <= ALL_IN_THEIR_FILES:
        return
    path = pipeline / "vocab" / "strings.json"
    words: list[str] = srsly.read_json(path)
    srsly.write_json(path, [])
    vocab = load_pipeline(pipeline).vocab
    for word in words:
        # an index by a string gives its hash
        if vocab.strings[word] in vocab.vectors.key2row:
            vocab.strings.add(word)
    vocab.strings.to_disk(path)
