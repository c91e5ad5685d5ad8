"""A pipeline with parser and roles whose components have fewer BiLSTMs, to be trained on.

    python fewer_bilstms.py shared PIPELINE OUTPUT DOCS [--words 60000]
    python fewer_bilstms.py above-encoder PIPELINE OUTPUT DOCS [--words 60000]

`shared`: parser and roles, which had a BiLSTM each, share the parser's. `above-encoder`: of
components that listen to a transformer, the parser keeps two layers of three, and LISA one.

What read the states of a layer that goes begins with the linear functions of what is left that come
nearest to those, by least squares over the words of DOCS.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import spacy
import torch
import typer
from spacy.language import Language
from spacy.tokens import Doc
from spacy.util import load_model_from_config
from thinc.api import Model
from torch import Tensor

from spacy_lal.batching.batches import token_batches
from spacy_lal.bridge.shim import to_tensor, torch_shim
from spacy_lal.formats.docbins import read_spacy
from spacy_lal.layers.bilstm import BiLSTM

SHARED = "tok2vec"
PARSER, ROLES = "lal_constituency", "lisa_srl"

PipelineArgument = Annotated[str, typer.Argument(help="Name or folder of a pipeline.")]
OutputArgument = Annotated[Path, typer.Argument(help="Folder to write.")]
DocsArgument = Annotated[Path, typer.Argument(help="A .spacy file with sentences.")]
WordsOption = Annotated[int, typer.Option(help="Number of words to fit with.")]

app = typer.Typer(no_args_is_help=True, add_completion=False)


@app.command()
def shared(
    pipeline: PipelineArgument,
    output: OutputArgument,
    docs: DocsArgument,
    words: WordsOption = 60_000,
) -> None:
    """Let parser and roles share the parser's BiLSTM.

    The layer above the tags, which saw them, reads its words alone; tags are scored from the
    highest states; and LISA keeps its own word vectors.
    """
    make(pipeline, output, docs, words, with_one_encoder, transfer_shared)


@app.command()
def above_encoder(
    pipeline: PipelineArgument,
    output: OutputArgument,
    docs: DocsArgument,
    words: WordsOption = 60_000,
) -> None:
    """Keep the layer of tags and one above it in the parser, and the lowest layer in LISA.

    The vectors of the encoder tell words in context already.
    """
    make(pipeline, output, docs, words, with_fewer_layers, transfer_above_encoder)


def make(
    pipeline: str,
    output: Path,
    docs: Path,
    words: int,
    new_config: Callable[[Language], dict[str, Any]],
    transfer: Callable[[Language, Language, list[Doc]], None],
) -> None:
    """Write the pipeline of a new config with the weights that `transfer` gives it."""
    float32 = {f"components.{name}.model.prediction": "float32" for name in (PARSER, ROLES)}
    old = spacy.load(pipeline, config=float32)
    sample, total = [], 0
    for doc in read_spacy(docs, old.vocab):
        sample.append(doc)
        total += len(doc)
        if total > words:
            break
    new = load_model_from_config(new_config(old), vocab=old.vocab, auto_fill=True)
    for name, pipe in old.pipeline:
        if name not in (PARSER, ROLES) and hasattr(pipe, "to_bytes"):
            new.get_pipe(name).from_bytes(pipe.to_bytes())
    with torch.no_grad():
        transfer(old, new, sample)
    new.meta.update({k: v for k, v in old.meta.items() if k not in ("components", "pipeline")})
    new.to_disk(output)


def with_one_encoder(nlp: Language) -> dict[str, Any]:
    """Return the config of the pipeline with one BiLSTM."""
    config = nlp.config.copy()
    components = config["components"]
    parser, roles = components[PARSER]["model"], components[ROLES]["model"]
    own = parser["input_encoder"]
    listener = {
        "@architectures": "spacy.Tok2VecListener.v1",
        "width": 2 * own["hidden_width"],
        "upstream": SHARED,
    }
    shared = {
        "@architectures": "spacy-lal.SentenceBiLSTM.v1",
        "hidden_width": own["hidden_width"],
        "depth": own["depth"],
        "mixed_precision": own["mixed_precision"],
        "prediction": "int8",
        "tok2vec": parser["tok2vec"],
    }
    components[SHARED] = {"factory": "lal_tok2vec", "model": shared}
    components["lal_empty_tensor"] = {"factory": "lal_empty_tensor"}
    parser |= {"tok2vec": listener, "input_encoder": {"@misc": "spacy-lal.SharedRows.v1"}}
    beside = {
        "@architectures": "spacy-lal.WithEncoder.v1",
        "embed": roles["tok2vec"],
        "encoder": listener,
    }
    roles |= {"tok2vec": beside, "input_encoder": None, "positions": False}
    parser["prediction"] = roles["prediction"] = "int8"
    before = [name for name in nlp.pipe_names if name not in (PARSER, ROLES)]
    config["nlp"]["pipeline"] = [*before, SHARED, PARSER, ROLES, "lal_empty_tensor"]
    return dict(config)


def transfer_shared(old: Language, new: Language, docs: list[Doc]) -> None:
    """Give the pipeline with one BiLSTM the old one's weights."""
    parser, roles = (old.get_pipe(name).model for name in (PARSER, ROLES))
    shared = new.get_pipe(SHARED).model
    copy(parser.get_ref("tok2vec"), shared.get_ref("tok2vec"))
    copy(roles.get_ref("tok2vec"), new.get_pipe(ROLES).model.get_ref("tok2vec").get_ref("embed"))
    of_words = Words(parser, docs)
    forms, meanings = of_words.vectors(parser), of_words.vectors(roles)
    rows = torch_shim(parser).module.input_encoder

    # the layer above the tags
    lower = of_words(rows.lower, forms)
    scores = rows.tag_scores(lower)
    weight, bias = least_squares(lower, torch.softmax(scores, -1) @ rows.tag_embedding)
    torch_shim(shared).initialize(
        {"d_in": forms.shape[1], "settings": shared.attrs["settings"].to_json()}
    )
    bilstm: BiLSTM = torch_shim(shared).module
    for layers in ("ahead", "back"):
        own = [*getattr(rows.lower, layers), *getattr(rows.upper, layers)]
        for k, (mine, theirs) in enumerate(zip(getattr(bilstm, layers), own, strict=True)):
            values = theirs.state_dict()
            if k == 1:
                inputs = values["weight_ih_l0"]
                width = lower.shape[1]
                values["weight_ih_l0"] = inputs[:, :width] + inputs[:, width:] @ weight
                values["bias_ih_l0"] = values["bias_ih_l0"] + inputs[:, width:] @ bias
            mine.load_state_dict(values)
    states = of_words(bilstm, forms)

    # the tags
    weight, bias = least_squares(states, scores - scores.mean(-1, keepdim=True))
    tensors = {
        name: value
        for name, value in torch_shim(parser).tensors().items()
        if not name.startswith(("input_encoder.lower", "input_encoder.upper"))
    }
    tensors.pop("input_encoder.tag_embedding")
    tensors |= {"input_encoder.tag_scores.weight": weight, "input_encoder.tag_scores.bias": bias}
    take(old, new, PARSER, states.shape[1], tensors)
    read = torch.cat([meanings, states], -1)
    take_roles(old, new, of_words, meanings, read, read.shape[1], ("input_encoder.",))


