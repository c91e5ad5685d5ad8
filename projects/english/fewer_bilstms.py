"""A pipeline with parser and roles whose LISA has one BiLSTM layer, to be trained on.

    python fewer_bilstms.py shared PIPELINE OUTPUT DOCS… [--minutes 10]
    python fewer_bilstms.py above-encoder PIPELINE OUTPUT DOCS… [--minutes 10]

`shared`: parser and roles, which had a BiLSTM each, share the parser's, and LISA has a layer above
it. `above-encoder`: LISA, which listens to a transformer, has one layer in the place of three. In
both the parser parses as before, and LISA's layer is trained for what its attention read before.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any

import numpy
import spacy
import torch
import typer
from spacy.language import Language
from spacy.pipeline import Tok2Vec
from spacy.tokens import Doc
from spacy.util import load_model_from_config, minibatch
from spacy.vocab import Vocab
from thinc.api import Model
from torch import Tensor, nn

from spacy_lal.batching.batches import token_batches
from spacy_lal.bridge.shim import torch_shim
from spacy_lal.formats.docbins import read_spacy
from spacy_lal.layers.input_encoders import BiLSTMInput

SHARED, EMPTY = "lal_tok2vec", "lal_empty_tensor"
PARSER, ROLES = "lal_constituency", "lisa_srl"
WITH_ENCODER = "spacy-lal.WithEncoder.v1"
THIN = 192
"""Width of each direction of LISA's layer above a shared BiLSTM."""
RATE = 0.002
"""Learning rate of that layer."""

PipelineArgument = Annotated[str, typer.Argument(help="Name or folder of a pipeline.")]
OutputArgument = Annotated[Path, typer.Argument(help="Folder to write.")]
DocsArgument = Annotated[list[Path], typer.Argument(help=".spacy files, or folders, of sentences.")]
MinutesOption = Annotated[float, typer.Option(min=0.01, help="Time to train LISA's layer.")]

app = typer.Typer(no_args_is_help=True, add_completion=False)


@app.command()
def shared(
    pipeline: PipelineArgument,
    output: OutputArgument,
    docs: DocsArgument,
    minutes: MinutesOption = 10,
) -> None:
    """Let parser and roles share the parser's BiLSTM, which parses as before.

    LISA reads it beside its own word vectors, with one thin layer.
    """
    make(pipeline, output, with_one_encoder, lambda *both: transfer_shared(*both, docs, minutes))


@app.command()
def above_encoder(
    pipeline: PipelineArgument,
    output: OutputArgument,
    docs: DocsArgument,
    minutes: MinutesOption = 10,
) -> None:
    """Give LISA one BiLSTM layer: the encoder's vectors tell words in context already."""
    make(pipeline, output, with_one_layer, lambda *both: transfer_layer(*both, docs, minutes))


def make(
    pipeline: str,
    output: Path,
    new_config: Callable[[Language], dict[str, Any]],
    transfer: Callable[[Language, Language], None],
) -> None:
    """Write the pipeline of a new config with the weights that `transfer` gives it."""
    float32 = {f"components.{name}.model.prediction": "float32" for name in (PARSER, ROLES)}
    old = spacy.load(pipeline, config=float32)
    new = load_model_from_config(new_config(old), vocab=old.vocab, auto_fill=True)
    new.tokenizer.from_bytes(old.tokenizer.to_bytes(exclude=["vocab"]))
    for name, pipe in old.pipeline:
        if name not in (PARSER, ROLES) and hasattr(pipe, "to_bytes"):
            new.get_pipe(name).from_bytes(pipe.to_bytes())
    with torch.no_grad():
        transfer(old, new)
    new.meta.update({k: v for k, v in old.meta.items() if k not in ("components", "pipeline")})
    new.to_disk(output)


