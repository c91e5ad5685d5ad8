"""`edit` and `find-threshold`: a trained pipeline with other settings or weights. `import`: another
parser's published checkpoint as a pipeline."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from spacy.language import Language
from wasabi import msg

from .checks import GpuOption, ModelArgument, check_folder, clear_errors

OutputArgument = Annotated[Path, typer.Argument(help="Where to write the new pipeline.")]


def edit(
    model: ModelArgument,
    output: OutputArgument,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", help="As components.lisa_srl.decoder=viterbi; repeat it."),
    ] = None,
    words: Annotated[
        Path | None,
        typer.Option(
            help="Text or list of words that a detector knows misspellings by.", exists=True
        ),
    ] = None,
    ngrams: Annotated[
        Path | None,
        typer.Option(help="Counts of n-grams by which a detector finds errors.", exists=True),
    ] = None,
    mean_with: Annotated[str, typer.Option(help="What MODEL's training began with.")] = "",
    component: Annotated[
        list[str] | None,
        typer.Option(help="Of which the mean is; repeat it. Default: gec_detector."),
    ] = None,
    share: Annotated[float, typer.Option(min=0, max=1, help="Of the other in the mean.")] = 0.5,
    treebank_tokens: Annotated[
        bool, typer.Option("--treebank-tokens", help="The current tokens of English.")
    ] = False,
    list_items: Annotated[
        bool, typer.Option("--list-items", help="Put lal_list_items before the senter.")
    ] = False,
) -> None:
    """Write MODEL to OUTPUT with other settings (--set), words, n-grams, weights (--mean-with),
    tokens (--treebank-tokens) or sentences (--list-items).

    The mean of a training's final and initial weights (Wortsman et al. 2022, Model soups) forgets
    less of earlier training. The initial weights of parts that only MODEL has, such as further
    words, are those of `warm_start`.
    """
    from ..bridge.warm_start import mean_weights
    from ..evaluation.detection_scores import detector_of
    from ..ged.component import known_words, words_of_text
    from ..pipeline.pipes import load_pipeline
    from ..training.english_tokens import use_treebank_tokens

    with clear_errors("edit", Path(model)):
        changed = dict(_setting(text) for text in settings or ())
        if not (changed or mean_with or words or ngrams or treebank_tokens or list_items):
            raise ValueError(
                "nothing to change: give --set, --words, --ngrams, --mean-with, "
                "--treebank-tokens or --list-items"
            )
        check_folder(output, [Path(model), *([Path(mean_with)] if mean_with else [])])
        nlp = load_pipeline(model, config=changed)
        for place, value in changed.items():
            name, _, setting = place.removeprefix("components.").rpartition(".")
            stored = getattr(nlp.get_pipe(name), "cfg", {}) if name in nlp.pipe_names else {}
            if setting in stored:  # beside the weights: a detector's threshold
                stored[setting] = value
        if words:
            detector_of(nlp).cfg["words"] = known_words(words_of_text(words))
        if ngrams:
            detector_of(nlp).read_ngrams(ngrams)
        if mean_with:
            pipelines = nlp, load_pipeline(model), load_pipeline(mean_with)
            for name in component or ["gec_detector"]:
                mine, before, other = (_model(pipeline, name) for pipeline in pipelines)
                taken, total = mean_weights(mine, before, other, share)
                msg.info(f"{name}: the mean of {taken:,} of {total:,} weights, which both have")
        if treebank_tokens:
            use_treebank_tokens(nlp)
        if list_items:
            _add_list_items(nlp)
        nlp.to_disk(output)
    msg.good(str(output))


def _add_list_items(nlp: Language) -> None:
    """Put `lal_list_items` before the component that finds sentences, if it isn't there yet."""
    if "lal_list_items" not in nlp.pipe_names:
        if "senter" not in nlp.pipe_names:
            raise ValueError("--list-items: the pipeline has no senter")
        nlp.add_pipe("lal_list_items", before="senter")


def _setting(text: str) -> tuple[str, Any]:
    """Return place and value of a setting. Raises ValueError for one that can't be changed."""
    from spacy.cli._util import parse_config_overrides

    place, equals, value = text.partition("=")
    if not equals:
        raise ValueError(f"--set {text}: write a setting and its value, as components.a.b=3")
    if not place.startswith(("components.", "nlp.")):
        raise ValueError(f"{place}: only settings of [components] and [nlp] can be changed")
    without_weights = (".sentences", ".max_batch_spans", ".prediction", ".cache")
    if ".model." in place and not place.endswith(without_weights):
        raise ValueError(f"{place}: this is stored with the weights and can't be changed")
    return place, parse_config_overrides([f"--{place}", value])[place]