def with_fewer_layers(nlp: Language) -> dict[str, Any]:
    """Return the config of the pipeline with three BiLSTM layers in all."""
    config = nlp.config.copy()
    parser, roles = (config["components"][name]["model"] for name in (PARSER, ROLES))
    for name, model in ((PARSER, parser), (ROLES, roles)):
        depths = [(model["input_encoder"] or {}).get(kind) for kind in ("depth", "tag_depth")]
        if depths != [3, 1]:
            raise ValueError(f"{name}: depth and tag_depth of the BiLSTM are {depths}, not [3, 1]")
    parser["input_encoder"]["depth"] = 2
    roles["input_encoder"] |= {"depth": 1, "tag_depth": 0}
    parser["prediction"] = roles["prediction"] = "int8"
    return dict(config)


def transfer_above_encoder(old: Language, new: Language, docs: list[Doc]) -> None:
    """Give the pipeline with three BiLSTM layers the old one's weights."""
    for _ in old.get_pipe(SHARED).pipe(docs):
        pass
    parser, roles = (old.get_pipe(name).model for name in (PARSER, ROLES))
    for name, model in ((PARSER, parser), (ROLES, roles)):
        copy(model.get_ref("tok2vec"), new.get_pipe(name).model.get_ref("tok2vec"))
    of_words = Words(parser, docs)
    forms, meanings = of_words.vectors(parser), of_words.vectors(roles)
    rows = torch_shim(parser).module.input_encoder

    # the parser's highest layer, which read the one between
    lower = of_words(rows.lower, forms)
    shares = torch.softmax(rows.tag_scores(lower), -1) @ rows.tag_embedding
    read = torch.cat([lower, shares], -1)
    between = of_words(lambda x, lengths: rows.upper.states(x, lengths)[0], read)
    weight, bias = least_squares(read, between)
    tensors = torch_shim(parser).tensors()
    for side in ("ahead", "back"):
        layers = f"input_encoder.upper.{side}"
        for kind in ("weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0"):
            tensors[f"{layers}.0.{kind}"] = tensors.pop(f"{layers}.1.{kind}")
        inputs = tensors[f"{layers}.0.weight_ih_l0"]
        tensors[f"{layers}.0.weight_ih_l0"] = inputs @ weight
        tensors[f"{layers}.0.bias_ih_l0"] = tensors[f"{layers}.0.bias_ih_l0"] + inputs @ bias
    take(old, new, PARSER, forms.shape[1], tensors)
    lowest = of_words(torch_shim(roles).module.input_encoder.lower, meanings)
    read = torch.cat([meanings, lowest], -1)
    above = "input_encoder.upper", "input_encoder.tag"
    take_roles(old, new, of_words, meanings, read, meanings.shape[1], above)


