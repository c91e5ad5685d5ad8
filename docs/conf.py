"""The documentation as a site: `make site` writes it to `site/`.

The source folder is the repository's top, so that pages may link to configs, projects and packages
by the same relative paths as on a forge.
"""

import ast
import re
import sys
from functools import cache
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

project = "spacy-lal"
author = "The spacy-lal authors"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.apidoc", "sphinx.ext.viewcode"]
root_doc = "docs/index"
include_patterns = [
    "docs/**",
    "README.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "assets/README.md",
    "assets/*/README.md",
    "benchmarks/README.md",
    "examples/README.md",
    "projects/*/README.md",
]
exclude_patterns = ["docs/training/**"]

myst_heading_anchors = 3
# pages beside the site's own, such as a project's README, are reached by links
# docstrings that PyTorch's classes leave to ours, and names that are public in two places
suppress_warnings = ["toc.not_included", "myst.header", "ref.ref", "ref.python"]

apidoc_modules = [
    {
        "path": "../spacy_lal",
        "destination": "docs/api",
        "separate_modules": True,
        "module_first": True,
        "automodule_options": {"members", "show-inheritance"},
    }
]
autodoc_member_order = "bysource"
autodoc_typehints = "description"

html_theme = "furo"
html_title = "spacy-lal"


PARAMETER = re.compile(r"^(\w[\w.*, ]{0,100}): +(.+)")


def parameters_as_list(*arguments: Any) -> None:
    """Make a list of a docstring's lines `name: meaning`, whose continuations are indented."""
    lines: list[str] = arguments[-1]
    made: list[str] = []
    in_list = False
    for line in lines:
        found = PARAMETER.match(line)
        if found and not line.startswith("Raises"):
            made += ["", f"- **{found[1]}**: {found[2]}"]
            in_list = True
        elif in_list and line.startswith(" "):
            made.append(f"  {line.strip()}")
        else:
            if in_list and line:
                made.append("")
            in_list = False
            made.append(line)
    lines[:] = made


@cache
def names_of(module: str) -> frozenset[str]:
    """What a module defines itself: functions, classes and constants, not what it imports."""
    path = Path(__file__).parents[1].joinpath(*module.split("."))
    path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    found = set()
    for node in ast.parse(path.read_text(encoding="utf8")).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names = (name for target in targets for name in ast.walk(target))
            found |= {name.id for name in names if isinstance(name, ast.Name)}
    return frozenset(found)


def skip_member(
    app: Any, what: str, name: str, value: Any, skip: bool, options: Any
) -> bool | None:
    """Keep a module's public names that have no docstring: autodoc would leave them out."""
    module = app.env.current_document.autodoc_module
    if skip and what == "module" and not name.startswith("_") and name in names_of(module):
        return False
    return None


def setup(app: Any) -> None:
    """Called by Sphinx."""
    app.connect("autodoc-process-docstring", parameters_as_list)
    app.connect("autodoc-skip-member", skip_member)