def with_one_encoder(nlp: Language) -> dict[str, Any]:
    """Return the config of the pipeline with one BiLSTM."""
    config = nlp.config.copy()
    components = config["components"]
    parser, roles = components[PARSER]["model"], components[ROLES]["model"]
    own = {k: v for k, v in parser["input_encoder"].items() if k not in ("@misc", "tags")}
    states, tags = 2 * own["hidden_width"], len(nlp.get_pipe(PARSER).cfg["tags"])
    listener = {
        "@architectures": "spacy.Tok2VecListener.v1",
        "width": states + tags,
        "upstream": SHARED,
    }
    shared = {
        "@architectures": "spacy-lal.SentenceBiLSTM.v1",
        **own,
        "tags": tags,
        "prediction": "int8",
        "tok2vec": parser["tok2vec"],
    }
    components[SHARED] = {"factory": "lal_tok2vec", "model": shared}
    components[EMPTY] = {"factory": EMPTY}
    parser["tok2vec"] = listener
    parser["input_encoder"] = {"@misc": "spacy-lal.SharedRows.v1", "width": states}
    roles["tok2vec"] = {
        "@architectures": WITH_ENCODER,
        "embed": own_vectors(roles["tok2vec"]),
        "encoder": listener,
    }
    roles["input_encoder"] |= {"hidden_width": THIN, "depth": 1, "tag_depth": 0}
    parser["prediction"] = roles["prediction"] = "int8"
    before = [name for name in nlp.pipe_names if name not in (PARSER, ROLES, EMPTY)]
    config["nlp"]["pipeline"] = [*before, SHARED, PARSER, ROLES, EMPTY]
    return dict(config)


def own_vectors(tok2vec: dict[str, Any]) -> dict[str, Any]:
    """Return the config of a component's own word vectors, without those of an encoder."""
    above = tok2vec["@architectures"] == WITH_ENCODER
    own: dict[str, Any] = tok2vec["embed"] if above else tok2vec
    return own


def transfer_shared(old: Language, new: Language, docs: list[Path], minutes: float) -> None:
    """Give the pipeline with one BiLSTM the old one's weights."""
    parser, roles = (old.get_pipe(name).model for name in (PARSER, ROLES))
    shared = new.get_pipe(SHARED).model
    copy(parser.get_ref("tok2vec"), shared.get_ref("tok2vec"))
    own_of = roles.get_ref("tok2vec")
    if own_of.has_ref("embed"):
        own_of = own_of.get_ref("embed")
    copy(own_of, new.get_pipe(ROLES).model.get_ref("tok2vec").get_ref("embed"))
    theirs = torch_shim(parser).tensors()
    prefix = "input_encoder."
    of_rows = prefix + "start", prefix + "stop"
    mine = {k: v for k, v in theirs.items() if not k.startswith(prefix) or k in of_rows}
    d_in = torch_shim(parser).header["d_in"]
    states = {k.removeprefix(prefix): v for k, v in theirs.items() if k not in mine}
    torch_shim(shared).load({"d_in": d_in, "settings": shared.attrs["settings"].to_json()}, states)
    width = shared.get_dim("nO")
    take(old, new, PARSER, width, mine)

    forms_of, states_of = parser.get_ref("tok2vec"), torch_shim(shared).module

    def read(some: list[Doc]) -> Callable[[Tensor, Tensor, Tensor], Tensor]:
        forms, own = vectors(forms_of, some), vectors(own_of, some)
        return lambda _, lengths, tokens: torch.cat(
            [own[tokens], states_of(forms[tokens], lengths)], -1
        )

    fit(ThinLayer(roles, own_of.get_dim("nO") + width, THIN), old, new, read, docs, minutes)


def with_one_layer(nlp: Language) -> dict[str, Any]:
    """Return the config of the pipeline whose LISA has one BiLSTM layer."""
    config = nlp.config.copy()
    parser, roles = (config["components"][name]["model"] for name in (PARSER, ROLES))
    if roles["input_encoder"] is None:
        raise ValueError(f"{ROLES} has no BiLSTM: its input_encoder is null")
    roles["input_encoder"] |= {"depth": 1, "tag_depth": 0}
    parser["prediction"] = roles["prediction"] = "int8"
    return dict(config)


def transfer_layer(old: Language, new: Language, docs: list[Path], minutes: float) -> None:
    """Give the pipeline whose LISA has one layer the old one's weights."""
    new.get_pipe(PARSER).from_bytes(old.get_pipe(PARSER).to_bytes())
    model = old.get_pipe(ROLES).model
    copy(model.get_ref("tok2vec"), new.get_pipe(ROLES).model.get_ref("tok2vec"))
    d_in, settings = torch_shim(model).header["d_in"], model.attrs["settings"]
    layer = ThinLayer(model, d_in, settings.input_encoder.hidden_width)
    fit(layer, old, new, lambda some: lambda x, lengths, tokens: x, docs, minutes)


