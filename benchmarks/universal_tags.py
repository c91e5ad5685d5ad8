"""How many universal tags are those of a treebank, derived from its own tags and relations, from
its tags alone, and from those that a pipeline finds for its words.

    python benchmarks/universal_tags.py en_ewt-ud-dev.conllu [--model en_lal_sm]
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from itertools import chain

from spacy_lal.annotations.universal_tags import universal_tags
from spacy_lal.formats.conllu import read_conllu
from spacy_lal.formats.treebank_sentence import TreebankSentence, to_doc


def show(what: str, gold: Sequence[str], found: Iterable[str]) -> None:
    right = sum(a == b for a, b in zip(gold, found, strict=True))
    print(f"{what:32} {right:,} of {len(gold):,} words: {100 * right / len(gold):.2f} %")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("treebank", help="CoNLL-U with Penn tags")
    parser.add_argument("--model", help="pipeline that finds tags and relations")
    arguments = parser.parse_args()
    sentences = list(read_conllu(arguments.treebank))
    words, tags, relations, gold = (
        list(chain.from_iterable(getattr(sentence, name) for sentence in sentences))
        for name in ("words", "xpos", "deprels", "upos")
    )
    show("gold tags and relations", gold, universal_tags(words, tags, relations))
    show("gold tags", gold, universal_tags(words, tags))
    if arguments.model:
        import spacy

        nlp = spacy.load(arguments.model)
        bare = (to_doc(TreebankSentence(s.words, s.spaces), nlp.vocab) for s in sentences)
        tokens = [token for doc in nlp.pipe(bare) for token in doc]
        found = [token.tag_ for token in tokens], [token.dep_ for token in tokens]
        show(f"tags and relations of {arguments.model}", gold, universal_tags(words, *found))


if __name__ == "__main__":
    main()
