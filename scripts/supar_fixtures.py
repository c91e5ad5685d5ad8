"""Small random checkpoints made by supar 1.1.4, and what it finds with them.

Run it where supar is installed, with its dependencies; the tests need nothing of that:

    python scripts/supar_fixtures.py tests/fixtures/supar

It writes, for every variant, NAME.pt (`Parser.save`), NAME.npz (scores of every sentence alone) and
NAME.json (sentences, tags, trees or heads), and the folder `bert` of the transformer's
configuration and tokenizer. With --odd behind, sentences are those of `odd_sentences.py`, with
--conllu FILE those of a treebank that supar can read (brackets are words of their own), the trees
are spans, and there are no scores: `compare_odd.py` reads that.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
from pathlib import Path

import nltk
import numpy
import torch
from odd_sentences import Odd, asked, spans_of
from supar.parsers import BiaffineDependencyParser, CRFConstituencyParser
from supar.utils.common import BOS
from transformers import BertConfig, BertModel, BertTokenizerFast

TREES = """\
(TOP (S (NP (DT The) (NN dog)) (VP (VBZ sleeps) (PP (IN in) (NP (DT the) (NN garden)))) (. .)))
(TOP (S (NP (PRP She)) (VP (VBZ enjoys) (S (VP (VBG playing) (NP (NN tennis))))) (. .)))
(TOP (NP (NP (DT A) (JJ small) (NN house)) (PP (IN by) (NP (DT the) (NN sea)))))
(TOP (S (NP (DT The) (NN dog)) (VP (VBZ enjoys) (NP (DT the) (NN sea))) (. .)))
(TOP (INTJ (UH Yes)))
"""
HEADS = """\
1\tThe\t_\tDT\t_\t_\t2\tdet\t_\t_
2\tdog\t_\tNN\t_\t_\t3\tnsubj\t_\t_
3\tsleeps\t_\tVBZ\t_\t_\t0\troot\t_\t_
4\tin\t_\tIN\t_\t_\t6\tcase\t_\t_
5\tthe\t_\tDT\t_\t_\t6\tdet\t_\t_
6\tgarden\t_\tNN\t_\t_\t3\tobl\t_\t_

1\tShe\t_\tPRP\t_\t_\t2\tnsubj\t_\t_
2\tenjoys\t_\tVBZ\t_\t_\t0\troot\t_\t_
3\tthe\t_\tDT\t_\t_\t4\tdet\t_\t_
4\tsea\t_\tNN\t_\t_\t2\tobj\t_\t_

