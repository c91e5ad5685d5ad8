"""A tiny pipeline whose components listen to one encoder."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import spacy
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

from spacy_lal.annotations.constituents import set_constituents
from spacy_lal.bridge.shim import TorchShim, torch_shim
from spacy_lal.trees.tree import ConstituentTree
from tests.pipeline.toy import DEPENDENCIES, TINY
from tests.pipeline.toy_frames import SENTENCES, SMALL, frames_doc

BRACKETS = [
    "(TOP (S (NP (DT The) (NN cat)) (VP (VBD sat) (PP (IN on) (NP (DT the) (NN mat)))) (. .)))",
    "(TOP (S (NP (PRP She)) (VP (VBD ate) (NP (NP (DT the) (NN fish)) (SBAR (WHNP (WDT that))"
    " (S (VP (VBD swam)))))) (. .)))",
    "(TOP (S (VP (VB Give) (NP (DT the) (NN dog)) (PRT (RP up))) (. !)))",
    "(TOP (FRAG (INTJ (UH Hello)) (. .)))",
    "(TOP (S (S (NP (NNS Dogs)) (VP (VBP eat))) (CC and) (S (NP (NNS cats)) (VP (VBD sat)))"
    " (. .)))",
]
WORDS = " ".join(words for words, *_ in SENTENCES).split()
LISTENER = {"@architectures": "spacy.Tok2VecListener.v1", "width": 32, "upstream": "tok2vec"}
BESIDE = {
    "@architectures": "spacy-lal.WithEncoder.v1",
    "embed": TINY["tok2vec"],
    "encoder": LISTENER,
}

BILSTM: dict[str, Any] = {
    "@architectures": "spacy-lal.SentenceBiLSTM.v1",
    "hidden_width": 16,
    "depth": 2,
    "tok2vec": TINY["tok2vec"],
}
ROWS = {"@misc": "spacy-lal.SharedRows.v1"}


def shared_pipeline(folder: Path) -> Language:
    """Trees, heads, roles, spaCy's tags and sentence starts from the transformer of a folder."""
    nlp = spacy.blank("en")
    encoder = {
        "@architectures": "spacy-lal.PretrainedEncoder.v1",
        "path": str(folder),
        "output": "mix",
        "layers": 2,
    }
    nlp.add_pipe("tok2vec", config={"model": encoder})
    tagger: dict[str, Any] = {"@architectures": "spacy.Tagger.v2", "tok2vec": LISTENER}
    nlp.add_pipe("tagger", config={"model": tagger})
    nlp.add_pipe("senter", config={"model": tagger})
    parser = {**TINY, "tok2vec": BESIDE, "dependencies": DEPENDENCIES}
    nlp.add_pipe("lal_constituency", config={"model": parser})
    nlp.add_pipe("lisa_srl", config={"model": {**SMALL, "tok2vec": BESIDE}})
    return nlp


def shared_examples(nlp: Language, *, frames: bool = True) -> list[Example]:
    examples = []
    for k, brackets in enumerate(BRACKETS):
        gold = frames_doc(nlp, k, frames=frames)
        spans = ConstituentTree.from_string(brackets).spans(include_root=False)
        set_constituents(gold, spans)
        examples.append(Example(Doc(nlp.vocab, words=[t.text for t in gold]), gold))
    return examples


def step(nlp: Language, examples: list[Example], optimizer: Any, **settings: Any) -> None:
    """Update the pipeline as the training command does: all gradients first."""
    nlp.update(examples, sgd=False, **settings)
    for name, pipe in nlp.pipeline:
        if hasattr(pipe, "finish_update") and name not in settings.get("exclude", ()):
            pipe.finish_update(optimizer)


def encoder_shim(nlp: Language) -> TorchShim:
    return torch_shim(nlp.get_pipe("tok2vec").model)  # type: ignore[attr-defined]


def annotations(docs: Iterable[Doc]) -> list[Any]:
    """All that the components write."""
    return [
        (
            [(t.tag_, t.head.i, t.dep_, t.is_sent_start) for t in doc],
            {key: [(s.start, s.end, s.label_) for s in group] for key, group in doc.spans.items()},
        )
        for doc in docs
    ]


def toy_tags() -> set[str]:
    """The tags of the examples."""
    return {t.tag_ for example in shared_examples(spacy.blank("en")) for t in example.reference}


def bilstm_pipeline(tags: int = 0, *, thin: bool = False) -> Language:
    """Trees, heads and roles from a BiLSTM that their components share. tags: number of those that
    it finds, 0 if the parser finds them. thin: LISA has a layer of its own above it."""
    nlp = spacy.blank("en")
    width = 2 * BILSTM["hidden_width"]
    listener = {**LISTENER, "width": width + tags, "upstream": "lal_tok2vec"}
    bilstm = {**BILSTM, "tags": tags, "tag_width": 8}
    nlp.add_pipe("lal_tok2vec", config={"model": bilstm})
    rows = {**ROWS, "width": width} if tags else ROWS
    parser = {**TINY, "tok2vec": listener, "input_encoder": rows, "dependencies": DEPENDENCIES}
    nlp.add_pipe("lal_constituency", config={"model": parser})
    roles = {**SMALL, "tok2vec": {**BESIDE, "encoder": listener}, "positions": False}
    if thin:
        roles["input_encoder"] = {**TINY["input_encoder"], "depth": 1, "tag_depth": 0}
    nlp.add_pipe("lisa_srl", config={"model": roles})
    nlp.add_pipe("lal_empty_tensor")
    return nlp


def bilstm_shim(nlp: Language) -> TorchShim:
    return torch_shim(nlp.get_pipe("lal_tok2vec").model)  # type: ignore[attr-defined]
