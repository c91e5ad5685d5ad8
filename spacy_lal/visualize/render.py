"""`render` and `serve`, with displaCy's parameters, of Docs, trees and records."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from string import Template
from typing import Any, NamedTuple

from spacy.tokens import Doc, Span
from spacy.training import Example
from spacy.util import is_in_jupyter

from ..annotate.records import check_record, doc_record
from ..annotations.constituents import UNKNOWN_TAG
from ..annotations.frames import get_frames
from ..annotations.grammar_errors import ERRORS_KEY
from ..drawing.aligned import Layers, aligned_svg
from ..drawing.html import all_styles, errors_html, roles_html, text_style
from ..drawing.lines import diff_svg
from ..drawing.sentence import Phrase, RoleFrame, Sentence
from ..drawing.svg import shortened, xml
from ..drawing.trees import boxes_html
from ..trees.tree import ConstituentTree, nodes

PAGE = Path(__file__).with_name("page.html")
"""Template of a whole page."""

Options = Mapping[str, Any]
Record = Mapping[str, Any]
"""Fields of `annotate`'s records (see `spacy_lal.annotate.records`)."""


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

    docs: one item or several. "all", "tree", "boxes", "srl", "srl_lanes", "heads" and "errors"
        draw Docs and Spans; the first three also a `ConstituentTree`. "label_attention" and
        "contributions" draw results of `explain`, "layers" those of `interpret.layers_of_words`,
        "probabilities" those of `interpret.span_probabilities`; these four also draw Docs, with the
        pipeline or its component in `options["nlp"]`. "diff" draws an `Example`, or pairs (gold,
        predicted) in a list.
    style: one of `STYLES`, which has the options of each.
    page: make a whole HTML page. minify: leave line breaks out.
    jupyter: show the pictures in a notebook and return "" (None: in notebooks only).
    manual: `docs` are dicts with the fields of `annotate`'s records: "words" and the picture's
        layer, such as "tags" and "constituents", "frames", "errors" and "error_scores".
    Raises ValueError for an unknown style or option, and for docs that a style can't show.
    """
    options = dict(options or {})
    if style not in STYLES:
        raise ValueError(f"style must be one of {', '.join(STYLES)}, not {style!r}")
    draw, known, of_text = STYLES[style]
    if unknown := sorted({*options} - {*known, "styled"}):
        names = ", ".join(map(repr, unknown))
        raise ValueError(f"{style!r} has no option {names}; it has {', '.join(known) or 'none'}")
    styled = bool(options.pop("styled", True))
    show = is_in_jupyter() if jupyter is None else jupyter
    in_page = page or show
    drawn: list[str] = []
    single = (Doc, Span, ConstituentTree, str, Mapping, *((tuple,) if style == "diff" else ()))
    several = isinstance(docs, Iterable) and not isinstance(docs, single)
    for item in docs if several else [docs]:
        if manual != isinstance(item, Mapping) and style != "diff":
            raise ValueError(f"manual = {manual}, but this is a {type(item).__name__}")
        # HTML pictures share one style sheet
        own_style = {} if of_text else {"styled": styled and not in_page}
        drawn.append(draw(item, **own_style, **options))
    if in_page:
        drawn = [f"<div class='lal-frame'>\n{picture}</div>\n" for picture in drawn]
    body = "".join(drawn)
    if page:
        html = Template(PAGE.read_text(encoding="utf8"))
        body = html.substitute(title=xml(style), styles=all_styles(), body=body)
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


def sentences(item: Any, *, whole: bool = False, helping: bool = True) -> list[Sentence]:
    """Return the sentences of a Doc, Span, tree or record; whole: all words as one. helping: with
    frames of a Doc that only help (see `Frame.helps`). Raises ValueError for other values."""
    if isinstance(item, ConstituentTree):
        return [item.sentence()]
    record = item
    if isinstance(item, (Doc, Span)):
        record = _corrected(item if isinstance(item, Doc) else item.doc, helping)
    elif isinstance(item, Mapping):
        check_record(item)
    else:
        said = f"a picture is of a Doc, Span, ConstituentTree or record, not {type(item)}"
        raise ValueError(said)
    total = len(record["words"])
    start, end = (item.start, item.end) if isinstance(item, Span) else (0, total)
    bounds = [(s["start"], s["end"]) for s in record.get("sentences") or ()]
    if whole or not bounds:
        bounds = [(0, total)]
    found = [_sentence(record, max(first, start), min(last, end)) for first, last in bounds]
    return [sentence for sentence in found if sentence.words or whole]


def _corrected(doc: Doc, helping: bool) -> Record:
    """Return a Doc's record, with corrections of its errors."""
    record = doc_record({}, doc)
    if not helping and "frames" in record:
        pairs = zip(record["frames"], get_frames(doc), strict=True)
        record["frames"] = [kept for kept, frame in pairs if not frame.helps]
    if ERRORS_KEY in doc.spans:
        corrections = doc.spans[ERRORS_KEY].attrs.get("corrections")
        if corrections is not None and len(corrections) == len(record["errors"]):
            for error, correction in zip(record["errors"], corrections, strict=True):
                error["correction"] = correction
    return record


