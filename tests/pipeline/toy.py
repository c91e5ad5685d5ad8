"""A hand-written treebank and a tiny parser for it."""

from __future__ import annotations

import spacy
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

from spacy_lal.annotations import set_constituents
from spacy_lal.trees import ConstituentTree

TREES = [
    "(TOP (S (NP (DT The) (NN cat)) (VP (VBD sat) (PP (IN on) (NP (DT the) (NN mat)))) (. .)))",
    "(TOP (S (NP (PRP She)) (VP (VBD ate) (NP (DT the) (NN fish))) (. .)))",
    "(TOP (S (VP (VB Go) (ADVP (RB home))) (. !)))",
    "(TOP (INTJ (UH Hello)))",
    "(TOP (NP (NP (DT A) (NN dog)) (PP (IN with) (NP (DT a) (NN bone)))))",
    "(TOP (S (NP (NP (NNS Cats)) (CC and) (NP (NNS dogs))) (VP (VBP fight)) (. .)))",
    "(TOP (NP (NP (CD 3)) (NN pm)))",
    "(TOP (FRAG (NP (NP (NNS Dogs)))) (. ?))",
]

TINY = {
    "tok2vec": {
        "@architectures": "spacy-lal.WordAffixEmbed.v1",
        "word_width": 16,
        "affix_width": 4,
        "min_count": 1,
        "word_dropout": 0.0,
        "feature_dropout": 0.0,
    },
    "rows": {"@misc": "spacy-lal.BiLSTMRows.v1", "hidden_width": 16, "depth": 2, "tag_width": 8},
    "encoder": {
        "@misc": "spacy-lal.LabelAttentionEncoder.v1",
        "heads": 4,
        "key_width": 8,
        "value_width": 8,
        "projection_width": 4,
    },
    "hidden_width": 32,
}


def gold_doc(nlp: Language, bracketing: str) -> Doc:
    tree = ConstituentTree.from_string(bracketing)
    words, tags = zip(*tree.tagged, strict=True)
    doc = Doc(nlp.vocab, words=list(words), tags=list(tags))
    for token in doc:
        token.is_sent_start = token.i == 0
    set_constituents(doc, tree.spans(include_root=False))
    return doc


def examples(nlp: Language) -> list[Example]:
    docs = [gold_doc(nlp, tree) for tree in TREES]
    return [
        Example(
            Doc(
                nlp.vocab,
                words=[t.text for t in doc],
                sent_starts=[t.i == 0 for t in doc],
            ),
            doc,
        )
        for doc in docs
    ]


def tiny_pipeline(**config: object) -> Language:
    nlp = spacy.blank("en")
    nlp.add_pipe("lal_constituency", config={"model": TINY, **config})
    return nlp


def train(nlp: Language, steps: int = 80) -> Language:
    of_training = examples(nlp)
    optimizer = nlp.initialize(lambda: of_training)
    optimizer.learn_rate = 0.01
    for _ in range(steps):
        nlp.update(of_training, sgd=optimizer)
    return nlp


def predicted(nlp: Language, bracketing: str) -> str:
    doc = gold_doc(nlp, bracketing)
    bare = Doc(nlp.vocab, words=[t.text for t in doc], sent_starts=[t.i == 0 for t in doc])
    (tree,) = nlp(bare)._.trees
    return str(tree)
