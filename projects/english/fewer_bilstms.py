"""A pipeline with parser and roles whose components have fewer BiLSTMs, to be trained on.

    python fewer_bilstms.py shared PIPELINE OUTPUT DOCS… [--minutes 10]
    python fewer_bilstms.py above-encoder PIPELINE OUTPUT DOCS [--words 60000]

`shared`: parser and roles, which had a BiLSTM each, share the parser's, and LISA has one thin layer
above it. `above-encoder`: of components that listen to a transformer, the parser keeps two layers
of three, and LISA one.

What read the states of a layer that goes begins with the functions of what is left that come
nearest to those: linear ones by least squares over the words of DOCS, the thin layer by training.
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
from spacy.tokens import Doc
from spacy.util import load_model_from_config, minibatch
from spacy.vocab import Vocab
from thinc.api import Model
from torch import Tensor, nn

from spacy_lal.batching.batches import token_batches
from spacy_lal.bridge.shim import to_tensor, torch_shim
from spacy_lal.formats.docbins import read_spacy
from spacy_lal.layers.input_encoders import BiLSTMInput

SHARED, ENCODER = "lal_tok2vec", "tok2vec"
PARSER, ROLES = "lal_constituency", "lisa_srl"
THIN = 192
"""Width of each direction of LISA's layer above a shared BiLSTM."""
RATE = 0.002
"""Learning rate of that layer."""

PipelineArgument = Annotated[str, typer.Argument(help="Name or folder of a pipeline.")]
OutputArgument = Annotated[Path, typer.Argument(help="Folder to write.")]
DocsArgument = Annotated[Path, typer.Argument(help="A .spacy file with sentences.")]
WordsOption = Annotated[int, typer.Option(help="Number of words to fit with.")]

app = typer.Typer(no_args_is_help=True, add_completion=False)


@app.command()
def shared(
    pipeline: PipelineArgument,
    output: OutputArgument,
    docs: Annotated[list[Path], typer.Argument(help=".spacy files, or folders, of sentences.")],
    minutes: Annotated[float, typer.Option(min=0.01, help="Time to train the thin layer.")] = 10,
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
    words: WordsOption = 60_000,
) -> None:
    """Keep the layer of tags and one above it in the parser, and the lowest layer in LISA.

    The vectors of the encoder tell words in context already.
    """
    make(
        pipeline,
        output,
        with_fewer_layers,
        lambda old, new: transfer_above_encoder(old, new, sample_of(docs, words, old.vocab)),
    )


def sample_of(docs: Path, words: int, vocab: Vocab) -> list[Doc]:
    """Return the first Docs of a file, of so many words."""
    sample, total = [], 0
    for doc in read_spacy(docs, vocab):
        sample.append(doc)
        total += len(doc)
        if total > words:
            break
    return sample


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
    components["lal_empty_tensor"] = {"factory": "lal_empty_tensor"}
    parser["tok2vec"] = listener
    parser["input_encoder"] = {"@misc": "spacy-lal.SharedRows.v1", "width": states}
    roles["tok2vec"] = {
        "@architectures": "spacy-lal.WithEncoder.v1",
        "embed": roles["tok2vec"],
        "encoder": listener,
    }
    roles["input_encoder"] |= {"hidden_width": THIN, "depth": 1, "tag_depth": 0}
    parser["prediction"] = roles["prediction"] = "int8"
    before = [name for name in nlp.pipe_names if name not in (PARSER, ROLES)]
    config["nlp"]["pipeline"] = [*before, SHARED, PARSER, ROLES, "lal_empty_tensor"]
    return dict(config)


def transfer_shared(old: Language, new: Language, docs: list[Path], minutes: float) -> None:
    """Give the pipeline with one BiLSTM the old one's weights."""
    parser, roles = (old.get_pipe(name).model for name in (PARSER, ROLES))
    shared = new.get_pipe(SHARED).model
    copy(parser.get_ref("tok2vec"), shared.get_ref("tok2vec"))
    copy(roles.get_ref("tok2vec"), new.get_pipe(ROLES).model.get_ref("tok2vec").get_ref("embed"))
    theirs = torch_shim(parser).tensors()
    prefix = "input_encoder."
    of_rows = prefix + "start", prefix + "stop"
    mine = {k: v for k, v in theirs.items() if not k.startswith(prefix) or k in of_rows}
    d_in = torch_shim(parser).header["d_in"]
    states = {k.removeprefix(prefix): v for k, v in theirs.items() if k not in mine}
    torch_shim(shared).load({"d_in": d_in, "settings": shared.attrs["settings"].to_json()}, states)
    width = shared.get_dim("nO")
    take(old, new, PARSER, width, mine)

    d_meaning = torch_shim(roles).header["d_in"]
    kept = {
        name: value
        for name, value in torch_shim(roles).tensors().items()
        if not name.startswith((prefix, "encoder.project"))
    }
    d_out = len(torch_shim(roles).module.encoder.project.bias)
    student = ThinLayer(d_meaning + width, d_out)
    with torch.enable_grad():
        fit(student, old, new, docs, minutes)
    take(old, new, ROLES, d_meaning + width, kept | student.tensors())


class ThinLayer(nn.Module):
    """What LISA's attention reads: vectors of words [B, n, d_in] -> their projection [B, n, d_out],
    beside the states of a BiLSTM of one layer."""

    def __init__(self, d_in: int, d_out: int) -> None:
        super().__init__()
        settings = BiLSTMInput(THIN, depth=1, tag_depth=0, mixed_precision=True)
        self.input_encoder = settings.build(d_in, 1)
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


def fit(student: ThinLayer, old: Language, new: Language, docs: list[Path], minutes: float) -> None:
    """Train a thin layer for what LISA's attention read before, with falling rates."""
    parser, roles = (old.get_pipe(name).model for name in (PARSER, ROLES))
    shared, lisa = torch_shim(new.get_pipe(SHARED).model).module, torch_shim(roles).module
    optimizer = torch.optim.Adam(student.parameters(), lr=RATE, betas=(0.9, 0.99))
    student.train()
    began, step, rest, all_of = time.monotonic(), 0, 0.0, 0.0
    for some in forever(docs, old.vocab):
        words = Words(parser, some)
        forms, meanings = (model.get_ref("tok2vec").predict(some) for model in (parser, roles))
        forms, meanings = (torch.from_numpy(numpy.concatenate(v)) for v in (forms, meanings))
        for lengths, tokens in words.batches:
            passed = (time.monotonic() - began) / (60 * minutes)
            if passed >= 1:
                student.eval()
                return
            here = real(lengths, tokens)
            with torch.no_grad():
                x, meaning = forms[tokens], meanings[tokens]
                highest = lisa.input_encoder(meaning, lengths)[0][:, 1:-1]
                wanted = lisa.encoder.project(torch.cat([meaning, highest], -1))[here]
                x = torch.cat([meaning, shared(x, lengths)], -1)
            loss = (student(x, lengths)[here] - wanted).square().sum()
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


def forever(files: list[Path], vocab: Vocab) -> Iterator[list[Doc]]:
    """Yield Docs of files and folders in groups, again and again."""
    paths = [part for file in files for part in (sorted(file.rglob("*.spacy")) or [file])]
    while True:
        for path in paths:
            yield from minibatch(read_spacy(path, vocab), 500)


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
    for _ in old.get_pipe(ENCODER).pipe(docs):
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
