"""Training from another pipeline's weights."""

import math
import re
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from itertools import zip_longest

import torch
import torch.nn.functional as F
from thinc.api import Model, PyTorchShim, Shim
from torch import Tensor, nn

from ..annotations.grammar_errors import ERROR, type_of
from ..layers.prepared import awake
from ..layers.role_paths import path_rows
from .shim import TorchShim, torch_shims
from .weights import Header

PRODUCT = r"(bilinear|left|right|bias|mixture\.weight|mixture\.bias)"
"""Parameters of a biaffine product, full or factorised."""
NAMED = {
    r"(scorer\.)?output\.(weight|bias)": "labels",
    rf"labels\.product\.{PRODUCT}": "labels",
    r"input_encoder\.(bilstm\.)?(tag_scores\.weight|tag_scores\.bias|tag_embedding)": "tags",
    rf"(dependencies|encoder\.parser)\.relation\.{PRODUCT}": "relations",
    rf"roles\.product\.{PRODUCT}": "roles",
    r"joint\.(weight|bias)": "joint",
}
"""Parameters with a row for each name of a list in the header."""
TABLES = {
    "words.weight": 0,
    "characters.embedding.weight": 1,
    **{f"tables.{k}.weight": k for k in range(9)},
}
"""Tables of embeddings, with a row "unknown" before those of a vocabulary of this number."""
READS_WORDS = re.compile(
    r"input_encoder\.(bilstm\.)?lower\.(ahead|back)\.0\.weight_ih_l0"
    # LISA's, which reads a BiLSTM's output and the words' vectors behind it
    r"|encoder\.project\.weight"
)
"""Parameters that read the words' vectors, which may have more features behind those they were
trained on: static vectors (`spacy-lal.WithOwnVectors.v1`) or a pretrained encoder's."""
CONTENT = "input_encoder.content.weight"
"""Parameter that reads words' vectors, or their tags, of which it has a column each."""
SHARED = "sentence_bilstm"
"""Name of a BiLSTM that components share (`spacy-lal.SentenceBiLSTM.v1`)."""
OVER_SENTENCES = {"label_attention_parser", "lisa"}
"""Networks over sentences whose parts of the same name are the same."""


def adopt_vocabulary(model: Model, source: Model) -> None:
    """Gives word embeddings in `model` the vocabulary of those in `source`, before it is built.

    Both embeddings need a vocabulary. New words of the training data follow, so rows keep their
    numbers. A language model keeps exactly the words that it predicts in `source`.
    """
    for mine, theirs in _pairs(model, source):
        known, own = _header(theirs).get("vocabulary"), getattr(mine, "cfg", {}).get("vocabulary")
        # without one on either side, as for a language model of weight 0, there is none to share
        if known and own:
            if isinstance(known[0], list):
                both = zip_longest(known, own, fillvalue=())
                known = [list(dict.fromkeys([*a, *b])) for a, b in both]
            mine.cfg["vocabulary"] = known


def take_weights(model: Model, source: Model) -> tuple[int, int]:
    """Copies every parameter of `source` that fits one of the same name in `model`.

    Rows of labels, tags or relations are matched by name, rows of words by the vocabulary from
    `adopt_vocabulary`; types of errors begin as errors without types, edits as their types. Where
    only one model has vectors behind the same embedding, the embedding's columns are copied and the
    other columns begin as zero. Static vectors stay. Returns two numbers of values: copied ones,
    and all of `model`."""
    taken = total = 0
    embedded = max(_embedding_widths(model) & _embedding_widths(source), default=0)
    shared = next((shim for node, shim in torch_shims(source) if node.name == SHARED), None)
    for mine, theirs in _pairs(model, source):
        have: dict[str, Tensor] = {}
        if theirs is not None:
            have |= awake(theirs._model).named_parameters()
        # one with layers above the shared ones has other word vectors
        if theirs is not None and shared not in (None, theirs) and not any(_layers(theirs._model)):
            have |= _own_layers(mine._model, awake(shared.module))
        for name, parameter in awake(mine._model).named_parameters():
            total += parameter.numel()
            if name in have:
                given = have[name].data.to(parameter.device)
                headers = _header(mine), _header(theirs)
                taken += _take(name, parameter.data, given, *headers, embedded)
    return taken, total


def _own_layers(network: nn.Module, shared: nn.Module) -> dict[str, Tensor]:
    """Returns the parameters of a shared BiLSTM under the names that they would have in a network
    with a BiLSTM of its own. Where that alone reads tags, the shared one adds nothing."""
    given = {key: value for key, _, value in _layers(shared)}
    tags = {name: value for name, value in shared.named_parameters() if name.startswith("tag_")}
    found = {}
    for key, name, value in _layers(network):
        if (of_shared := given.get(("", *key[1:]))) is not None:
            missing = value.shape[-1] - of_shared.shape[-1]
            reads_tags = ".upper." in name and name.endswith("weight_ih_l0")
            found[name] = F.pad(of_shared, (0, missing)) if reads_tags else of_shared
            found |= {f"{key[0]}{own}": of_tags for own, of_tags in tags.items()}
    return found


def _layers(network: nn.Module) -> Iterator[tuple[tuple[str, str, int, str], str, Tensor]]:
    """Yields the parameters of BiLSTMs: the input encoder that each is of, its direction, the layer
    counted from the lowest, and its own name; its whole name; and the parameter."""
    below: dict[str, int] = {}
    for name, value in network.named_parameters():
        if part := re.fullmatch(r"(.*\.)?(lower|upper)\.(ahead|back)\.(\d+)\.(\w+)", name):
            encoder, half, direction, number, own = part.groups()
            encoder = encoder or ""
            if half == "lower":
                below[encoder] = int(number) + 1
            at = int(number) + (below.get(encoder, 0) if half == "upper" else 0)
            yield (encoder, direction, at, own), name, value


