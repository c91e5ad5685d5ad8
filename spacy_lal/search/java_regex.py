r"""Regular expressions of Java, in which Tregex's queries are written, as Python's.

Inline flags in the middle, as in `/^(?i)the/`, named groups and the ends `\z` and `\Z` are
rewritten. `\w`, `\d`, `\b` and case are ASCII's unless (?u) or (?U) are given, as in Java.
Java's classes that Python lacks (`\p{...}`, `[a-z&&[^b]]`) are errors.
"""

import re

_PIECE = re.compile(
    r"""\\.                                                       # an escape
    | \[\^?\]?(?:\\.|[^\]\\])*\]                                  # a class
    | \(\?(?P<on>[a-zA-Z]*)(?:-(?P<off>[a-zA-Z]+))?(?P<end>[:)])  # flags, maybe none
    | \(\?<(?=[a-zA-Z]) | [()|] | [^\\\[()|]+ | .""",
    re.VERBOSE | re.DOTALL,
)
_REWRITTEN = {r"\z": r"\Z", r"\Z": r"(?=\n?\Z)", r"\h": r"[ \t\xa0]", "(?<": "(?P<"}


def java_regex(text: str) -> re.Pattern[str]:
    """Compile a regular expression of Java. Raises re.error."""
    made: list[str] = []
    flags: list[list[str]] = [[]]
    """For each open bracket the flags that hold up to its end."""
    for piece in _PIECE.finditer(text):
        symbol = piece[0]
        if symbol.startswith("[") and "&&" in symbol:
            raise re.error("no intersections of classes (&&)")
        if symbol in (r"\p", r"\P"):
            raise re.error(rf"no classes {symbol}{{...}}")
        if piece["end"]:
            off = _flags(piece["off"] or "")
            symbol = f"(?{_flags(piece['on'])}{'-' if off else ''}{off}:"
        if piece["end"] == ")":
            flags[-1].append(symbol)
        elif symbol.startswith("("):
            flags.append([])
        elif symbol == "|":
            symbol = ")" * len(flags[-1]) + "|" + "".join(flags[-1])
        elif symbol == ")" and len(flags) > 1:
            symbol += ")" * len(flags.pop())
        made.append(_REWRITTEN.get(symbol, symbol))
    return re.compile("".join(made) + ")" * len(flags[-1]), re.ASCII)


def _flags(letters: str) -> str:
    """Return Python's flags: u and U concern Unicode; d, of line ends, has no counterpart."""
    if wrong := set(letters) - set("idmsuUx"):
        raise re.error(f"no flag {min(wrong)!r}")
    return "".join(sorted(set(letters.replace("d", "").replace("U", "u"))))
