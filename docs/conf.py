"""The documentation as a site: `make site` writes it to `site/`.

The source folder is the repository's top, so that pages may link to configs, projects and packages
by the same relative paths as on a forge.
"""

import re
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

project = "spacy-lal"
author = "The spacy-lal authors"
extensions = [
    *("myst_parser", "sphinx_copybutton", "sphinx_design"),
    *("sphinx.ext.autodoc", "sphinx.ext.apidoc", "sphinx.ext.viewcode"),
]
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

myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3
# a copied example has no prompts and no output
copybutton_prompt_text = r">>> |\.\.\. "
copybutton_prompt_is_regexp = True
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
html_show_copyright = False
# leads from the site's top to docs/index.html
html_extra_path = ["site_root"]


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


def skip_member(
    app: Any, what: str, name: str, value: Any, skip: bool, options: Any
) -> bool | None:
    """Keep public functions and methods without a docstring: autodoc would leave them out.

    A function that has its module's name has its entry there alone: in the package it would have
    the module's address.
    """
    home = str(getattr(getattr(value, "fget", value), "__module__", ""))
    if home.endswith(f".{name}") and app.env.current_document.autodoc_module != home:
        return True
    return False if skip and home.startswith("spacy_lal") and not name.startswith("_") else None


def setup(app: Any) -> None:
    """Called by Sphinx."""
    app.connect("autodoc-process-docstring", parameters_as_list)
    app.connect("autodoc-skip-member", skip_member)
