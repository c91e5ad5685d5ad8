"""`render` and `serve`, with displaCy's parameters."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from spacy.tokens import Doc, Span
from spacy.training import Example
from spacy.util import is_in_jupyter

from ..drawing.comparison import diff_svg
from ..drawing.html import all_styles, text_style
from ..drawing.lines import heads_svg, roles_svg
from ..drawing.marked_text import errors_html, roles_html
from ..drawing.sentence import Sentence
from ..drawing.svg import xml
from ..drawing.trees import Node, boxes_html, tree_svg
from ..trees.tree import ConstituentTree, nodes
from .from_docs import sentences

Options = Mapping[str, Any]


def render(
    docs: Any,
    style: str = "tree",
    page: bool = False,
    minify: bool = False,
    jupyter: bool | None = None,
    options: Options | None = None,
    manual: bool = False,
) -> str:
    """Return pictures of Docs, as a string of SVG or HTML without JavaScript or network access.

    docs: one item or several. "tree", "boxes", "srl", "srl_arcs", "heads" and "errors" draw Docs
        and Spans; the first two also a `ConstituentTree`. "label_attention" and "contributions"
        draw results of `explain`, "layers" those of `interpret.layers_of_words`, "probabilities"
        those of `interpret.span_probabilities`; these four also draw Docs, with the pipeline or its
        component in `options["nlp"]`. "diff" draws an `Example`, or pairs (gold, predicted) in a
        list.
    style: one of `STYLES`, which has the options of each.
    page: a whole HTML page. minify: without line breaks.
    jupyter: show the pictures in a notebook and return "" (None: if this is one).
    manual: `docs` are dicts with the fields of `annotate`'s records: "words" and the picture's
        layer, such as "tags" and "constituents", "frames", "errors" and "error_scores".
    Raises ValueError for an unknown style or option, and for docs that a style can't show.
    """
    options = dict(options or {})
    if style not in STYLES:
        raise ValueError(f"style must be one of {', '.join(STYLES)}, not {style!r}")
    draw, known, of_text = STYLES[style]
    if unknown := sorted({*options} - {*known, "styled"}):
        raise ValueError(
            f"style {style!r} has no option {', '.join(map(repr, unknown))}; it has "
            f"{', '.join(known) or 'none'}"
        )
    styled = bool(options.pop("styled", True))
    show = is_in_jupyter() if jupyter is None else jupyter
    in_page = page or show
    drawn: list[str] = []
    for item in _items(docs, style):
        if manual != isinstance(item, Mapping) and style != "diff":
            raise ValueError(f"manual = {manual}, but this is a {type(item).__name__}")
        # HTML pictures share one style sheet
        own_style = {} if of_text else {"styled": styled and not in_page}
        drawn.append(draw(item, **own_style, **options))
    if in_page:
        drawn = [f"<div class='lal-frame'>\n{picture}</div>\n" for picture in drawn]
    body = "".join(drawn)
    if page:
        body = _page(body, style)
    elif show:
        body = f"<style>{all_styles()}</style>\n{body}"
    elif of_text and styled:
        body = f"<style>{text_style()}</style>\n{body}"
    if minify:
        body = body.strip().replace("\n", "")
    if show:
        from IPython.display import HTML, display

        display(HTML(body))
        return ""
    return body


def serve(
    docs: Any,
    style: str = "tree",
    page: bool = True,
    minify: bool = False,
    options: Options | None = None,
    manual: bool = False,
    port: int = 5000,
    host: str = "127.0.0.1",
) -> None:
    """Show pictures in a browser, at http://127.0.0.1:5000, until Ctrl-C (see `render`). The server
    is for trials only; `python -m spacy lal serve` starts one with a text field."""
    from wsgiref.simple_server import make_server

    html = render(docs, style, page, minify, False, options, manual).encode("utf8")

    def app(environ: dict[str, Any], start_response: Callable[..., Any]) -> list[bytes]:
        start_response("200 OK", [("Content-Type", "text/html; charset=utf-8")])
        return [html]

    with make_server(host, port, app) as server:
        print(f"Pictures at http://{host}:{server.server_port}, until Ctrl-C")
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            print("Stopped")


def _items(docs: Any, style: str) -> list[Any]:
    single = (Doc, Span, ConstituentTree, str, Mapping)
    if isinstance(docs, single) or not isinstance(docs, Iterable):
        return [docs]
    if style == "diff" and isinstance(docs, tuple):
        return [docs]
    return list(docs)


def _page(body: str, style: str) -> str:
    return (
        "<!DOCTYPE html>\n<html xmlns='http://www.w3.org/1999/xhtml' lang='en'>\n<head>\n"
        "<meta charset='utf-8'/>\n"
        "<meta name='viewport' content='width=device-width, initial-scale=1'/>\n"
        f"<title>{xml(style)}</title>\n<style>:root{{color-scheme:light dark}}"
        "body{margin:1rem;font-family:Helvetica,Arial,sans-serif}"
        "@media (prefers-color-scheme:dark){body{background:#0d1117}}"
        f"{all_styles()}</style>\n</head>\n<body>\n<main>\n{body}</main>\n</body>\n</html>\n"
    )


def _read(item: Any, layer: str, made_by: str, helping: bool = True) -> list[Sentence]:
    found = sentences(item, helping)
    if any(getattr(sentence, layer) is None for sentence in found):
        text = item.text if isinstance(item, (Doc, Span)) else str(item)
        shown = text if len(text) < 60 else text[:60] + "…"
        raise ValueError(f"nothing to draw: no {made_by} annotated {shown!r}")
    return found


def _nodes(item: Any, compact: bool) -> list[Node]:
    found = _read(item, "phrases", "parser of constituents")
    return [nodes(sentence, compact=compact) for sentence in found]


def _tree(item: Any, compact: bool = True, **options: Any) -> str:
    return tree_svg(_nodes(item, compact), **options)


def _boxes(item: Any, compact: bool = True) -> str:
    return boxes_html(_nodes(item, compact))


def _srl(item: Any, helping: bool = True) -> str:
    return roles_html(_read(item, "frames", "component for semantic roles", helping))


def _srl_arcs(item: Any, helping: bool = True, styled: bool = True) -> str:
    found = _read(item, "frames", "component for semantic roles", helping)
    return roles_svg(found, styled=styled)


def _heads(item: Any, styled: bool = True) -> str:
    return heads_svg(_read(item, "heads", "parser of dependencies"), styled=styled)


def _errors(item: Any, **options: Any) -> str:
    return errors_html(_read(item, "errors", "detector of errors"), **options)


def _diff(item: Any, **options: Any) -> str:
    if isinstance(item, Example):
        item = item.reference, item.predicted
    if not isinstance(item, Sequence) or len(item) != 2:
        raise ValueError(f"a comparison is of an Example or of (gold, predicted), not {type(item)}")
    return diff_svg(*map(sentences, item), **options)


def _interpreted(item: Any, nlp: Any, look: str, **more: Any) -> list[Any]:
    if not isinstance(item, (Doc, Span)):
        return [item]
    if nlp is None:
        raise ValueError("this style needs the pipeline to draw a Doc: pass options={'nlp': nlp}")
    from .. import interpret

    found = getattr(interpret, look)(nlp, item if isinstance(item, Doc) else item.as_doc(), **more)
    return found if isinstance(found, list) else [found]


def _label_attention(item: Any, nlp: Any = None, **options: Any) -> str:
    found = _interpreted(item, nlp, "explain", method=None)
    return "".join(each.attention_svg(**options) for each in found)


def _contributions(item: Any, nlp: Any = None, **options: Any) -> str:
    found = _interpreted(item, nlp, "explain")
    # skip sentences without constituents; if none has any, the first one raises
    found = [each for each in found if each.spans] or found[:1]
    return "".join(each.contributions_svg(**options) for each in found)


def _layers(item: Any, nlp: Any = None, **options: Any) -> str:
    return "".join(each.svg(**options) for each in _interpreted(item, nlp, "layers_of_words"))


def _probabilities(item: Any, nlp: Any = None, styled: bool = True) -> str:
    found = _interpreted(item, nlp, "span_probabilities")
    return "".join(each.svg(styled=styled) for each in found)


STYLES: dict[str, tuple[Callable[..., str], tuple[str, ...], bool]] = {
    "tree": (_tree, ("edges", "compact", "direction"), False),
    "boxes": (_boxes, ("compact",), True),
    "srl": (_srl, ("helping",), True),
    "srl_arcs": (_srl_arcs, ("helping",), False),
    "heads": (_heads, (), False),
    "errors": (_errors, ("threshold",), True),
    "label_attention": (_label_attention, ("nlp", "heads", "k"), False),
    "contributions": (_contributions, ("nlp", "span", "k"), False),
    "layers": (_layers, ("nlp", "words"), False),
    "probabilities": (_probabilities, ("nlp",), False),
    "diff": (_diff, ("of",), False),
}
"""Function of each style, the style's options, and whether it is HTML rather than SVG."""
