"""Errors in roles as corrections in sequence (He et al. 2017, section 4; Strubell et al. 2018,
figures 3 and 4).

Each correction sees what earlier ones left. The rise of F1 measures the errors of its kind.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import permutations, product
from typing import Any

from ..annotations.frames import CONTINUATION, PREDICATE, FrameSpans
from ..scoring.srl_eval import SrlReport, propositions, score_sentence
from ..trees.tree import LabelledSpan

Spans = list[LabelledSpan]
Change = tuple[Spans, Spans]
"""Predicted arguments, and the gold ones that take their place."""
RoleSentence = tuple[Sequence[FrameSpans], Sequence[FrameSpans], Sequence[LabelledSpan] | None]
"""Gold and predicted frames, and gold constituents in preorder, None without a tree."""

CORRECTIONS = (
    *("fix labels", "move core argument", "merge spans", "split spans"),
    *("fix boundary", "drop argument", "add argument"),
)
"""The corrections in their order."""
_CORE = re.compile(r"A(RG)?[0-5A]")


def _first_change(kind: str, gold: Spans, found: Spans) -> Change | None:
    """Return the first change of one of `CORRECTIONS`, of a predicted span that isn't gold:

    fix labels: its borders are gold. move core argument: to the only gold span of its label,
    elsewhere. merge spans: two, at most one word apart, become a gold one. split spans: one becomes
    two gold ones, at most one word apart. fix boundary: it overlaps a gold span of its label. drop
    argument: it overlaps no gold span. add argument: a gold span overlaps no predicted one. Moved,
    widened and added spans overlap no other predicted one.
    """
    wrong, missing = ([s for s in a if s not in b] for a, b in ((found, gold), (gold, found)))
    labels = Counter(label for *_, label in gold)
    pairs = product(wrong, missing)

    def free(span: LabelledSpan, spans: Spans, other_than: LabelledSpan | None = None) -> bool:
        return not any(_overlap(span, other) for other in spans if other != other_than)

    changes: dict[str, Iterator[Change]] = {
        "fix labels": (([p], [g]) for p, g in pairs if p[:2] == g[:2]),
        "move core argument": (
            ([p], [g])
            for p, g in pairs
            if p[2] == g[2] and labels[g[2]] == 1 and _CORE.fullmatch(g[2])
            if not _overlap(p, g) and free(g, found)
        ),
        "merge spans": (
            ([p, q], [g])
            for (p, q), g in product(permutations(wrong, 2), missing)
            if _are_near(p, q) and (p[0], q[1]) == g[:2]
        ),
        "split spans": (
            ([p], [g, h])
            for p, (g, h) in product(wrong, permutations(missing, 2))
            if _are_near(g, h) and (g[0], h[1]) == p[:2]
        ),
        "fix boundary": (
            ([p], [g]) for p, g in pairs if p[2] == g[2] and _overlap(p, g) and free(g, found, p)
        ),
        "drop argument": (([p], []) for p in wrong if free(p, gold)),
        "add argument": (([], [g]) for g in missing if free(g, found)),
    }
    return next(changes[kind], None)


def _overlap(a: LabelledSpan, b: LabelledSpan) -> bool:
    return a[0] < b[1] and b[0] < a[1]


def _are_near(a: LabelledSpan, b: LabelledSpan) -> bool:
    return 0 <= b[0] - a[1] <= 1


def correct_roles(sentences: Iterable[RoleSentence]) -> dict[str, Any]:
    """Return srl-eval.pl's scores, end to end, before (`predicted`) and after every correction, and
    the number of its changes (`corrections`).

    `phrases` has the number of merges and splits by type of phrase, and their share: the innermost
    gold constituent of Y in [X][Y] -> [XY] and [XY] -> [X][Y], "none" without one. Sentences
    without a tree don't count there.

    Changes are made one by one. Each puts gold arguments in their places; two can't move to the
    same place. Pieces of an argument are corrected apart. Arguments of a wrong predicate are
    dropped, those of a missed one added; with gold predicates the corrections are the paper's.
    """
    reports = [SrlReport() for _ in range(len(CORRECTIONS) + 1)]
    changes, merged, split = Counter[str](), Counter[str](), Counter[str]()
    for gold_frames, predicted, constituents in sentences:
        phrases = {(i, j): re.split("[-=]", label)[0] for i, j, label in constituents or ()}
        for pair in propositions(gold_frames, predicted):
            gold, found = map(_arguments, pair)
            reports[0] += _report(gold, found)
            for k, name in enumerate(CORRECTIONS, start=1):
                while change := _first_change(name, gold, found):
                    old, new = change
                    found = sorted([span for span in found if span not in old] + new)
                    changes[name] += 1
                    if constituents is not None and len(old) + len(new) == 3:
                        counts, (_, y) = (merged, old) if len(old) == 2 else (split, new)
                        counts[phrases.get(y[:2], "none")] += 1
                reports[k] += _report(gold, found)
    both = merged + split
    return {
        "corrections": [
            {"correction": name, **report.overall.to_dict(), "changes": changes[name]}
            for name, report in zip(("predicted", *CORRECTIONS), reports, strict=True)
        ],
        "phrases": {
            kind: {"merged": merged[kind], "split": split[kind], "share": count / both.total()}
            for kind, count in sorted(both.items(), key=lambda item: (-item[1], item[0]))
        },
    }


def _arguments(spans: Sequence[LabelledSpan]) -> Spans:
    verb = PREDICATE, CONTINUATION + PREDICATE
    return sorted(span for span in spans if span[2] not in verb)


def _report(gold: Spans, found: Spans) -> SrlReport:
    return score_sentence([FrameSpans(0, "", gold)], [FrameSpans(0, "", found)])
