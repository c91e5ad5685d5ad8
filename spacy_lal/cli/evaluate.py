"""`evaluate`: scores of a pipeline on corpora, layer by layer, and its speed."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import srsly
import typer
from wasabi import msg

from ..formats.files import write_whole
from ..formats.treebank_format import files_in
from .checks import GpuOption, ModelArgument, ThreadsOption, check_outputs, clear_errors, values


def evaluate(
    model: ModelArgument,
    corpora: Annotated[
        list[Path],
        typer.Argument(help=".spacy files or folders, .checks files, a .tsv.", exists=True),
    ],
    json: Annotated[Path | None, typer.Option(help="Write the numbers here, as JSON.")] = None,
    prm: Annotated[str, typer.Option(help="EVALB parameters: a name or a .prm file.")] = "nk",
    parses: Annotated[
        str, typer.Option(help="Parses for roles: model, gold, or pipelines. Default: model.")
    ] = "",
    predicates: Annotated[str, typer.Option(help="For roles: model, gold. Default: both.")] = "",
    decoders: Annotated[
        str, typer.Option(help="Of roles: probabilities, viterbi, valid, greedy.")
    ] = "",
    corrections: Annotated[
        bool, typer.Option("--corrections", help="Of roles, in sequence; draws beside --json.")
    ] = False,
    tune: Annotated[
        Path | None,
        typer.Option(help="Mark errors from the threshold on that is best here.", exists=True),
    ] = None,
    raw: Annotated[bool, typer.Option("--raw", help="MODEL reads paragraphs as strings.")] = False,
    trees: Annotated[
        Path | None,
        typer.Option(help="With --raw: trees and tags of the same sentences.", exists=True),
    ] = None,
    calibrate: Annotated[
        bool, typer.Option("--calibrate", help="How right MODEL is where it is sure, for `silver`.")
    ] = False,
    gpu_id: GpuOption = -1,
    threads: ThreadsOption = 0,
) -> None:
    """Show scores of MODEL on CORPORA, of each layer that both have, and its speed.

    MODEL reads the words of CORPORA, one sentence per Doc, and predicts the rest: trees (EVALB),
    heads (three conventions), tags, roles (srl-eval.pl, for each combination of --parses,
    --predicates and --decoders) and errors (precision, recall and F0.5 of tokens).

    With --corrections, also what roles lack: F1 after fixed labels, moved, merged and split spans,
    fixed borders, dropped and added arguments (He et al. 2017). With --json, draws these beside it.

    With --raw, it also finds words and sentences. Words are compared by their characters;
    boundaries by their places, without the first of a paragraph; heads as in CoNLL 2018; brackets
    without punctuation. Further rows have the scores with gold sentences, with gold tokens, and
    with both.

    Of a .tsv file with columns kind, wrong and right, and [brackets] around errors, scores are the
    share of wrong sentences whose error is found, and of right sentences with a mark, for each
    kind. Of a .checks file, texts with what must be found in them, scores are the share of texts
    that pass all their checks, for each kind."""
    paths = corpora
    with clear_errors("evaluate"):
        picture = json.with_suffix(".svg") if json and corrections else None
        read = [path for path in (*paths, tune, trees) if path is not None]
        check_outputs(
            [json, picture], (file for path in read for file in files_in(path, "*.spacy"))
        )
        import torch

        from .. import evaluation
        from ..annotate.annotating import load
        from ..evaluation.detection_scores import PAIRS, evaluate_pairs
        from ..evaluation.parse_scores import evaluate_raw
        from ..silver.certainty import calibrate as calibrate_pipeline
        from ..training.corpus import Corpus

        pairs = any(path.suffix == PAIRS for path in paths)
        if sum((pairs, raw, calibrate, corrections)) > 1 or (pairs and len(paths) > 1):
            raise ValueError(
                f"give one of --raw, --calibrate and --corrections, or one {PAIRS} file alone"
            )
        nlp = load(model, threads, gpu_id)
        if pairs:
            measured = evaluate_pairs(nlp, paths[0])
        elif raw:
            measured = {"results": [evaluate_raw(nlp, path, trees) for path in paths]}
        elif calibrate:
            rows = [row for p in paths for row in calibrate_pipeline(nlp, list(Corpus(p)(nlp)))]
            measured = {"results": rows}
        else:
            options = {"parses": parses, "predicates": predicates, "decoders": decoders}
            found = {name: values(of) for name, of in options.items()} | {
                "corrections": corrections
            }
            roles = {name: of for name, of in found.items() if of}
            measured = evaluation.evaluate(nlp, paths, prm=prm, roles=roles, tune=tune)
            if corrections and not any("roles" in of for of in measured["results"]):
                raise ValueError("--corrections: the corpora have no roles")
        report = evaluation.about(nlp) | measured
        report["device"] = "cpu" if gpu_id < 0 else torch.cuda.get_device_name(gpu_id)
        _show(report)
        if json is not None:
            write_whole(json, srsly.json_dumps(report, indent=2))
        if picture is not None:
            write_whole(picture, _corrections_picture(report["results"]))


def _corrections_picture(results: list[dict[str, Any]]) -> str:
    from ..drawing.charts import corrections_svg

    rows = {
        ", ".join([result["corpus"]] * (len(results) > 1) + [_setting(row)]): row
        for result in results
        for row in result.get("roles", ())
    }
    return corrections_svg(
        {
            name: {of["correction"]: of["f"] for of in row["corrections"]}
            for name, row in rows.items()
        },
        {
            name: {kind: of["share"] for kind, of in row["phrases"].items()}
            for name, row in rows.items()
        },
    )


def _setting(row: Mapping[str, Any]) -> str:
    return f"parses: {row['parses']}, predicates: {row['predicates']}, {row['decoder']}"


def _show(report: Mapping[str, Any]) -> None:
    results = report.get("results", [report])
    if "certainty" in results[0]:
        header = ("layer", "certainty", "sentences", "words", "score")
        _table(header, [[row[name] for name in header] for row in results])
        return
    for result in results:
        if "kinds" in result:
            kinds = result["kinds"] | {"all": result["all"]}
            names = tuple(name.replace("_", " ") for name in result["all"])
            _table(("", *names), [(kind, *of.values()) for kind, of in kinds.items()])
            continue
        msg.table(
            [
                (key, _shown(value))
                for key, value in result.items()
                if not isinstance(value, dict | list | None)
            ]
        )
        if "given" in result:
            names = ("given", *next(iter(result["given"].values())))
            _table(names, [(given, *of.values()) for given, of in result["given"].items()])
        if "roles" in result:
            names = ("parses", "predicates", "decoder", "srl_p", "srl_r", "srl_f", "srl_pred_f")
            _table(names, [[row[name] for name in names] for row in result["roles"]])
            for row in result["roles"] if "corrections" in result["roles"][0] else ():
                msg.divider(_setting(row))
                shown = [[of["correction"], of["changes"], of["f"]] for of in row["corrections"]]
                _table(("after", "changes", "F1"), shown)
                counts = [[phrase, *of.values()] for phrase, of in row["phrases"].items()]
                _table(("phrase", "merged", "split", "share"), counts)


def _table(header: tuple[str, ...], rows: list[Any]) -> None:
    shown = [[_shown(value) for value in row] for row in rows]
    aligns = ["l", *("r" for _ in header[1:])]
    msg.table(shown, header=header, divider=True, aligns=aligns, max_col=80)


def _shown(value: object) -> str:
    if isinstance(value, float):
        return f"{100 * value:.2f}" if value <= 1 else f"{value:,.1f}"
    return "" if value is None else str(value)
