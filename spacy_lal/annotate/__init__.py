"""Annotation of large amounts of text, in bounded memory and resumable shards."""

from .annotating import annotate_batch

__all__ = ["annotate_batch"]