class ThinLayer(nn.Module):
    """What LISA's attention reads: vectors of words [B, n, d_in] -> their projection [B, n, d_out],
    beside the states of a BiLSTM of one layer.

    d_hidden: width of each direction."""

    def __init__(self, lisa: Model, d_in: int, d_hidden: int) -> None:
        super().__init__()
        self.d_in = d_in
        settings = BiLSTMInput(d_hidden, depth=1, tag_depth=0, mixed_precision=True)
        self.input_encoder = settings.build(self.d_in, 1)
        d_out = len(torch_shim(lisa).module.encoder.project.bias)
        self.project = nn.Linear(self.d_in + 2 * d_hidden, d_out)

    def forward(self, x: Tensor, lengths: Tensor) -> Tensor:
        rows, _ = self.input_encoder(x, lengths)
        return self.project(torch.cat([x, rows[:, 1:-1]], -1))

    def tensors(self) -> dict[str, Tensor]:
        """Return the parameters by LISA's names."""
        return {
            name.replace("project.", "encoder.project."): value.detach()
            for name, value in self.named_parameters()
        }


Reader = Callable[[list[Doc]], Callable[[Tensor, Tensor, Tensor], Tensor]]
"""Function from Docs to what a new layer reads of a batch of their sentences: from LISA's vectors
of words [B, n, d], the lengths [B], and the words' places among all tokens [B, n]."""


def fit(
    layer: ThinLayer, old: Language, new: Language, read: Reader, docs: list[Path], minutes: float
) -> None:
    """Train a layer for what LISA's attention read before, with falling rates, and give it and the
    rest of the old LISA to the new one."""
    model = old.get_pipe(ROLES).model
    lisa = torch_shim(model).module
    optimizer = torch.optim.Adam(layer.parameters(), lr=RATE, betas=(0.9, 0.99))
    layer.train()
    began, step, rest, all_of = time.monotonic(), 0, 0.0, 0.0
    for some in forever(docs, old.vocab):
        for encoder in old.pipe_names:
            if isinstance(old.get_pipe(encoder), Tok2Vec):
                some = list(old.get_pipe(encoder).pipe(some))
        reads, meanings = read(some), vectors(model.get_ref("tok2vec"), some)
        sentences = model.attrs["reading"].split(some)
        for _, lengths, tokens in token_batches(some, sentences, 60_000):
            passed = (time.monotonic() - began) / (60 * minutes)
            if passed >= 1:
                kept = {
                    name: value
                    for name, value in torch_shim(model).tensors().items()
                    if not name.startswith(("input_encoder.", "encoder.project"))
                }
                take(old, new, ROLES, layer.d_in, kept | layer.tensors())
                return
            here = torch.arange(tokens.shape[1]) < lengths.unsqueeze(1)
            meaning = meanings[tokens]
            highest = lisa.input_encoder(meaning, lengths)[0][:, 1:-1]
            wanted = lisa.encoder.project(torch.cat([meaning, highest], -1))[here]
            x = reads(meaning, lengths, tokens)
            with torch.enable_grad():
                loss = (layer(x, lengths)[here] - wanted).square().sum()
                for group in optimizer.param_groups:
                    group["lr"] = RATE * min(1, (step + 1) / 50) * (1 - passed)
                optimizer.zero_grad()
                (loss / here.sum()).backward()
            optimizer.step()
            step += 1
            rest += float(loss.detach())
            all_of += float((wanted - wanted.mean(0)).square().sum())
            if step % 100 == 0:
                print(f"{step} steps: {1 - rest / all_of:.3f} of the variance", flush=True)
                rest = all_of = 0.0


def vectors(tok2vec: Model, docs: list[Doc]) -> Tensor:
    """Return a model's vectors of all tokens [tokens, d]."""
    return torch.from_numpy(numpy.concatenate(tok2vec.predict(docs)))


def forever(files: list[Path], vocab: Vocab) -> Iterator[list[Doc]]:
    """Yield Docs of files and folders in groups, again and again."""
    paths = [part for file in files for part in (sorted(file.rglob("*.spacy")) or [file])]
    while True:
        for path in paths:
            yield from minibatch(read_spacy(path, vocab), 500)


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
