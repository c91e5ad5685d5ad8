"""A report on essays: marks in a hundred words, the surest with their context, and a page.

python examples/teacher.py REPORT.html ESSAY.txt …

The marks say where to look, and what may be right there: a detector misses most errors.
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
    errors = sorted(doc._.grammar_errors, key=lambda error: -error.score)
    rate = 100 * len(errors) / max(1, len(words))
    lines = [f"{name}: {len(words)} words, {len(errors)} marks, {rate:.1f} in a hundred words"]
    for span, label, score, suggestions in errors[:shown]:
        before = doc[max(span.start - 2, 0) : span.start].text
        after = doc[span.end : span.end + 2].text
        better = f" -> {suggestions[0].text or '(nothing)'}" if suggestions else ""
        lines.append(
            f"  {score:.2f}  {before} *{span.text}* {after}{better}  ({spacy.explain(label)})"
        )
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
