"""README and docs do what they show. How: see pages.py."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from .pages import ROOT, Page

for package in ("en_lal_sm", "en_lal_ged_md"):
    pytest.importorskip(package, reason=f"pip install ./packages/{package}")

ALL_SPELLINGS = True
FOLDERS = ("assets", "benchmarks", "configs", "docs", "examples", "projects", "scripts")
MODELS = {
    "benepar_en3": "tests/fixtures/benepar/bert",
    "lal_parser": "tests/fixtures/lal_parser",
    "supar": "tests/fixtures/supar",
}
"""In the place of models that users have: small ones."""
PAGES = sorted(
    str(path.relative_to(ROOT))
    for path in (
        *ROOT.glob("*.md"),
        *ROOT.glob("packages/*/README.md"),
        *(page for folder in FOLDERS for page in (ROOT / folder).rglob("*.md")),
    )
    # others have nothing to run, and copying takes longer
    if "```" in path.read_text(encoding="utf8")
)


@pytest.mark.parametrize("name", PAGES)
def test_page(name: str, tmp_path: Path) -> None:
    # without what was trained and downloaded here, gigabytes over all pages
    ignored = {
        "projects": shutil.ignore_patterns("corpus", "training", "metrics"),
        "assets": shutil.ignore_patterns("model.safetensors"),
    }
    for folder in FOLDERS:
        # a pretrained encoder of the user's own may be a link in assets
        there = tmp_path / folder
        shutil.copytree(ROOT / folder, there, ignore=ignored.get(folder), symlinks=True)
    for name_there, here in MODELS.items():
        shutil.copytree(ROOT / here, tmp_path / name_there)
    for file in ("Makefile", "project.yml"):
        shutil.copy(ROOT / file, tmp_path)
    # the first two kinds: to parse all takes as long as all other pages
    checks = tmp_path / "assets/textbook/measured.checks"
    kinds = checks.read_text("utf8").split("\n## ")
    checks.write_text("\n## ".join(kinds[:3]) + "\n", "utf8")
    failures = Page(name, tmp_path).run((ROOT / name).read_text(encoding="utf8"))
    assert not failures, "\n\n".join(failures)
