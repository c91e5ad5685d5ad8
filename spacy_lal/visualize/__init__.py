"""Pictures of what the components find, as strings of SVG and HTML."""

from .forest import to_forest, to_graphviz
from .plots import calibration_svg, curves_svg, reliability, training_curve
from .render import STYLES, render, serve

__all__ = [
    "STYLES",
    "calibration_svg",
    "curves_svg",
    "reliability",
    "render",
    "serve",
    "to_forest",
    "to_graphviz",
    "training_curve",
]
