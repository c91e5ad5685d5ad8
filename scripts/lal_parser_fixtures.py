"""Small random checkpoints of the released LAL parser, and what it finds with them.

Run it where the released code is, its two decoders compiled and on the path, with torch and
transformers; the tests need nothing of that:

    python scripts/lal_parser_fixtures.py FOLDER_OF_ITS_CODE tests/fixtures/lal_parser

It writes, for every variant, NAME.pt (as the released training saves it), NAME.npz (scores of every
sentence alone) and NAME.json (sentences, trees, heads, relations), and the folders `xlnet` and
`bert` of the transformers' configurations and tokenizers. Nothing of the code is in any of them.
With --odd behind, sentences are those of `odd_sentences.py`, with --conllu FILE those of a
treebank, the trees are spans, and there are no scores: `compare_odd.py` reads that.
Three things are set from outside: masks are boolean (the released code takes Python 3.11 for 3.1),
the number of label heads is that of the labels (112 in the code), and transformers come from
folders.
"""

from __future__ import annotations

import inspect
import json
import sys
import tempfile
import types
from importlib.machinery import ModuleSpec
from pathlib import Path

import numpy
import torch
from odd_sentences import Odd, asked, spans_of

SENTENCES = [
    "DT_The NN_dog VBZ_enjoys DT_the NN_sea ._.",
    "UH_Yes",
    "DT_THE NN_lighthouse VBZ_sleeps",
    "PRP_She VBZ_does RB_n't VB_mind XX_an NN_internationalisationalist POS_'s NN_garden"
    " -LRB-_-LRB- DT_a JJ_small CD_one -RRB-_-RRB- IN_by DT_the NN_sea",
    "PRP_Ça VBZ_va ``_`` NN_ok ''_'' ._?",
    "VBG_playing NN_tennis IN_in DT_the NN_garden :_-- IN_in DT_a NN_house IN_by DT_the NN_sea",
    "NN_dog NN_dog",
]
KNOWN = ["The", "the", "dog", "sea", "garden", "in", "a", "by", "-LRB-", "``", "sleeps", "playing"]
TAGS = ["<START>", "<STOP>", "UNK", "DT", "NN", "VBZ", "PRP", "IN", ".", "-LRB-", "JJ", "``"]
RELATIONS = ["<START>", "root", "nsubj", "det", "case", "obl", "punct"]
LABELS = [("S",), ("NP",), ("VP",), ("PP",), ("S", "VP"), ("INTJ",), ("S", "NP", "PRN")]
SMALL = {
    "d_model": 16,
    "num_layers": 1,
    "num_heads": 2,
    "d_kv": 4,
    "d_ff": 12,
    "d_label_hidden": 8,
    "d_biaffine": 6,
    "lal_d_kv": 4,
    "lal_d_proj": 4,
    "sentence_max_len": 12,
    "d_char_emb": 4,
    "bert_do_lower_case": True,
}
VARIANTS = {
    "xlnet112": {"use_xlnet": True, "use_tags": True, "lal_resdrop": False},
    "bert": {"use_bert": True, "lal_pwff": False, "const_lada": 0.8},
    "characters": {
        "use_tags": True,
        "use_words": True,
        "use_chars_lstm": True,
        "partitioned": False,
        "lal_partitioned": False,
        "lal_q_as_matrix": True,
    },
    "xlnet_cat": {
        "use_xlnet": True,
        "use_words": True,
        "use_tags": True,
        "use_cat": True,
        "pad_left": True,
        "lal_combine_as_self": True,
    },
}


def write_transformers(output: Path, scratch: Path) -> dict[str, Path]:
    sys.path.insert(0, str(Path(__file__).parents[1]))
    from tests.tiny_transformers import write_bert, write_xlnet

    words = [word.split("_", 1)[1] for text in SENTENCES for word in text.split()]
    folders = {}
    for name, write in (("bert", write_bert), ("xlnet", write_xlnet)):
        folders[name] = scratch / name
        folders[name].mkdir()
        if name == "bert":
            write(folders[name], [*words, '"', "(", ")"], 80, hidden_size=8, intermediate_size=12)
        else:
            write(folders[name], [*words, '"', "(", ")"])
        (output / name).mkdir(exist_ok=True)
        for file in ("config.json", "tokenizer.json"):
            (output / name / file).write_bytes((folders[name] / file).read_bytes())
    return folders


def vocabularies(variant: str, released: types.ModuleType) -> dict[str, object]:
    labels = [(), ("<H>",), *LABELS]
    if variant.endswith("112"):
        labels += [(f"L{k}",) for k in range(114 - len(labels))]
    characters = ["\0", "\1", "\2", "\3", "\4", "\5", *sorted(set("".join(KNOWN)))]
    found = {}
    for name, values in (
        ("tag", TAGS),
        ("word", ["<START>", "<STOP>", "<UNK>", *KNOWN]),
        ("label", labels),
        ("char", characters),
        ("type", RELATIONS),
    ):
        vocabulary = released.Vocabulary()
        for value in values:
            vocabulary.index(value)
        vocabulary.freeze()
        found[f"{name}_vocab"] = vocabulary
    return found


def build(name: str, options: dict, parser_module: types.ModuleType, folders: dict) -> object:
    import main
    import vocabulary

    hparams = main.make_hparams()
    for key, value in {**SMALL, **options}.items():
        setattr(hparams, key, value)
    words = vocabularies(name, vocabulary)
    heads = len(words["label_vocab"].values) - 2
    signature = inspect.signature(parser_module.Encoder.__init__)
    defaults = [p.default for p in signature.parameters.values() if p.default is not p.empty]
    names = [p.name for p in signature.parameters.values() if p.default is not p.empty]
    defaults[names.index("d_l")] = heads
    parser_module.Encoder.__init__.__defaults__ = tuple(defaults)
    return parser_module.ChartParser(hparams=hparams, **words)


