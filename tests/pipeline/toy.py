"""A hand-written treebank and a tiny parser for it."""

from __future__ import annotations

import spacy
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

from spacy_lal.annotations.constituents import set_constituents
from spacy_lal.trees.tree import ConstituentTree

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
    "input_encoder": {
        "@misc": "spacy-lal.BiLSTMRows.v1",
        "hidden_width": 16,
        "depth": 2,
        "tag_width": 8,
    },
    "encoder": {
        "@misc": "spacy-lal.LabelAttentionEncoder.v1",
        "heads": 4,
        "key_width": 8,
        "value_width": 8,
        "projection_width": 4,
    },
    "hidden_width": 32,
}

TWO_STAGE = {
    "@architectures": "spacy-lal.TwoStageParser.v1",
    "tok2vec": TINY["tok2vec"],
    "input_encoder": TINY["input_encoder"],
    "encoder": {"@misc": "spacy-lal.LabelAttentionEncoder.v1", "heads": 0},
    "spans": {"@misc": "spacy-lal.BiaffineSpans.v1", "span_width": 16, "label_width": 8},
}

TRANSFORMER_SPANS = {
    "@misc": "spacy-lal.TransformerSpans.v1",
    "span_width": 16,
    "biaffine_width": 16,
    "biaffine_rank": 8,
    "width": 8,
    "heads": 2,
    "feed_forward_width": 16,
    "label_width": 8,
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


# Heads of the trees' words, 0 the root and k word k, and their relations

HEADS = [
    ([2, 3, 0, 6, 6, 3, 3], "det nsubj ROOT case det obl punct"),
    ([2, 0, 4, 2, 2], "nsubj ROOT det obj punct"),
    ([0, 1, 1], "ROOT advmod punct"),
    ([0], "ROOT"),
    ([2, 0, 5, 5, 2], "det ROOT case det nmod"),
    ([4, 3, 1, 0, 4], "nsubj cc conj ROOT punct"),  # "and dogs" are a group in their NP
    ([2, 0], "nummod ROOT"),
    ([0, 1], "ROOT punct"),
]

DEPENDENCIES = {
    "@misc": "spacy-lal.BiaffineDependencies.v1",
    "arc_width": 16,
    "relation_width": 8,
}


def offsets(heads: list[int]) -> list[int]:
    """Heads in spaCy's way: tokens counted from 0, a root is its own head."""
    return [word if head == 0 else head - 1 for word, head in enumerate(heads)]


def headed_doc(nlp: Language, k: int) -> Doc:
    """The k-th toy tree, with heads."""
    tree = ConstituentTree.from_string(TREES[k])
    words, tags = zip(*tree.tagged, strict=True)
    heads, relations = HEADS[k]
    doc = Doc(
        nlp.vocab,
        words=list(words),
        tags=list(tags),
        heads=offsets(heads),
        deps=relations.split(),
    )
    set_constituents(doc, tree.spans(include_root=False))
    return doc


def bare_doc(nlp: Language, doc: Doc) -> Doc:
    """The words and sentences of a Doc, and nothing else."""
    starts = [bool(token.is_sent_start) for token in doc]
    return Doc(nlp.vocab, words=[t.text for t in doc], sent_starts=starts)


def headed_examples(nlp: Language) -> list[Example]:
    docs = [headed_doc(nlp, k) for k in range(len(TREES))]
    return [Example(bare_doc(nlp, doc), doc) for doc in docs]


def joint_pipeline(**config: object) -> Language:
    nlp = spacy.blank("en")
    model = {**TINY, "dependencies": DEPENDENCIES}
    nlp.add_pipe("lal_constituency", config={"model": model, **config})
    return nlp


def dependency_pipeline(**config: object) -> Language:
    nlp = spacy.blank("en")
    model = {
        "@architectures": "spacy-lal.LabelAttentionDependencyParser.v1",
        **{key: value for key, value in TINY.items() if key != "hidden_width"},
        "dependencies": DEPENDENCIES,
    }
    nlp.add_pipe("lal_dependency", config={"model": model, **config})
    return nlp


def train_on(nlp: Language, of_training: list[Example], steps: int) -> Language:
    optimizer = nlp.initialize(lambda: of_training)
    optimizer.learn_rate = 0.01
    for _ in range(steps):
        nlp.update(of_training, sgd=optimizer)
    return nlp


def check_heads(doc: Doc) -> None:
    """Every sentence is one tree: one root, no cycle, no head outside of it."""
    for sentence in doc.sents:
        roots = [token for token in sentence if token.head == token]
        assert len(roots) == 1, f"{len(roots)} roots in {sentence.text!r}"
        assert all(token.dep_ and (token.dep_ == "ROOT") == (token in roots) for token in sentence)
        for token in sentence:
            assert sentence.start <= token.head.i < sentence.end
            steps = 0
            while token.head != token:
                token, steps = token.head, steps + 1
                assert steps <= len(sentence)
            assert token == roots[0]
