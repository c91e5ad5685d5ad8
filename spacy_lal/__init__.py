"""Constituency trees, dependencies, semantic roles and grammatical errors, as spaCy components.

The public names are loaded when they are asked for: importing the package loads neither torch nor
spaCy.
"""

from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .annotate import annotate_batch as annotate_batch
    from .annotations import Frame as Frame
    from .annotations import GrammarError as GrammarError
    from .annotations import get_constituents as get_constituents
    from .annotations import get_errors as get_errors
    from .annotations import get_frames as get_frames
    from .annotations import install_extensions as install_extensions
    from .annotations import set_constituents as set_constituents
    from .annotations import set_errors as set_errors
    from .annotations import set_frames as set_frames
    from .annotations import span_doc as span_doc
    from .interpret import explain as explain
    from .trees.tree import ConstituentTree as ConstituentTree
    from .visualize import render as render

try:
    __version__ = version("spacy-lal")
except PackageNotFoundError:  # a source tree that was never installed
    __version__ = "0.0.0"

_NAMES = {
    "annotate": ["annotate_batch"],
    "annotations": [
        *("Frame", "GrammarError", "get_constituents", "get_errors", "get_frames"),
        *("install_extensions", "set_constituents", "set_errors", "set_frames", "span_doc"),
    ],
    "interpret": ["explain"],
    "trees.tree": ["ConstituentTree"],
    "visualize": ["render"],
}
_HOMES = {name: home for home, names in _NAMES.items() for name in names}

__all__ = ["__version__", *_HOMES]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_HOMES[name]}", __name__), name)


def __dir__() -> list[str]:
    return [*globals(), *_HOMES]
