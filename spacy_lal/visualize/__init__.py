"""Pictures of Docs and of the components' results, as strings of SVG and HTML."""

from ..drawing.tree_text import to_forest, to_graphviz
from .render import STYLES, render, serve

__all__ = ["STYLES", "render", "serve", "to_forest", "to_graphviz"]
