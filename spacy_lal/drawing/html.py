"""Elements of HTML pictures, as valid XML without inline styles (pages may forbid them)."""

from __future__ import annotations

from collections.abc import Iterable

from .palette import DARK, FAINT, INK, MISSED, PAPER, ROLES, RULE, doubt, style
from .svg import xml

TENTHS = 10
"""Steps of a probability in classes of HTML elements."""


def figure(kind: str, title: str, parts: Iterable[str], *, direction: str = "") -> str:
    """Return a picture made of text, as an element of the class `lal-KIND`."""
    way = f" dir='{direction}'" if direction else ""
    body = "".join(parts)
    return (
        f"<div class='lal lal-text lal-{kind}' role='group' aria-label='{xml(title)}'{way}>"
        f"{body}</div>\n"
    )


def element(tag: str, classes: str, body: str, *, title: str = "", data: str = "") -> str:
    """Return an element; its title is shown on hover."""
    titled = f" title='{xml(title)}'" if title else ""
    return f"<{tag} class='{classes}'{titled}{' ' + data if data else ''}>{body}</{tag}>"


def tenth(probability: float | None) -> int:
    """Return the tenths of a probability, 0 to 10, for a class's name; 10 without a probability."""
    sure = 1.0 if probability is None else min(max(probability, 0.0), 1.0)
    return round(sure * TENTHS)


def _variables(dark: bool) -> str:
    names = {"ink": INK, "faint": FAINT, "paper": PAPER, "rule": RULE, "wrong": MISSED}
    values = {name: DARK[colour] if dark else colour for name, colour in names.items()}
    values |= {f"role-{name.lower()}": pair[dark] for name, pair in ROLES.items()}
    for k in range(TENTHS + 1):
        light = doubt(k / TENTHS)
        values[f"doubt-{k}"] = DARK[light] if dark else light
    return "".join(f"--lal-{name}:{value};" for name, value in values.items())


def _rules() -> str:
    roles = "".join(
        f".lal-role-{name.lower()}{{background:var(--lal-role-{name.lower()})}}" for name in ROLES
    )
    doubts = "".join(
        f".lal-doubt-{k}{{background:var(--lal-doubt-{k})}}"
        f".lal-p{k}{{text-decoration-color:color-mix(in srgb,var(--lal-wrong) "
        f"{25 + 75 * k // TENTHS}%,transparent)}}"
        for k in range(TENTHS + 1)
    )
    return f"{roles}{doubts}"


_TEXT = """
.lal-frame{overflow-x:auto;margin:0 0 1em;max-width:100%}
.lal-frame>svg{max-width:none;display:block}
.lal-text{color:var(--lal-ink);background:var(--lal-paper);font:15px/1.9 Helvetica,Arial,sans-serif;
padding:10px 12px;overflow-wrap:anywhere;text-align:start}
.lal-row{margin:0 0 .5em}
.lal-name{font-size:12px;color:var(--lal-faint);margin-inline-end:.6em;white-space:nowrap}
.lal-role{border:1px solid var(--lal-rule);border-radius:5px;padding:2px 4px;
-webkit-box-decoration-break:clone;box-decoration-break:clone;color:var(--lal-ink)}
.lal-label{font-size:11px;font-weight:bold;letter-spacing:.02em;margin-inline-end:.35em;
unicode-bidi:isolate;white-space:nowrap}
.lal-role-v{font-weight:bold}
.lal-box{display:inline-block;border:1px solid var(--lal-rule);border-radius:5px;
padding:1px 3px 2px;margin:1px;line-height:1.5;vertical-align:middle;max-width:100%;
box-sizing:border-box;color:var(--lal-ink)}
.lal-wrong{text-decoration-line:underline;text-decoration-style:wavy;
text-decoration-thickness:2px;text-underline-offset:4px;text-decoration-skip-ink:none}
.lal-correction{text-decoration:none;border:1px dashed var(--lal-rule);border-radius:5px;
padding:0 4px;margin-inline-start:.3em}
.lal-none{color:var(--lal-faint)}
"""


def text_style() -> str:
    """Return the style sheet of HTML pictures."""
    return (
        f".lal-text{{{_variables(False)}}}"
        f"@media (prefers-color-scheme:dark){{.lal-text{{{_variables(True)}}}}}"
        f"{_TEXT.strip()}{_rules()}"
    ).replace("\n", "")


def all_styles() -> str:
    """Return one style sheet for all HTML and SVG pictures."""
    return text_style() + style()
