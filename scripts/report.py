"""What scripts write into a page of Markdown: a part between two markers, and cells of tables."""

from __future__ import annotations

from pathlib import Path
from statistics import mean, stdev


def markers(name: str) -> tuple[str, str]:
    """What stands before and after the part of a page that has this name."""
    return f"<!-- {name}: start -->", f"<!-- {name}: end -->"


def split(page: Path, name: str) -> tuple[str, str]:
    """The page before the part and after it. Raises ValueError if it has no such part."""
    start, end = markers(name)
    text = page.read_text(encoding="utf8") if page.exists() else ""
    before, found, rest = text.partition(start)
    _, closed, after = rest.partition(end)
    if not found or not closed:
        raise ValueError(f"{page} has no {start} {end}")
    return before, after


def write(page: Path, name: str, text: str) -> None:
    """Write lines instead of what stands in the part; the rest of the page stays."""
    before, after = split(page, name)
    start, end = markers(name)
    page.write_text(f"{before}{start}\n{text}{end}{after}", encoding="utf8")


def spread(values: list[float]) -> str:
    """Their mean and, of several, their standard deviation."""
    if len(values) < 2:
        return "–" if not values else f"{values[0]:.2f}"
    return f"{mean(values):.2f} ± {stdev(values):.2f}"
