"""Train a parser on a few bracketed trees, in Python; for real training use `spacy train`.

python examples/researcher.py
"""

from __future__ import annotations

import spacy
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

from spacy_lal.annotations.constituents import set_constituents
from spacy_lal.trees.tree import ConstituentTree

TREES = [
    "(TOP (S (NP (DT the) (NN dog)) (VP (VBZ barks)) (. .)))",
    "(TOP (S (NP (DT a) (NN cat)) (VP (VBZ sees) (NP (DT the) (NN dog))) (. .)))",
    "(TOP (S (NP (NNS birds)) (VP (VBP sing) (PP (IN in) (NP (DT the) (NN park)))) (. .)))",
]


def example(nlp: Language, bracketing: str) -> Example:
    """A tree as spaCy trains on it: the words, and a Doc that has the tags and the tree."""
    tree = ConstituentTree.from_string(bracketing)
    words, tags = zip(*tree.tagged, strict=True)
    starts = [True] + [False] * (len(words) - 1)
    gold = Doc(nlp.vocab, words=words, tags=tags, sent_starts=starts)
    set_constituents(gold, tree.spans(include_root=False))
    return Example(Doc(nlp.vocab, words=words), gold)


def train(steps: int) -> Language:
    """A pipeline with one component, which has seen the trees so many times."""
    nlp = spacy.blank("en")
    nlp.add_pipe("lal_constituency")
    examples = [example(nlp, bracketing) for bracketing in TREES]
    optimizer = nlp.initialize(lambda: examples)
    for _ in range(steps):
        nlp.update(examples, sgd=optimizer, drop=0.1)
    return nlp


if __name__ == "__main__":
    print(next(train(80)("the cat sees the birds .").sents)._.tree)