def _sentence(record: Record, first: int, last: int) -> Sentence:
    words = record["words"]
    tokens = [i for i in range(first, last) if words[i].strip() or not words[i]]
    place = {token: k for k, token in enumerate(tokens)}

    def phrases(spans: Sequence[Record]) -> list[Phrase]:
        found: list[Phrase] = []
        for span in spans:
            inside = [place[i] for i in range(span["start"], span["end"]) if i in place]
            if first <= span["start"] and span["end"] <= last and inside:
                found.append((inside[0], inside[-1] + 1, str(span["label"]), span.get("score")))
        return found

    def preorder(spans: Sequence[Record]) -> list[Phrase]:
        return sorted(phrases(spans), key=lambda span: (span[0], -span[1]))

    tags = record.get("tags") or record.get("pos") or [UNKNOWN_TAG] * len(words)
    constituents, frames, heads, errors, scores = map(
        record.get, ("constituents", "frames", "heads", "errors", "error_scores")
    )
    wrong = [span for span in errors or () if phrases([span])]
    return Sentence(
        [words[i] for i in tokens],
        [tags[i] or UNKNOWN_TAG for i in tokens],
        tokens,
        _spaces(record, tokens),
        phrases=None if constituents is None else preorder(constituents),
        frames=None
        if frames is None
        else [
            RoleFrame(
                place[frame["predicate"]], frame.get("roleset") or "", preorder(frame["spans"])
            )
            for frame in frames
            if frame["predicate"] in place
        ],
        heads=None if heads is None else [place.get(heads[i], place[i]) for i in tokens],
        relations=[] if heads is None else [record["relations"][i] for i in tokens],
        errors=None if errors is None else phrases(wrong),
        corrections=[span.get("correction") for span in wrong],
        error_scores=None if scores is None else [scores[i] for i in tokens],
    )


def _spaces(record: Record, tokens: Sequence[int]) -> list[str]:
    """Return " " or "" behind each word; always " " without the words' places in the text."""
    starts, words = record.get("starts"), record["words"]
    if starts is None:
        return [" "] * len(tokens)
    starts = [*starts, math.inf]
    following = [*tokens[1:], *(last + 1 for last in tokens[-1:])]
    gaps = (starts[j] - starts[i] - len(words[i]) for i, j in zip(tokens, following, strict=True))
    return [" " if gap > 0 else "" for gap in gaps]


def _drawing(draw: Callable[..., str], layer: str, made_by: str) -> Callable[..., str]:
    """Return a style's function, which draws an item's sentences. layer: what they must have.
    made_by: the component of that layer."""

    def picture(item: Any, helping: bool = True, **options: Any) -> str:
        found = sentences(item, helping=helping)
        if any(getattr(sentence, layer) is None for sentence in found):
            said = shortened(item.text if isinstance(item, (Doc, Span)) else str(item), 60)
            raise ValueError(f"nothing to draw: no {made_by} annotated {said!r}")
        return draw(found, **options)

    return picture


def _tree(found: Sequence[Sentence], compact: bool = True, **options: Any) -> str:
    layers: list[Layers] = []
    for sentence in found:
        words = replace(sentence, heads=None, relations=[], frames=None, errors=None)
        layers.append((words, nodes(sentence, compact=compact)))
    return aligned_svg(layers, title="Constituency tree of", **options)