def _model(nlp: Language, component: str) -> Any:
    if component not in nlp.pipe_names:
        raise ValueError(f"a pipeline has no component {component}")
    pipe: Any = nlp.get_pipe(component)
    return pipe.model


def find_threshold(
    model: ModelArgument,
    output: OutputArgument,
    correct: Annotated[
        list[Path] | None,
        typer.Argument(help=".spacy files without errors: `corrupt --rate 0`.", exists=True),
    ] = None,
    most: Annotated[
        float, typer.Option(min=0, max=1, help="Share of each file's tokens to be marked.")
    ] = 0.015,
    tune: Annotated[
        Path | None, typer.Option(help="With errors: no threshold below its best one.", exists=True)
    ] = None,
    gpu_id: GpuOption = -1,
) -> None:
    """Write MODEL, which has a `gec_detector`, to OUTPUT with a threshold for its users' texts.

    It is the lowest threshold that is high enough for each of CORRECT, and not below the one with
    the best F0.5 on --tune. Learners' texts have an error every tenth token, other texts almost
    none."""
    from ..annotate.annotating import load
    from ..evaluation.detection_scores import choose_threshold, detector_of

    files = correct or []
    with clear_errors("find-threshold"):
        check_folder(output, [Path(model), *files, *([tune] if tune else [])])
        nlp = load(model, gpu=gpu_id)
        pipe = detector_of(nlp)
        chosen, rows = choose_threshold(nlp, files, most, tune)
        pipe.cfg["threshold"] = chosen
        nlp.get_pipe_config(pipe.name)["threshold"] = chosen
        nlp.to_disk(output)
    for row in rows:
        msg.text("{file}: {marked:.2%} of {words:,} tokens, needs {needs:.4f}".format(**row))
    strictest = max(rows, key=lambda row: row["needs"])
    msg.good(f"threshold {chosen:.4f}, which {strictest['file']} needs")


class Kind(StrEnum):
    """The parser that a checkpoint belongs to."""

    benepar = "benepar"
    lal_parser = "lal-parser"
    supar = "supar"


def import_checkpoint(
    checkpoint: Annotated[
        Path,
        typer.Argument(
            help="A .pt file of the LAL parser (Mrini et al. 2020), supar (crf-constituency or "
            "biaffine-dependency) or benepar 0.2, or the folder of a release of benepar.",
            exists=True,
        ),
    ],
    output: Annotated[Path, typer.Argument(help="Folder of the pipeline to write.")],
    kind: Annotated[Kind | None, typer.Option(help="Default: what it looks like.")] = None,
    encoder: Annotated[
        Path | None, typer.Option(help="Folder of a transformer's config.json and tokenizer.json.")
    ] = None,
    escaped: Annotated[
        bool, typer.Option("--escaped", help='benepar: tokens as in treebanks, "-LRB-", "``".')
    ] = False,
    lang: Annotated[str, typer.Option(help="Language code of the pipeline.")] = "en",
    licence: Annotated[
        str | None, typer.Option("--license", help="Licence of the weights, for meta.json.")
    ] = None,
) -> None:
    """Write a pipeline that finds the same trees and heads as CHECKPOINT.

    Nothing is downloaded, and the other parser isn't needed.
    """
    with clear_errors("import", checkpoint):
        from ..published.benepar_checkpoints import MODEL, read_benepar
        from ..published.imported import write_imported
        from ..published.lal_parser import read_lal_parser
        from ..published.restricted import looks_like
        from ..published.supar import read_supar

        check_folder(output, [checkpoint, *([] if encoder is None else [encoder])])
        kind = kind or Kind(looks_like(checkpoint))
        if escaped and kind is not Kind.benepar:
            raise ValueError(f"--escaped is for benepar, and this is a checkpoint of {kind}")
        if kind is Kind.benepar:
            nlp = read_benepar(checkpoint, lang=lang, encoder=encoder, escaped=escaped)
        else:
            read = read_supar if kind is Kind.supar else read_lal_parser
            nlp = read(checkpoint, encoder, lang)
        weights = checkpoint / MODEL if checkpoint.is_dir() else checkpoint
        write_imported(nlp, kind, weights, output, licence)
    msg.good(str(output))
