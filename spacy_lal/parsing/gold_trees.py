"""Gold trees, heads and tags of training examples, aligned to the predicted Doc, as tensors."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy
import torch
from numpy.typing import NDArray
from spacy.attrs import DEP, HEAD
from spacy.tokens import Doc
from spacy.training import Example
from torch import Tensor

from ..annotations.constituents import get_constituents, project_constituents
from ..batching.batches import padded
from ..batching.sentences import Reading, Sentence, heads_in_words, in_words
from ..pipeline.examples import Counts, Reader, same_tokens
from ..structure.arborescence import is_projective
from ..structure.binarise import collapse_unaries
from ..structure.chart import chart_size, width_offset
from ..structure.hpsg import SUB_HEAD, lexicalise
from ..trees.nest import crossing
from ..trees.tree import LabelledSpan


def read_words(doc: Doc, counts: Counts) -> None:
    """Count a Doc's tags and relations; without any relation, it lacks "heads"."""
    words = [token for token in doc if not token.is_space]
    relations = [token.dep_ for token in words if token.dep_]
    counts.names["tags"].update(token.tag_ for token in words if token.tag_)
    counts.names["relations"].update(relations)
    counts.lacking["heads"] += not relations


def read_trees(key: str, *, with_heads: bool) -> Reader:
    """Return a counter of a Doc's labels. It raises ValueError for crossing or unlabelled spans."""

    def read(doc: Doc, counts: Counts) -> None:
        if key not in doc.spans:
            counts.lacking["trees"] += 1
            return
        spans = get_constituents(doc, key)
        refuse_crossing(spans, doc)
        if any(not label for *_, label in spans):
            raise ValueError(f"a constituent has no label in the training Doc {doc.text[:60]!r}")
        # spans that differ in whitespace only are a unary chain, as in training
        words = numpy.flatnonzero([not token.is_space for token in doc])
        whole = in_words(spans, Sentence(0, 0, len(doc), words))
        counts.names["labels"].update(label for *_, label in collapse_unaries(whole))
        if not with_heads or not doc.has_annotation("DEP"):
            return
        doc_heads = token_heads(doc)
        for sentence in Reading(max_sentence_length=max(1, len(doc))).split([doc]):
            heads = heads_in_words(doc_heads, sentence).tolist()
            if -1 not in heads:
                tree = lexicalise(in_words(spans, sentence), heads, len(heads))
                counts.joint["sentences"] += 1
                counts.joint["groups"] += [node.label for node in tree.nodes].count(SUB_HEAD)
                counts.joint["conflicts"] += tree.conflicts
                counts.joint["non-projective"] += not is_projective(heads)

    return read


def refuse_crossing(spans: list[LabelledSpan], doc: Doc) -> None:
    """Raises ValueError for constituents that cross."""
    if pair := crossing(spans):
        raise ValueError(
            f"constituents {pair[0]} and {pair[1]} cross in the training Doc "
            f"{doc.text[:60]!r}: they are no tree"
        )


def gold_constituents(example: Example, key: str) -> list[LabelledSpan] | None:
    """Return preorder (start, end, label) in predicted tokens; None if the reference has no trees.
    An empty span group is a tree of words alone. A Doc with an "unparsed" sentence counts as a Doc
    without trees. Constituents across token borders of the predicted Doc are left out."""
    groups = example.reference.spans
    if key not in groups or groups[key].attrs.get("unparsed"):
        return None
    spans = get_constituents(example.reference, key)
    if same_tokens(example):
        return spans
    alignment = example.alignment
    projected = project_constituents(spans, alignment.y2x, alignment.x2y)
    return [(start, end, label) for start, end, label, exact in projected if exact]


def gold_tags(example: Example) -> list[str]:
    """Return the gold tag of every predicted token, or ""."""
    if same_tokens(example):
        return [token.tag_ for token in example.reference]
    return [tag or "" for tag in example.get_aligned("TAG", as_string=True)]


class GoldHeads(NamedTuple):
    """Gold heads of predicted tokens as in `token_heads`, and relations ("" for no relation)."""

    heads: NDArray[numpy.int64]
    relations: list[str]


def token_heads(doc: Doc) -> NDArray[numpy.int64]:
    """Return the index of every token's head: its own for a root, -1 without a relation."""
    offsets, relations = doc.to_array([HEAD, DEP]).view("int64").reshape(-1, 2).T
    return numpy.where(relations != 0, numpy.arange(len(doc)) + offsets, -1)


def gold_heads(example: Example) -> GoldHeads:
    """Return the gold heads of predicted tokens; tokens without a gold counterpart have no head."""
    reference = example.reference
    if same_tokens(example):
        return GoldHeads(token_heads(reference), [token.dep_ for token in reference])
    aligned, relations = example.get_aligned_parse(projectivize=False)
    pairs = zip(aligned, relations, strict=True)
    heads = [head if dep and head is not None else -1 for head, dep in pairs]
    return GoldHeads(numpy.asarray(heads, dtype="int64"), [dep or "" for dep in relations])


class WordGold:
    """Gold tags, heads and relations of examples; cfg: the component's names by kind. taught: for
    each example whether a teacher's probabilities are its gold; it then has none here."""

    def __init__(
        self, cfg: dict[str, Any], examples: list[Example], taught: Sequence[bool] = ()
    ) -> None:
        self.index = {
            kind: {name: k for k, name in enumerate(cfg.get(kind, ()))}
            for kind in ("tags", "relations")
        }
        found = [gold_heads(example) for example in examples] if cfg.get("relations") else []
        self.heads_of_docs = [doc_heads.heads for doc_heads in found]
        self.names = {
            "tags": [gold_tags(example) for example in examples],
            "relations": [doc_heads.relations for doc_heads in found],
        }
        for d in numpy.flatnonzero(taught).tolist():
            for names in self.names.values():
                if names:
                    names[d] = [""] * len(names[d])
            if found:
                self.heads_of_docs[d] = numpy.full_like(self.heads_of_docs[d], -1)

    def numbers(self, kind: str, members: list[Sentence], like: Tensor) -> Tensor:
        """Return the numbers of words' tags or relations [B, n]; -1 if missing or unknown."""
        index, names = self.index[kind], self.names[kind]
        return padded(
            like, ([index.get(names[s.doc][i], -1) for i in s.words.tolist()] for s in members)
        )

    def heads(self, members: list[Sentence], like: Tensor) -> Tensor:
        """Return heads [B, n]: 0 the root, k word k, -1 without gold."""
        return padded(like, (heads_in_words(self.heads_of_docs[s.doc], s) for s in members))


def gold_labels(
    trees: Sequence[Sequence[LabelledSpan]], n: int, index: Mapping[str, int]
) -> Tensor:
    """Return packed gold charts [B, S]: the label number of each constituent, else 0.
    trees: preorder constituents by words. index: numbers of known labels, unary chains
        collapsed."""
    chart = numpy.zeros((len(trees), chart_size(n)), dtype=numpy.int64)
    for row, tree in enumerate(trees):
        for start, end, label in collapse_unaries(tree):
            chart[row, width_offset(n, end - start) + start] = index.get(label, 0)
    return torch.from_numpy(chart)


def with_sub_heads(tree: list[LabelledSpan], heads: list[int]) -> list[LabelledSpan]:
    """Return constituents with "<H>" groups; without groups if a head in `heads` is -1."""
    if -1 in heads:
        return tree
    return lexicalise(tree, heads, len(heads)).spans
