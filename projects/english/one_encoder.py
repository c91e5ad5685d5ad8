"""A pipeline whose parser and roles share the parser's BiLSTM, to be trained on.

    python one_encoder.py PIPELINE OUTPUT DOCS… [--minutes 10]

In PIPELINE each has a BiLSTM of its own. The parser parses as before. LISA has one thin layer above
the parser's BiLSTM, beside its own word vectors and those of an encoder below, which the BiLSTM
passes on; the layer is trained for what LISA's attention read before.
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


def main(
    pipeline: Annotated[str, typer.Argument(help="Name or folder of a pipeline.")],
    output: Annotated[Path, typer.Argument(help="Folder to write.")],
    docs: Annotated[list[Path], typer.Argument(help=".spacy files, or folders, of sentences.")],
    minutes: Annotated[float, typer.Option(min=0.01, help="Time to train LISA's layer.")] = 10,
) -> None:
    """Let parser and roles share the parser's BiLSTM."""
    float32 = {f"components.{name}.model.prediction": "float32" for name in (PARSER, ROLES)}
    old = spacy.load(pipeline, config=float32)
    new = load_model_from_config(with_one_encoder(old), vocab=old.vocab, auto_fill=True)
    new.tokenizer.from_bytes(old.tokenizer.to_bytes(exclude=["vocab"]))
    for name, pipe in old.pipeline:
        if name not in (PARSER, ROLES) and hasattr(pipe, "to_bytes"):
            new.get_pipe(name).from_bytes(pipe.to_bytes())
    with torch.no_grad():
        transfer(old, new, docs, minutes)
    new.meta.update({k: v for k, v in old.meta.items() if k not in ("components", "pipeline")})
    new.to_disk(output)


def with_one_encoder(nlp: Language) -> dict[str, Any]:
    """Return the config of the pipeline with one BiLSTM."""
    config = nlp.config.copy()
    components = config["components"]
    parser, roles = components[PARSER]["model"], components[ROLES]["model"]
    own = {k: v for k, v in parser["input_encoder"].items() if k not in ("@misc", "tags")}
    states, tags = 2 * own["hidden_width"], len(nlp.get_pipe(PARSER).cfg["tags"])
    own_vectors, below = own_and_below(roles["tok2vec"])
    listener = {
        "@architectures": "spacy.Tok2VecListener.v1",
        "width": states + tags + below,
        "upstream": SHARED,
    }
    shared = {
        "@architectures": "spacy-lal.SentenceBiLSTM.v1",
        **own,
        "tags": tags,
        "passed": below,
        "prediction": "int8",
        "tok2vec": parser["tok2vec"],
    }
    components[SHARED] = {"factory": "lal_tok2vec", "model": shared}
    components[EMPTY] = {"factory": EMPTY}
    parser["tok2vec"] = listener
    rows = {"@misc": "spacy-lal.SharedRows.v1", "width": states, "passed": below}
    parser["input_encoder"] = rows
    roles["tok2vec"] = {
        "@architectures": WITH_ENCODER,
        "embed": own_vectors,
        "encoder": listener,
    }
    roles["input_encoder"] |= {"hidden_width": THIN, "depth": 1, "tag_depth": 0}
    parser["prediction"] = roles["prediction"] = "int8"
    before = [name for name in nlp.pipe_names if name not in (PARSER, ROLES, EMPTY)]
    config["nlp"]["pipeline"] = [*before, SHARED, PARSER, ROLES, EMPTY]
    return dict(config)


def own_and_below(tok2vec: dict[str, Any]) -> tuple[dict[str, Any], int]:
    """Return the config of a component's own word vectors, and the width of those of an encoder
    behind them."""
    if tok2vec["@architectures"] != WITH_ENCODER:
        return tok2vec, 0
    return tok2vec["embed"], tok2vec["encoder"]["width"]


def transfer(old: Language, new: Language, docs: list[Path], minutes: float) -> None:
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

    forms_of, features_of = parser.get_ref("tok2vec"), torch_shim(shared).module

    def read(some: list[Doc]) -> Callable[[Tensor, Tensor], Tensor]:
        forms, own = vectors(forms_of, some), vectors(own_of, some)
        return lambda tokens, lengths: torch.cat(
            [own[tokens], features_of(forms[tokens], lengths)], -1
        )

    layer = ThinLayer(roles, own_of.get_dim("nO") + width)
    fit(layer, old, read, docs, minutes)
    kept = {
        name: value
        for name, value in torch_shim(roles).tensors().items()
        if not name.startswith(("input_encoder.", "encoder.project"))
    }
    take(old, new, ROLES, layer.d_in, kept | layer.tensors())


class ThinLayer(nn.Module):
    """What LISA's attention reads: vectors of words [B, n, d_in] -> their projection [B, n, d_out],
    beside the states of a BiLSTM of one layer."""

    def __init__(self, lisa: Model, d_in: int) -> None:
        super().__init__()
        self.d_in = d_in
        settings = BiLSTMInput(THIN, depth=1, tag_depth=0, mixed_precision=True)
        self.input_encoder = settings.build(d_in, 1)
        d_out = len(torch_shim(lisa).module.encoder.project.bias)
        self.project = nn.Linear(d_in + 2 * THIN, d_out)

    def forward(self, x: Tensor, lengths: Tensor) -> Tensor:
        rows, _ = self.input_encoder(x, lengths)
        return self.project(torch.cat([x, rows[:, 1:-1]], -1))

    def tensors(self) -> dict[str, Tensor]:
        """Return the parameters by LISA's names."""
        return {
            name.replace("project.", "encoder.project."): value.detach()
            for name, value in self.named_parameters()
        }


Reader = Callable[[list[Doc]], Callable[[Tensor, Tensor], Tensor]]
"""Function from Docs to what a new layer reads of a batch of their sentences: from the words'
places among all tokens [B, n] and the lengths [B]."""


def fit(layer: ThinLayer, old: Language, read: Reader, docs: list[Path], minutes: float) -> None:
    """Train a layer for what LISA's attention read before, with falling rates."""
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
                return
            here = torch.arange(tokens.shape[1]) < lengths.unsqueeze(1)
            meaning = meanings[tokens]
            highest = lisa.input_encoder(meaning, lengths)[0][:, 1:-1]
            wanted = lisa.encoder.project(torch.cat([meaning, highest], -1))[here]
            x = reads(tokens, lengths)
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
    typer.run(main)