"""
VECTORS = "the 1 0 .5 -1\ndog 0 1 1 0\nlighthouse .2 -.3 .1 .9\nunk 0 0 0 .1\n"
SENTENCES = [
    "The/DT dog/NN enjoys/VBZ the/DT sea/NN ./.",
    "Yes/UH",
    "THE/DT lighthouse/NN sleeps/VBZ",
    "She/PRP enjoys/VBZ an/XX internationalisationalists/NN 's/POS garden/NN (/-LRB- a/DT small/JJ"
    " one/CD )/-RRB- by/IN the/DT sea/NN",
    "Ça/PRP va/VBZ ?/.",
    "playing/VBG tennis/NN in/IN the/DT garden/NN in/IN a/DT house/NN by/IN the/DT garden/NN ./.",
    "dog/NN dog/NN",
    "A/DT zebra/NN #/# sleeps/VBZ",
]
SIZES = {
    "min_freq": 1,
    "build": True,
    "n_embed": 12,
    "n_pretrained": 12,
    "n_feat_embed": 10,
    "n_char_embed": 6,
    "n_char_hidden": 10,
    "n_lstm_hidden": 8,
    "n_lstm_layers": 2,
    "n_span_mlp": 7,
    "n_label_mlp": 5,
    "n_arc_mlp": 7,
    "n_rel_mlp": 5,
    "n_bert_layers": 2,
    "freeze": False,
    "embed": None,
    "unk": "unk",
    "fix_len": 9,
}
CONSTITUENCY, DEPENDENCY = CRFConstituencyParser, BiaffineDependencyParser
VARIANTS = {
    "con_char": (CONSTITUENCY, {"feat": ["char"], "n_char_hidden": 8, "n_feat_embed": 8}),
    "con_tag_char": (CONSTITUENCY, {"feat": ["tag", "char"]}),
    "con_feature_bert": (CONSTITUENCY, {"feat": ["bert"], "bert_pooling": "first"}),
    "con_bert": (CONSTITUENCY, {"encoder": "bert", "bert_pooling": "last"}),
    "dep_char": (DEPENDENCY, {"feat": ["char"], "scale": 0.5}),
    "dep_vectors": (DEPENDENCY, {"feat": ["tag", "char"], "vectors": True, "n_pretrained": 3}),
    "dep_added_vectors": (
        DEPENDENCY,
        {"feat": ["tag"], "vectors": True, "n_embed": 4, "n_pretrained": 4},
    ),
    "dep_bert": (DEPENDENCY, {"encoder": "bert", "n_bert_layers": 0}),
}


def write_bert(folder: Path) -> None:
    letters = sorted(set("".join(SENTENCES).lower()) - set(" /"))
    whole = ["the", "dog", "sea", "sle", "##eps", "garden"]
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *whole, *letters]
    pieces += [f"##{letter}" for letter in letters if letter != "z"]
    folder.mkdir(exist_ok=True)
    (folder / "vocab.txt").write_text("\n".join(pieces), "utf-8")
    BertTokenizerFast(str(folder / "vocab.txt"), model_max_length=512).save_pretrained(folder)
    config = BertConfig(
        vocab_size=len(pieces),
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=24,
        max_position_embeddings=24,
    )
    BertModel(config).save_pretrained(folder)


def shake(parser: torch.nn.Module) -> None:
    """Values that make all parts matter; what supar begins with has many zeros."""
    for name, parameter in parser.named_parameters():
        if name == "pretrained.weight":
            continue
        if ".bert." in name:
            parameter.data += 0.1 * torch.randn_like(parameter)
        else:
            parameter.data = 0.5 * torch.randn_like(parameter)


def record_odd(parser: torch.nn.Module, sentences: list[list[tuple[str, str]]]) -> dict:
    """What the parser finds."""
    found = parser.predict([list(s) for s in sentences], verbose=False, tree=True, proj=False)
    if isinstance(parser, BiaffineDependencyParser):
        return {"heads": list(map(list, found.arcs)), "relations": list(map(list, found.rels))}
    children = lambda node: list(node) if isinstance(node, nltk.Tree) else None  # noqa: E731
    return {"trees": [spans_of(tree, children) for tree in found.trees]}


def record(parser: torch.nn.Module, sentences: list[list[tuple[str, str]]]) -> tuple[dict, dict]:
    arrays: dict[str, numpy.ndarray] = {}
    fields = [f for f in parser.transform.flattened_fields if f.name in INPUTS]
    for k, sentence in enumerate(sentences):
        words, tags = ([part[i] for part in sentence] for i in (0, 1))
        inputs = [f.compose(f.transform([tags if f.name == "tags" else words])) for f in fields]
        with torch.no_grad():
            first, second = parser.model.eval()(inputs[0], inputs[1:])
        arrays[f"{k}/0"], arrays[f"{k}/1"] = first[0].numpy(), second[0].numpy()
    # which writes brackets into the lists that it is given
    found = parser.predict([list(s) for s in sentences], verbose=False, tree=True, proj=False)
    if isinstance(parser, BiaffineDependencyParser):
        result = {"heads": list(map(list, found.arcs)), "relations": list(map(list, found.rels))}
    else:
        result = {"trees": [" ".join(str(tree).split()) for tree in found.trees]}
    return arrays, result


INPUTS = ("words", "chars", "bert", "tags")
BRACKETED = re.compile(r".[()]|[()].")


def main(output: Path, others: list[Odd] | None) -> None:
    torch.manual_seed(3)
    output.mkdir(parents=True, exist_ok=True)
    sentences = [[tuple(w.rsplit("/", 1)) for w in s.split()] for s in SENTENCES]
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        (scratch / "trees").write_text(TREES, "utf-8")
        (scratch / "heads").write_text(HEADS, "utf-8")
        (scratch / "vectors").write_text(VECTORS, "utf-8")
        # a relative name, which the checkpoints keep
        write_bert(scratch / "bert")
        import os

        os.chdir(scratch)
        for name, (kind, options) in VARIANTS.items():
            options = SIZES | {"encoder": "lstm", "feat": [], "bert": "bert"} | options
            if options.pop("vectors", False):
                options["embed"] = "vectors"
            train = "trees" if kind is CONSTITUENCY else "heads"
            parser = kind.build("model", train=train, **options)
            shake(parser.model)
            if kind is CONSTITUENCY:
                # or hardly any span would be a constituent
                null = [k for k, label in enumerate(parser.CHART.vocab.itos) if label.endswith(">")]
                parser.model.label_attn.weight.data[null, -1, -1] -= 3
            parser.save(str(output / f"{name}.pt"))
            if others is not None:
                readable = [s for s in others if not any(map(BRACKETED.search, s.words))]
                pairs = [list(zip(s.words, s.tags, strict=True)) for s in readable]
                result = record_odd(parser, pairs) | {"sentences": pairs}
            else:
                arrays, result = record(parser, sentences)
                numpy.savez_compressed(output / f"{name}.npz", **arrays)
                result["sentences"] = sentences
            (output / f"{name}.json").write_text(json.dumps(result, ensure_ascii=False), "utf-8")
        (output / "bert").mkdir(exist_ok=True)
        for name in ("config.json", "tokenizer.json"):
            (output / "bert" / name).write_bytes((scratch / "bert" / name).read_bytes())
    assert BOS == "<bos>"


if __name__ == "__main__":
    main(Path(sys.argv[1]).absolute(), asked(sys.argv))
