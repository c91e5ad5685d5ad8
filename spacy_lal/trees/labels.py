"""Labels of treebanks, without their functions and features."""

import re

_FEATURES = re.compile(r"##.*?(?:##|$)")
_FUNCTION = re.compile(r"(?<=.)[-=].*")  # never at the beginning: -LRB- is a tag


def clean_label(label: str, *, functions: bool = False) -> str:
    """Return the bare category: NP for `NP-SBJ-1`, `NP=2` and `NP##case=nom##`; -LRB- is itself.
    functions: whether to keep functions: NP-SBJ-1."""
    label = _FEATURES.sub("", label)
    return label if functions or label.startswith("-") else _FUNCTION.sub("", label)
