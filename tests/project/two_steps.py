"""A few updates of a config's pipeline on toy sentences."""

from __future__ import annotations

import torch
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import load_model_from_config
from thinc.api import Config

from spacy_lal.bridge.shim import torch_shims
from spacy_lal.formats.ftb import FrenchTreebank
from spacy_lal.formats.penn_brackets import clean_tree, parse_treebank, to_sentence
from spacy_lal.formats.treebank_format import Losses
from spacy_lal.formats.treebank_sentence import TreebankSentence, to_doc

from .running import ROOT


def trained_two_steps(config: Config) -> Language:
    """The config's pipeline after two updates on toy sentences."""
    nlp = load_model_from_config(config.interpolate(), auto_fill=True)
    docs = [to_doc(sentence, nlp.vocab) for sentence in toy_sentences(nlp.lang)]
    examples = []
    for doc in docs:  # tags are read by parsers with input_encoder.tags = "doc" alone
        words, tags = ([getattr(t, name) for t in doc] for name in ("text", "tag_"))
        examples.append(Example(Doc(nlp.vocab, words=words, tags=tags), doc))
    optimizer = nlp.initialize(lambda: examples)
    before = parameters_of(nlp)
    for _ in range(2):  # where there is a warm-up, the first learning rate is 0
        losses = nlp.update(examples, sgd=optimizer, drop=nlp.config["training"]["dropout"])
        optimizer.step_schedules()
    assert losses[nlp.pipe_names[-1]] > 0
    after = parameters_of(nlp)
    assert any(not torch.equal(after[key], value) for key, value in before.items())
    assert all(value.isfinite().all() for value in after.values())
    return nlp


def parameters_of(nlp: Language) -> dict[str, torch.Tensor]:
    """Copies of the parser's own."""
    shims = [shim for _, shim in torch_shims(nlp.get_pipe(nlp.pipe_names[-1]).model)]
    return {
        f"{number}.{key}": value.detach().clone()
        for number, shim in enumerate(shims)
        for key, value in shim.tensors().items()
    }


def toy_sentences(lang: str) -> list[TreebankSentence]:
    """Of the development data."""
    if lang == "fr":
        return list(FrenchTreebank().read(ROOT / "assets/toy/ftb/dev.French.gold.ptb", Losses()))
    trees = parse_treebank((ROOT / "assets/toy/dev.mrg").read_text())
    return [to_sentence(clean_tree(tree)) for tree in trees]