def mean_weights(model: Model, again: Model, begun: Model, share: float = 0.5) -> tuple[int, int]:
    """Sets the weights of `model` to the mean of its own and another model's.

    again: a copy of the model, which receives the other's weights as by `take_weights`. begun: the
    other model. share: weight of the other in the mean. Returns the numbers of `take_weights`.
    """
    counts = take_weights(again, begun)
    with torch.no_grad():
        for (_, mine), (_, theirs) in zip(torch_shims(model), torch_shims(again), strict=True):
            others = dict(awake(theirs.module).named_parameters())
            for name, parameter in awake(mine.module).named_parameters():
                parameter.data.lerp_(others[name].data, share)
    return counts


def _take(
    name: str, value: Tensor, given: Tensor, ours: Header, known: Header, embedded: int
) -> int:
    """Copies the part of a parameter that fits by the headers; returns its number of values."""
    rows, given_rows = _rows(name, ours), _rows(name, known)
    if rows and given_rows:
        if name in TABLES and value.shape[1:] == given.shape[1:]:
            # a word unknown to `source` begins with the row "unknown"
            given = given.clone()
            value[:] = given[0]
        if name == CONTENT:
            value, given = value.T, given.T
        if any(isinstance(row, str) and type_of(row) != row for row in rows) or (
            ERROR in given_rows and ERROR not in rows
        ):
            return _take_types(value, given, rows, given_rows, name.endswith("bias"))
        return _take_rows(value, given, rows, given_rows)
    if rows or given_rows:
        return 0
    if given.shape == value.shape:
        value.copy_(given)
        return value.numel()
    if READS_WORDS.fullmatch(name) and embedded and len(given) == len(value):
        return _take_columns(value, given, embedded, ours["d_in"], known["d_in"])
    return 0


def _rows(name: str, header: Header) -> list[Hashable]:
    """Returns the names of a parameter's rows, or of the columns of `CONTENT`, if they have any.
    Other networks have parameters of the same names."""
    if name in TABLES and "vocabulary" in header:
        return ["", *header["vocabulary"][TABLES[name]]]
    if name == "paths.table":
        return list(path_rows(header["relations"]))
    if name == CONTENT:
        by_tag = header["settings"]["input_encoder"].get("content") == "tag"
        return header["tags"] if by_tag else []
    kind = next((kind for pattern, kind in NAMED.items() if re.fullmatch(pattern, name)), "")
    # in two stages, row 0 is "no constituent"
    before = [""] if name.startswith("labels.") else []
    return [*before, *header[kind]] if kind in header else []


def _take_rows(
    value: Tensor, given: Tensor, ours: Sequence[Hashable], known: Sequence[Hashable]
) -> int:
    index = {name: row for row, name in enumerate(known)}
    pairs = [(row, index[name]) for row, name in enumerate(ours) if name in index]
    if not pairs or value.shape[1:] != given.shape[1:]:
        return 0
    to, source = (torch.tensor(rows) for rows in zip(*pairs, strict=True))
    value[to] = given[source]
    return value[0].numel() * len(pairs)


def _take_types(
    value: Tensor, given: Tensor, ours: Sequence[Hashable], known: Sequence[Hashable], bias: bool
) -> int:
    """Copies rows of errors: a label's own, or else its type's, or else that of errors without
    types. What shares a row is as probable together as it was."""
    index = {name: row for row, name in enumerate(known)}
    sources = [
        next((at for at in (name, type_of(str(name)), ERROR) if at in index), None) for name in ours
    ]
    sharing = Counter(sources)
    for row, source in enumerate(sources):
        if source is not None:
            shift = math.log(sharing[source]) if bias else 0.0
            value[row] = given[index[source]] - shift
    return value[0].numel() * (len(ours) - sharing[None])


def _take_columns(value: Tensor, given: Tensor, embedded: int, width: int, given_width: int) -> int:
    """Copies the columns of the first `embedded` features of words, and those behind words."""
    behind = value[:, width:]
    if behind.shape != given[:, given_width:].shape:
        return 0
    value[:, :embedded] = given[:, :embedded]
    value[:, embedded:width] = 0.0
    behind.copy_(given[:, given_width:])
    return len(value) * embedded + behind.numel()


def _header(shim: Shim | None) -> Header:
    """Returns a module's header; none of another package's module, or before it is built."""
    return getattr(shim, "header", None) or {}


def _embedding_widths(model: Model) -> set[int]:
    widths = set()
    tok2vec = model.maybe_get_ref("tok2vec")
    while tok2vec is not None:
        if tok2vec.has_dim("nO"):
            widths.add(tok2vec.get_dim("nO"))
        below = tok2vec.maybe_get_ref("embed")
        tok2vec = tok2vec.maybe_get_ref("tok2vec") if below is None else below
    return widths


def _pairs(model: Model, source: Model) -> list[tuple[Shim, Shim | None]]:
    """Returns every network of the model, with the source's of the same name if it has one. Modules
    of spacy-transformers are among them once they are built."""

    def by_layer(of: Model) -> dict[tuple[str, int], Shim]:
        found: dict[tuple[str, int], Shim] = {}
        for node in of.walk():
            for shim in node.shims:
                if isinstance(shim, TorchShim) or (isinstance(shim, PyTorchShim) and shim._model):
                    name = "sentences" if node.name in OVER_SENTENCES else node.name
                    number = sum(name == other for other, _ in found)
                    found[name, number] = shim
        return found

    theirs = by_layer(source)
    return [(shim, theirs.get(key)) for key, shim in by_layer(model).items()]
