"""Constituency trees and dependencies by label attention, as trainable spaCy components."""

from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .interpret import explain

try:
    __version__ = version("spacy-lal")
except PackageNotFoundError:  # a source tree that was never installed
    __version__ = "0.0.0"

__all__ = ["__version__", "explain"]


def __getattr__(name: str) -> Any:
    """`explain`, when it is asked for: importing the package loads neither torch nor spaCy."""
    if name == "explain":
        from .interpret import explain

        return explain
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