def transformers_from(folders: dict[str, Path], parser_module: types.ModuleType) -> None:
    def get_xlnet(*_: object) -> tuple:
        from transformers import PreTrainedTokenizerFast, XLNetModel

        tokenizer = PreTrainedTokenizerFast.from_pretrained(folders["xlnet"])
        return tokenizer, XLNetModel.from_pretrained(folders["xlnet"])

    def get_bert(_: object, lower: bool) -> tuple:
        from pretrained_bert import BertTokenizer
        from pretrained_bert.modeling import BertConfig, BertModel

        config = json.loads((folders["bert"] / "config.json").read_text())
        made = BertConfig(config["vocab_size"])
        for key, value in config.items():
            setattr(made, key, value)
        return BertTokenizer(str(folders["bert"] / "vocab.txt"), do_lower_case=lower), BertModel(
            made
        )

    parser_module.get_xlnet, parser_module.get_bert = get_xlnet, get_bert


def record_odd(parser: object, sentences: list) -> dict:
    """What the parser finds in every sentence alone; None of one that it fails at."""
    result = {"sentences": sentences, "trees": [], "heads": [], "relations": []}
    for sentence in sentences:
        found = dict.fromkeys(("trees", "heads", "relations"))
        try:
            (tree,), _ = parser.parse_batch([sentence])
            leaves = list(tree.leaves())
            found["trees"] = spans_of(tree.convert(), lambda node: getattr(node, "children", None))
            found["heads"] = [int(leaf.father) for leaf in leaves]
            found["relations"] = [leaf.type for leaf in leaves]
        except Exception as error:
            print(f"{len(sentence)} words: {error!r}"[:200])
        for kind, value in found.items():
            result[kind].append(value)
    return result


def record(parser: object, sentences: list) -> tuple[dict, dict]:
    arrays, charts = {}, []
    result = {"sentences": sentences, "trees": [], "heads": [], "relations": [], "scores": []}
    decode = parser.decode_from_chart

    def keep(
        sentence: list, chart: numpy.ndarray, arcs: numpy.ndarray, *args: object, **kw: object
    ):
        charts.append((chart, arcs))
        return decode(sentence, chart, arcs, *args, **kw)

    parser.decode_from_chart = keep
    types_of = []
    parser.dep_score.register_forward_hook(lambda module, given, out: types_of.append(out[1]))
    for k, sentence in enumerate(sentences):
        (tree,), (score,) = parser.parse_batch([sentence])
        leaves = list(tree.leaves())
        result["trees"].append(tree.convert().linearize())
        result["heads"].append([int(leaf.father) for leaf in leaves])
        result["relations"].append([leaf.type for leaf in leaves])
        result["scores"].append(float(score))
        chart, arcs = charts[-1]
        n = len(sentence)
        above = numpy.triu_indices(n + 1, 1)
        # of so many labels some
        arrays[f"{k}/labels"] = chart[above][:, :: 7 if chart.shape[-1] > 50 else 1]
        arrays[f"{k}/arcs"] = arcs[1:]
        arrays[f"{k}/relations"] = types_of[-1].detach().numpy()[1:]
    return arrays, result


def main_(code: Path, output: Path, others: list[Odd] | None) -> None:
    sys.path.insert(0, str(code))
    # the decoders are compiled
    sys.modules["pyximport"] = types.SimpleNamespace(install=lambda **_: None)
    # what it would download with
    for name in ("boto3", "botocore", "botocore.exceptions"):
        module = types.ModuleType(name)
        # transformers, too, looks whether it is there
        module.__spec__ = ModuleSpec(name, None)
        module.ClientError = Exception
        sys.modules[name] = module
    import KM_parser

    KM_parser.DTYPE = torch.bool
    output.mkdir(parents=True, exist_ok=True)
    sentences = [[tuple(w.split("_", 1)) for w in text.split()] for text in SENTENCES]
    with tempfile.TemporaryDirectory() as folder:
        torch.manual_seed(5)
        folders = write_transformers(output, Path(folder))
        transformers_from(folders, KM_parser)
        for name, options in VARIANTS.items():
            parser = build(name, options, KM_parser, folders)
            for key, parameter in parser.named_parameters():
                amount = 0.1 if key.startswith(("bert.", "xlnet.")) else 0.4
                if parameter.dim() < 4:
                    parameter.data += amount * torch.randn_like(parameter)
            trainer = torch.optim.Adam(parser.dep_score.parameters(), lr=0.1)
            state = {
                "spec": parser.spec,
                "state_dict": parser.state_dict(),
                "trainer": trainer.state_dict(),
            }
            torch.save(state, output / f"{name}.pt", _use_new_zipfile_serialization=name != "bert")
            if others is not None:
                pairs = [list(zip(s.tags, s.words, strict=True)) for s in others]
                result = record_odd(parser, pairs)
            else:
                arrays, result = record(parser, sentences)
                numpy.savez_compressed(output / f"{name}.npz", **arrays)
            (output / f"{name}.json").write_text(json.dumps(result, ensure_ascii=False), "utf-8")


if __name__ == "__main__":
    main_(Path(sys.argv[1]), Path(sys.argv[2]).absolute(), asked(sys.argv))
