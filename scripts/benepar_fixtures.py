"""Small checkpoints of benepar 0.2 with random weights, and what benepar's own code says of them.

python scripts/benepar_fixtures.py tests/fixtures/benepar

Needs an environment of its own: benepar 0.2.0, torch-struct, spaCy 3 and transformers 4. Every
folder of the output is a checkpoint, as benepar's code for releases writes it, beside
`expected.json` and `expected.npz`: of each Doc the trees and extensions of benepar's spaCy
component, and the label scores [n, n, L] of its sentences.
"""

from __future__ import annotations

import json
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy
import spacy
import torch
import transformers as hf
from benepar import nkutil, ptb_unescape
from benepar.integrations.spacy_plugin import BeneparComponent, SentenceWrapper
from benepar.parse_chart import ChartParser
from spacy.tokens import Doc
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

DOCS = [
    "The old printer in our office hums whenever somebody walks past it .",
    "Yes .",
    "Stop",
    "She said : “ I can not see the river—the fog hides it ! ” Then he left .",
    "“ Well ” , said Tom , ‘ it is ` fine ' ’ .",
    "Un café « noir » , s'il vous plaît — merci , Zoë !",
    "Prices ( in $ ) rose 3.5 % to # 1,200 ; nobody — not even Ann — cared .",
    "state-of-the-art mother-in-law e-mail@example.org https://example.org/a?b=c&d=1",
    "我 喜欢 茶 。 東京 へ 行く",
    "👍 🏽 ok ﬁne ² ½ Ǆ ﷺ é",
    "a b c d e f g h i j k l m n o p q r s t u v w x y z a b c d e f",
    "[SEP] <s> </s> [CLS] words",
]
"""Words between spaces; a word begins behind a space unless it stands in NO_SPACE."""
NO_SPACE = {*".,;:!?)”’%»", "n't", "'s"}
ESCAPED = [
    "`` I ca n't find the -LRB- old -RRB- map , '' he said .",
    "The 1\\/2 cup 's lid cost $ 3 # 4 5 % -- n't it -- and a \\*star -LSB- sic -RSB- : no !",
    "You can not re - do mid - 1990s work ; they 'll `ve' said ' so ' – not — “ here ” ?",
    "-LCB- x -RCB- --- pre- -post -- ... We 're , they 'd , I 'm ' quoting '",
]
LABELS = ["", "ADJP", "NP", "NP::QP", "PP", "S", "S::VP", "VP"]
TAGS = ["UNK", "DT", "IN", "NN", "VB"]
POSITIONS = 64
LETTERS = sorted({c for doc in DOCS for c in doc} - {" ", "茶", "ﷺ"})
TINY = {
    "hidden_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 24,
}
T5 = {"d_model": 16, "d_kv": 6, "d_ff": 24, "num_layers": 2, "num_decoder_layers": 2}


def write_bert_tokenizer(folder: Path) -> int:
    letters = sorted({c for letter in LETTERS for c in letter.lower()} | set("'\"-"))
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *letters, *(f"##{c}" for c in letters)]
    pieces += ["the", "printer", "hum", "##ing", "of", "##other", "river"]
    (folder / "vocab.txt").write_text("\n".join(pieces), "utf8")
    hf.BertTokenizerFast(str(folder / "vocab.txt"), model_max_length=POSITIONS).save_pretrained(
        folder
    )
    return len(pieces)


def write_sentencepieces(folder: Path, special: list[str], t5: bool) -> int:
    """A unigram tokenizer with the class of a model that has sentence pieces."""
    words = ["▁the", "▁printer", "ing", "▁of", "river", "▁in", "'s", '▁"', "--", "▁--"]
    pieces = [*special, "▁", *(c for c in LETTERS if c not in "▁"), *words]
    scores = [0.0 if p in special else -1.0 - len(p) / 10 for p in pieces]
    tokenizer = Tokenizer(
        models.Unigram(list(zip(pieces, scores, strict=True)), unk_id=special.index("<unk>"))
    )
    tokenizer.normalizer = normalizers.NFKC()
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.add_special_tokens(special)
    template = "$A </s>" if t5 else "<s> $A </s>"
    tokenizer.post_processor = processors.TemplateProcessing(
        single=template,
        special_tokens=[(p, special.index(p)) for p in ("<s>", "</s>") if p in template],
    )
    made: Any = hf.T5TokenizerFast if t5 else hf.XLMRobertaTokenizerFast
    options = {"extra_ids": 0} if t5 else {}
    made(tokenizer_object=tokenizer, model_max_length=POSITIONS, **options).save_pretrained(folder)
    return len(pieces)


def bert(folder: Path) -> Any:
    words = write_bert_tokenizer(folder)
    return hf.BertModel(hf.BertConfig(vocab_size=words, max_position_embeddings=POSITIONS, **TINY))


def electra(folder: Path) -> Any:
    words = write_bert_tokenizer(folder)
    sizes = TINY | {"embedding_size": 8, "max_position_embeddings": POSITIONS}
    return hf.ElectraModel(hf.ElectraConfig(vocab_size=words, **sizes))


def xlmr(folder: Path) -> Any:
    words = write_sentencepieces(folder, ["<s>", "<pad>", "</s>", "<unk>", "<mask>"], t5=False)
    sizes = TINY | {"max_position_embeddings": POSITIONS + 2, "type_vocab_size": 1}
    return hf.XLMRobertaModel(hf.XLMRobertaConfig(vocab_size=words, **sizes))


