"""A page keeps what stands outside the part that a script writes."""

from __future__ import annotations

from pathlib import Path

import pytest

from .running import load_script

PAGE = (
    "before\n<!-- a: start -->\nold\n<!-- a: end -->\nbetween\n<!-- b: start --><!-- b: end -->\n"
)


def test_only_the_named_part_is_written(tmp_path: Path) -> None:
    report = load_script("report")
    page = tmp_path / "page.md"
    page.write_text(PAGE, "utf8")
    report.write(page, "b", "new b\n")
    report.write(page, "a", "new a\n")
    assert page.read_text("utf8") == (
        "before\n<!-- a: start -->\nnew a\n<!-- a: end -->\nbetween\n"
        "<!-- b: start -->\nnew b\n<!-- b: end -->\n"
    )


@pytest.mark.parametrize("text", [None, "", "<!-- a: start -->\nkept\n", "kept\n<!-- a: end -->\n"])
def test_without_both_markers_nothing_is_written(text: str | None, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    if text is not None:
        page.write_text(text, "utf8")
    with pytest.raises(ValueError, match=r"page.md has no <!-- a: start --> <!-- a: end -->"):
        load_script("report").write(page, "a", "new\n")
    assert (page.read_text("utf8") if page.exists() else None) == text


def test_mean_and_standard_deviation() -> None:
    spread = load_script("report").spread
    assert [spread(values) for values in ([], [1.0], [1.0, 3.0])] == ["–", "1.00", "2.00 ± 1.41"]
