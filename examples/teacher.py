"""A report on essays: marks in a hundred words, the surest with their context, and a page.

python examples/teacher.py REPORT.html ESSAY.txt …

The marks say where to look, not what is right: a detector misses most errors and suggests nothing.
"""

from __future__ import annotations

import sys
from pathlib import Path

import spacy
from spacy.tokens import Doc

from spacy_lal import render


def report(name: str, doc: Doc, shown: int = 5) -> str:
    """Return a line with counts, and a line for each of the surest marks."""
    words = [token for token in doc if not (token.is_punct or token.is_space)]
    marked = sorted(
        (token for token in doc if token._.is_error), key=lambda token: -token._.error_score
    )
    rate = 100 * len(marked) / max(1, len(words))
    lines = [f"{name}: {len(words)} words, {len(marked)} marks, {rate:.1f} in a hundred words"]
    for token in marked[:shown]:
        before = doc[max(token.i - 2, 0) : token.i].text
        after = doc[token.i + 1 : token.i + 3].text
        lines.append(f"  {token._.error_score:.2f}  {before} *{token.text}* {after}")
    return "\n".join(lines)


def main(page: str, *essays: str) -> None:
    """Print the reports and write a page with all marks."""
    nlp = spacy.load("en_lal_ged_md")
    docs = list(nlp.pipe(Path(essay).read_text("utf8") for essay in essays))
    for essay, doc in zip(essays, docs, strict=True):
        print(report(Path(essay).stem, doc))
    Path(page).write_text(render(docs, style="errors", page=True, jupyter=False), "utf8")


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
