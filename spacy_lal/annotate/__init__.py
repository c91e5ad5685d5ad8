"""Annotation of large amounts of text, in bounded memory and resumable shards."""

from .annotating import annotate_batch
from .reading import read_docs

__all__ = ["annotate_batch", "read_docs"]