def _heads(found: Sequence[Sentence], **options: Any) -> str:
    layers: list[Layers] = [(replace(s, frames=None, errors=None), None) for s in found]
    return aligned_svg(layers, title="Dependencies of", **options)


def _lanes(found: Sequence[Sentence], **options: Any) -> str:
    layers: list[Layers] = [
        (replace(s, heads=None, relations=[], errors=None), None) for s in found
    ]
    return aligned_svg(layers, title="Semantic roles in", **options)


def _all(item: Any, compact: bool = True, helping: bool = True, **options: Any) -> str:
    layers: list[Layers] = []
    for sentence in sentences(item, helping=helping):
        top = None if sentence.phrases is None else nodes(sentence, compact=compact)
        layers.append((sentence, top))
    if layers and not any(
        top or s.heads or s.frames is not None or s.errors is not None for s, top in layers
    ):
        raise ValueError("nothing to draw: no tree, heads, roles or errors")
    return aligned_svg(layers, title="Annotation of", **options)


def _boxes(found: Sequence[Sentence], compact: bool = True) -> str:
    return boxes_html(nodes(sentence, compact=compact) for sentence in found)


def _diff(item: Any, **options: Any) -> str:
    if isinstance(item, Example):
        item = item.reference, item.predicted
    if not isinstance(item, Sequence) or len(item) != 2:
        raise ValueError(f"a comparison is of an Example or of (gold, predicted), not {type(item)}")
    gold, predicted = (sentences(side, whole=True)[0] for side in item)
    return diff_svg(gold, predicted, **options)


def _interpreting(look: str, draw: str, having: str = "", **more: Any) -> Callable[..., str]:
    """Return a style's function, which draws results of `interpret`'s function `look` by their
    method `draw`. having: field without which results are skipped, unless all are without it."""

    def picture(item: Any, nlp: Any = None, **options: Any) -> str:
        found = [item]
        if isinstance(item, (Doc, Span)):
            if nlp is None:
                raise ValueError(
                    "this style needs the pipeline to draw a Doc: pass options={'nlp': nlp}"
                )
            from .. import interpret  # with torch

            doc = item if isinstance(item, Doc) else item.as_doc()
            results = getattr(interpret, look)(nlp, doc, **more)
            found = results if isinstance(results, list) else [results]
        if having:
            found = [each for each in found if getattr(each, having)] or found[:1]
        return "".join(getattr(each, draw)(**options) for each in found)

    return picture


class Style(NamedTuple):
    """Function that draws one item, names of its options, and whether it returns HTML, not SVG."""

    draw: Callable[..., str]
    options: tuple[str, ...] = ()
    of_text: bool = False


_LINE = ("direction", "turned")
_PARSER = ("phrases", "parser of constituents")
_ROLES = ("frames", "component for semantic roles")
STYLES = {
    "all": Style(_all, ("edges", "compact", "helping", *_LINE)),
    "tree": Style(_drawing(_tree, *_PARSER), ("edges", "compact", *_LINE)),
    "boxes": Style(_drawing(_boxes, *_PARSER), ("compact",), of_text=True),
    "srl": Style(_drawing(roles_html, *_ROLES), ("helping",), of_text=True),
    "srl_lanes": Style(_drawing(_lanes, *_ROLES), ("helping", *_LINE)),
    "heads": Style(_drawing(_heads, "heads", "parser of dependencies"), _LINE),
    "errors": Style(
        _drawing(errors_html, "errors", "detector of errors"), ("threshold",), of_text=True
    ),
    "label_attention": Style(
        _interpreting("explain", "attention_svg", method=None), ("nlp", "heads", "k")
    ),
    "contributions": Style(
        _interpreting("explain", "contributions_svg", having="spans"), ("nlp", "span", "k")
    ),
    "layers": Style(_interpreting("layers_of_words", "svg"), ("nlp", "words")),
    "probabilities": Style(_interpreting("span_probabilities", "svg"), ("nlp",)),
    "diff": Style(_diff, ("of",)),
}
"""All styles of `render`."""