def t5(folder: Path) -> Any:
    words = write_sentencepieces(folder, ["<pad>", "</s>", "<unk>"], t5=True)
    return hf.T5Model(hf.T5Config(vocab_size=words, num_heads=2, **T5))


def hparams(**changed: Any) -> Any:
    """Small sizes under the names of benepar's own trainer."""
    values = {
        **{"use_pretrained": True, "pretrained_model": "none", "use_chars_lstm": False},
        **{"use_encoder": True, "d_char_emb": 8, "char_lstm_input_dropout": 0.2},
        **{"d_model": 16, "num_layers": 2, "num_heads": 2, "d_kv": 8, "d_ff": 24},
        **{"encoder_max_len": POSITIONS, "morpho_emb_dropout": 0.2, "attention_dropout": 0.2},
        **{"relu_dropout": 0.1, "residual_dropout": 0.2, "d_label_hidden": 20},
        **{"d_tag_hidden": 12, "tag_loss_scale": 5.0, "predict_tags": True},
        "force_root_constituent": True,
    }
    return nkutil.HParams(**values | changed)


def randomise(parser: torch.nn.Module, seed: int) -> None:
    """Values so large that no two trees are nearly as good; most spans score best as none."""
    generator = torch.Generator().manual_seed(seed)
    for name, parameter in parser.named_parameters():
        noise = torch.randn(parameter.shape, generator=generator)
        if parameter.dim() > 1:
            parameter.data = noise * 0.5
        else:
            parameter.data = noise * 0.1 + float(name.endswith("weight"))
        if name == "f_label.3.bias":
            parameter.data -= 3.0
    parser.eval()


def save_release(parser: Any, folder: Path) -> None:
    """What benepar's script for releases writes."""
    config = parser.pretrained_model.config
    config.benepar = parser.config
    parser.retokenizer.tokenizer.save_pretrained(str(folder))
    config.save_pretrained(str(folder))
    torch.save(parser.state_dict(), folder / "benepar_model.bin")


def make(folder: Path, build: Any, seed: int, **changed: Any) -> Path:
    """A checkpoint; the place that benepar loads it from."""
    folder.mkdir(parents=True, exist_ok=True)
    vocabularies = {
        "tag_vocab": {tag: k for k, tag in enumerate(TAGS)},
        "label_vocab": {label: k for k, label in enumerate(LABELS)},
        "char_vocab": {chr(k): k for k in range(256)},
    }
    if build is None:
        chars = hparams(use_chars_lstm=True, use_pretrained=False, **changed)
        parser = ChartParser(**vocabularies, hparams=chars)
        randomise(parser, seed)
        place = folder / "chars_dev=91.25.pt"
        torch.save({"config": parser.config, "state_dict": parser.state_dict()}, place)
        return place
    build(folder).config.save_pretrained(folder)
    parser = ChartParser(
        **vocabularies, hparams=hparams(**changed), pretrained_model_path=str(folder)
    )
    randomise(parser, seed)
    save_release(parser, folder)
    return folder


def docs(vocab: Any) -> list[Doc]:
    made = []
    for text in DOCS:
        words = text.split()
        spaces = [after not in NO_SPACE for after in [*words[1:], "end"]]
        made.append(Doc(vocab, words, spaces, sent_starts=[True] + [False] * (len(words) - 1)))
    return made


def record(place: Path, folder: Path) -> None:
    nlp = spacy.blank("en")
    component = BeneparComponent(str(place))
    parser = component._parser
    expected, arrays = [], {}
    for number, doc in enumerate(docs(nlp.vocab)):
        words, spaces = [t.text for t in doc], [bool(t.whitespace_) for t in doc]
        entry: dict[str, Any] = {"words": words, "spaces": spaces}
        try:
            wrapped = [SentenceWrapper(doc[:])]
            (scores,) = parser.parse(wrapped, return_scores=True)
            (tree,) = parser.parse(wrapped)
        except ValueError as error:
            entry["error"] = str(error)
        else:
            component(doc)
            sent = next(iter(doc.sents))
            arrays[str(number)] = scores
            entry |= {
                "tree": tree.pformat(margin=10**9),
                "parse_string": sent._.parse_string,
                "tags": [token.tag_ for token in doc],
                "constituents": [
                    [
                        *(span.start, span.end, list(span._.labels)),
                        [[c.start, c.end] for c in span._.children],
                        [span._.parent.start, span._.parent.end] if span._.parent else None,
                    ]
                    for span in sent._.constituents
                ],
            }
        expected.append(entry)
    (folder / "expected.json").write_text(json.dumps(expected, indent=1), "utf8")
    numpy.savez_compressed(folder / "expected.npz", **arrays)


def main(out: Path) -> None:
    for seed, (name, build, changed) in enumerate(
        (
            ("bert", bert, {}),
            ("electra", electra, {"force_root_constituent": False, "predict_tags": False}),
            ("xlmr", xlmr, {}),
            ("t5", t5, {}),
            ("plain", bert, {"use_encoder": False}),
            ("chars", None, {}),
        )
    ):
        folder = out / name
        record(make(folder, build, seed, **changed), folder)
    escaped = [text.split() for text in ESCAPED]
    rows = [
        {
            "escaped": words,
            "words": ptb_unescape.ptb_unescape(words),
            "spaces": ptb_unescape.guess_space_after(words),
        }
        for words in escaped
    ]
    (out / "escaped.json").write_text(json.dumps(rows, indent=1), "utf8")
    print(version("benepar"), hf.__version__, torch.__version__)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
