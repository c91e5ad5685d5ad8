"""Text by the million lines: read, annotated in bounded memory, written in shards that resume."""

from .annotating import annotate_batch

__all__ = ["annotate_batch"]
