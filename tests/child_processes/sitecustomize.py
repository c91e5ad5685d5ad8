"""What a process that a test starts imports first: it doesn't see spacy-transformers either.

`tests/conftest.py` puts this folder on the path of such processes, and sets the variable.
"""

import importlib.metadata
import os
from collections.abc import Iterator

everywhere = importlib.metadata.DistributionFinder.Context()
find_all = importlib.metadata.MetadataPathFinder.find_distributions


def find_others(
    context: importlib.metadata.DistributionFinder.Context = everywhere,
) -> Iterator[importlib.metadata.Distribution]:
    """All distributions but spacy-transformers."""
    return (found for found in find_all(context) if "spacy_transformers" not in str(found._path))


if os.environ.get("WITHOUT_SPACY_TRANSFORMERS"):
    importlib.metadata.MetadataPathFinder.find_distributions = staticmethod(find_others)
