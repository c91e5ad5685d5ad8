"""Transformers of two tiny layers, with tokenizers of the kinds that real ones have."""

from __future__ import annotations

from pathlib import Path

SIZES = {
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 64,
}


def write_bert(path: Path, words: list[str], positions: int = 512, **sizes: float) -> None:
    """A BERT of two tiny layers, or other settings, with a vocabulary of letters."""
    from transformers import BertConfig, BertModel, BertTokenizerFast

    letters = sorted(set("".join(words).lower()))
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *letters]
    vocabulary += [f"##{letter}" for letter in letters]
    (path / "vocab.txt").write_text("\n".join(vocabulary), "utf8")
    tokenizer = BertTokenizerFast(str(path / "vocab.txt"), model_max_length=positions)
    tokenizer.save_pretrained(path)
    config = BertConfig(
        vocab_size=len(vocabulary), max_position_embeddings=positions, **SIZES | sizes
    )
    BertModel(config).save_pretrained(path)


def write_phobert(path: Path, words: list[str]) -> None:
    """A PhoBERT of two tiny layers: one word whole, others in letters, all but "g" known."""
    from transformers import RobertaConfig, RobertaModel

    whole = "thuyền_trưởng"
    merges, symbol = [], whole[0]
    for letter in whole[1:-1]:
        merges.append((symbol, letter))
        symbol += letter
    merges.append((symbol, f"{whole[-1]}</w>"))
    letters = set("".join(words)) - {"g"}
    symbols = sorted(letters | {first + second for first, second in merges[:-1]})
    pieces = [*symbols, *(f"{symbol}@@" for symbol in symbols), whole]
    (path / "vocab.txt").write_text("".join(f"{piece} 1\n" for piece in pieces), "utf8")
    codes = "".join(f"{first} {second} 1\n" for first, second in merges)
    (path / "bpe.codes").write_text(codes, "utf8")
    config = RobertaConfig(
        vocab_size=len(pieces) + 5,  # <s>, <pad>, </s>, <unk>, <mask>
        **SIZES,
        max_position_embeddings=258,
        type_vocab_size=1,
        tokenizer_class="PhobertTokenizer",
    )
    RobertaModel(config).save_pretrained(path)


def write_xlmr(path: Path, words: list[str]) -> None:
    """An XLM-R of two tiny layers with a vocabulary of letters."""
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast, XLMRobertaConfig, XLMRobertaModel

    special = ["<s>", "<pad>", "</s>", "<unk>"]
    pieces = [*special, "▁", *sorted(set("".join(words)) - {"▁"})]
    tokenizer = Tokenizer(models.Unigram([(piece, -1.0) for piece in pieces], unk_id=3))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    names = ("bos_token", "pad_token", "eos_token", "unk_token")
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, **dict(zip(names, special, strict=True))
    ).save_pretrained(path)
    config = XLMRobertaConfig(
        vocab_size=len(pieces),
        **SIZES,
        max_position_embeddings=514,
        type_vocab_size=1,
    )
    XLMRobertaModel(config).save_pretrained(path)


def write_xlnet(path: Path, words: list[str]) -> None:
    """An XLNet of two tiny layers with a vocabulary of letters."""
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast, XLNetConfig, XLNetModel

    special = ["<unk>", "<s>", "</s>", "<cls>", "<sep>", "<pad>", "<mask>"]
    pieces = [*special, "▁", *sorted(set("".join(words)) - {"▁"})]
    unigram = models.Unigram([(piece, -1.0) for piece in pieces], unk_id=0)
    tokenizer = Tokenizer(unigram)
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="$A:0 <sep>:0 <cls>:2",
        special_tokens=[("<sep>", special.index("<sep>")), ("<cls>", special.index("<cls>"))],
    )
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        padding_side="left",
        **{f"{token[1:-1]}_token": token for token in special if token not in ("<s>", "</s>")},
    ).save_pretrained(path)
    config = XLNetConfig(vocab_size=len(pieces), d_model=32, n_layer=2, n_head=2, d_inner=64)
    XLNetModel(config).save_pretrained(path)


def write_roberta(path: Path, words: list[str]) -> None:
    """A RoBERTa of two tiny layers that reads bytes, and tells a word behind a space."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast, RobertaConfig, RobertaModel

    special = ["<s>", "<pad>", "</s>", "<unk>"]
    pieces = [*special, *sorted(pre_tokenizers.ByteLevel.alphabet())]
    vocabulary = {piece: k for k, piece in enumerate(pieces)}
    tokenizer = Tokenizer(models.BPE(vocabulary, []))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.post_processor = processors.RobertaProcessing(
        ("</s>", 2), ("<s>", 0), add_prefix_space=False
    )
    names = ("bos_token", "pad_token", "eos_token", "unk_token")
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, **dict(zip(names, special, strict=True))
    ).save_pretrained(path)
    config = RobertaConfig(
        vocab_size=len(pieces),
        **SIZES,
        max_position_embeddings=514,
        type_vocab_size=1,
    )
    RobertaModel(config).save_pretrained(path)


def write_electra(path: Path, words: list[str]) -> None:
    """An Electra of two tiny layers, whose embeddings are narrower, with BERT's tokenizer."""
    from transformers import BertConfig, ElectraConfig, ElectraModel

    write_bert(path, words)
    config = ElectraConfig(
        vocab_size=BertConfig.from_pretrained(path).vocab_size,
        embedding_size=16,
        **SIZES,
    )
    ElectraModel(config).save_pretrained(path)


def write_mpnet(path: Path, words: list[str]) -> None:
    """An MPNet of two tiny layers, whose heads prefer distances, with BERT's tokenizer."""
    import torch
    from transformers import BertTokenizerFast, MPNetConfig, MPNetModel

    letters = sorted(set("".join(words).lower()))
    special = {"cls": "<s>", "pad": "<pad>", "sep": "</s>", "unk": "[UNK]", "mask": "<mask>"}
    pieces = [*special.values(), *letters, *(f"##{letter}" for letter in letters)]
    (path / "vocab.txt").write_text("\n".join(pieces), "utf8")
    names = {f"{name}_token": token for name, token in special.items()}
    BertTokenizerFast(str(path / "vocab.txt"), model_max_length=512, **names).save_pretrained(path)
    config = MPNetConfig(
        vocab_size=len(pieces),
        **SIZES,
        max_position_embeddings=514,
    )
    model = MPNetModel(config)
    torch.nn.init.normal_(model.encoder.relative_attention_bias.weight)
    model.save_pretrained(path)
