"""`render` and `serve`: pictures as displaCy makes them, of what this package finds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from spacy.tokens import Doc, Span
from spacy.util import is_in_jupyter

from ..trees.tree import ConstituentTree
from .arcs import heads_svg, roles_svg
from .boxes import boxes_html
from .diff import diff_svg
from .errors import errors_html
from .html import all_styles, text_style
from .label_heads import attention_svg, span_contributions_svg
from .layer_attention import layer_attention_svg, layers_of_words_svg
from .probabilities import probabilities_svg
from .roles import roles_html
from .sentences import Sentence, sentences
from .svg import xml
from .tree import tree_svg

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
    """Pictures of Docs, as strings of SVG or HTML. They need no JavaScript and no network.

    docs: one thing or several. For "tree", "boxes", "srl", "srl_arcs", "heads" and "errors" Docs
        or Spans; for the first two also a `ConstituentTree`. For "label_attention" and
        "contributions" what `explain` returns, or Docs; for "layers" what
        `interpret.layers_of_words` returns, or Docs; for "probabilities" what
        `interpret.span_probabilities` returns, or Docs. With Docs, these four need
        `options["nlp"]`, the pipeline or its component. For "diff" an `Example`, or pairs
        (gold, predicted) in a list.
    style: one of `STYLES`, which says the options of each.
    page: a whole HTML page. minify: without line breaks. jupyter: show the pictures in a notebook
        and return "" (None: if this is one).
    manual: `docs` are dicts with the fields of `annotate`'s records: "words" and what a picture is
        of, "tags" and "constituents", "frames", "errors" and "error_scores".
    Raises ValueError for a style or an option that is none, and for docs that a style can't show.
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
        if of_text:
            drawn.append(draw(item, **options))
        else:
            drawn.append(draw(item, styled=styled and not in_page, **options))
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
    """Show pictures in a browser, at http://127.0.0.1:5000, until Ctrl-C. See `render`.

    For trying it out: it is no server for others. `python -m spacy lal serve` has one where you
    type text.
    """
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


# Styles: from one of `docs` and options to a picture


def _read(item: Any, layer: str, made_by: str) -> list[Sentence]:
    found = sentences(item)
    if any(getattr(sentence, layer) is None for sentence in found):
        raise ValueError(f"nothing to draw: no {made_by} annotated {_shown(item)}")
    return found


def _shown(item: Any) -> str:
    text = item.text if isinstance(item, (Doc, Span)) else str(item)
    return repr(text if len(text) < 60 else text[:60] + "…")


def _tree(item: Any, **options: Any) -> str:
    return tree_svg(_read(item, "phrases", "parser of constituents"), **options)


def _boxes(item: Any, **options: Any) -> str:
    return boxes_html(_read(item, "phrases", "parser of constituents"), **options)


def _srl(item: Any) -> str:
    return roles_html(_read(item, "frames", "component for semantic roles"))


def _srl_arcs(item: Any, styled: bool = True) -> str:
    return roles_svg(_read(item, "frames", "component for semantic roles"), styled=styled)


def _heads(item: Any, styled: bool = True) -> str:
    return heads_svg(_read(item, "heads", "parser of dependencies"), styled=styled)


def _errors(item: Any, **options: Any) -> str:
    return errors_html(_read(item, "errors", "detector of errors"), **options)


def _explained(item: Any, nlp: Any, **more: Any) -> list[Any]:
    if not isinstance(item, (Doc, Span)):
        return [item]
    if nlp is None:
        raise ValueError("this style needs the pipeline to draw a Doc: pass options={'nlp': nlp}")
    from ..interpret import explain

    return explain(nlp, item if isinstance(item, Doc) else item.as_doc(), **more)


def _label_attention(item: Any, nlp: Any = None, **options: Any) -> str:
    found = _explained(item, nlp, method=None)
    return "".join(attention_svg(each, by_row=True, **options) for each in found)


def _contributions(item: Any, nlp: Any = None, **options: Any) -> str:
    found = _explained(item, nlp)
    # sentences without constituents have no picture; if none has any, the first one raises
    found = [each for each in found if each.spans] or found[:1]
    return "".join(span_contributions_svg(each, **options) for each in found)


def _layers(item: Any, nlp: Any = None, words: bool = False, styled: bool = True) -> str:
    if isinstance(item, (Doc, Span)):
        if nlp is None:
            raise ValueError(
                "this style needs the pipeline to draw a Doc: pass options={'nlp': nlp}"
            )
        from ..interpret import layers_of_words

        item = layers_of_words(nlp, item if isinstance(item, Doc) else item.as_doc())
    if words:
        return layers_of_words_svg(item.words, item.attention, styled=styled)
    # a text without words has no mean
    mean = item.attention.sum(1) / max(1, item.attention.shape[1])
    return layer_attention_svg(mean, styled=styled)


def _probabilities(item: Any, nlp: Any = None, styled: bool = True) -> str:
    found = [item]
    if isinstance(item, (Doc, Span)):
        if nlp is None:
            raise ValueError(
                "this style needs the pipeline to draw a Doc: pass options={'nlp': nlp}"
            )
        from ..interpret import span_probabilities

        found = span_probabilities(nlp, item if isinstance(item, Doc) else item.as_doc())
    return "".join(probabilities_svg(each, styled=styled) for each in found)


STYLES: dict[str, tuple[Callable[..., str], tuple[str, ...], bool]] = {
    "tree": (_tree, ("edges", "compact", "direction"), False),
    "boxes": (_boxes, ("compact",), True),
    "srl": (_srl, (), True),
    "srl_arcs": (_srl_arcs, (), False),
    "heads": (_heads, (), False),
    "errors": (_errors, ("threshold",), True),
    "label_attention": (_label_attention, ("nlp", "heads", "k"), False),
    "contributions": (_contributions, ("nlp", "span", "k"), False),
    "layers": (_layers, ("nlp", "words"), False),
    "probabilities": (_probabilities, ("nlp",), False),
    "diff": (diff_svg, ("of",), False),
}
"""Of each style what draws it, its options, and whether it is text (HTML) rather than SVG."""