def take_roles(
    old: Language,
    new: Language,
    of_words: Words,
    meanings: Tensor,
    read: Tensor,
    d_in: int,
    gone: tuple[str, ...],
) -> None:
    """Give the new LISA the old one's weights.

    meanings [words, d]: what the old one reads. read: what the new one projects. d_in: width of
    what it reads. gone: how the names of parameters begin that it has no more."""
    model = old.get_pipe(ROLES).model
    lisa = torch_shim(model).module
    highest = of_words(lambda x, lengths: lisa.input_encoder(x, lengths)[0][:, 1:-1], meanings)
    projected = lisa.encoder.project(torch.cat([meanings, highest], -1))
    weight, bias = least_squares(read, projected)
    tensors = {
        name: value
        for name, value in torch_shim(model).tensors().items()
        if not name.startswith(gone)
    }
    tensors |= {"encoder.project.weight": weight, "encoder.project.bias": bias}
    take(old, new, ROLES, d_in, tensors)


class Words:
    """The words of Docs, in batches of sentences, always in the same order."""

    def __init__(self, model: Model, docs: list[Doc]) -> None:
        self.docs = docs
        sentences = model.attrs["reading"].split(docs)
        self.batches = [
            (lengths, tokens) for _, lengths, tokens in token_batches(docs, sentences, 60_000)
        ]

    def vectors(self, model: Model) -> Tensor:
        """Return a model's vectors of all tokens [tokens, d]."""
        tok2vec = model.get_ref("tok2vec")
        flat = to_tensor(model, tok2vec.predict(self.docs), torch.device("cpu"))
        self.order = torch.cat([tokens[real(lengths, tokens)] for lengths, tokens in self.batches])
        return flat[self.order]

    def __call__(self, network: Any, vectors: Tensor) -> Tensor:
        """Return a network's states [words, d] of words with these vectors [words, d_in]."""
        flat = torch.zeros(int(self.order.max()) + 1, vectors.shape[1])
        flat[self.order] = vectors
        found = []
        for lengths, tokens in self.batches:
            found.append(network(flat[tokens], lengths)[real(lengths, tokens)])
        return torch.cat(found)


def real(lengths: Tensor, tokens: Tensor) -> Tensor:
    """Return the mask [B, n] of words that are no padding."""
    return torch.arange(tokens.shape[1]) < lengths.unsqueeze(1)


def least_squares(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """Return the weight [d_out, d_in] and bias [d_out] of the linear function from x to y that errs
    least, and print the share of the variance that it explains."""
    extended = torch.cat([x, torch.ones(len(x), 1)], -1).double()
    square = extended.T @ extended
    square.diagonal().add_(1e-4 * len(x))
    found = torch.linalg.solve(square, extended.T @ y.double())
    rest = (y - extended @ found).square().sum() / (y - y.mean(0)).square().sum()
    print(f"{tuple(x.shape)} -> {y.shape[1]}: {1 - float(rest):.3f} of the variance")
    found = found.float()
    return found[:-1].T.contiguous(), found[-1].contiguous()


def copy(theirs: Model, mine: Model) -> None:
    mine.from_bytes(theirs.to_bytes())


def take(old: Language, new: Language, name: str, d_in: int, tensors: dict[str, Tensor]) -> None:
    """Give a component of the new pipeline the old one's names, and these parameters."""
    theirs, mine = old.get_pipe(name), new.get_pipe(name)
    mine.cfg.update(theirs.cfg)
    mine._configure_model()
    settings = mine.model.attrs["settings"].to_json()
    header = {**torch_shim(theirs.model).header, "d_in": d_in, "settings": settings}
    torch_shim(mine.model).load(header, {k: v.clone() for k, v in tensors.items()})


if __name__ == "__main__":
    app()
