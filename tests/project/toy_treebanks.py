"""Made-up treebanks, vectors and parsers in the layouts of real ones."""

from __future__ import annotations

import re
from pathlib import Path

import spacy
import typer.main
from spacy.cli._util import app as spacy_cli
from spacy.tokens import Doc
from spacy.training import Example

from spacy_lal.formats.penn_brackets import clean_tree, parse_treebank
from spacy_lal.trees.tree import ConstituentTree

from .running import ROOT


def toy_words(treebank: str) -> list[str]:
    """The words of a made-up treebank, so that a tiny vocabulary has their letters."""
    texts = [path.read_text("utf8") for path in (ROOT / f"assets/toy/{treebank}").rglob("*.*")]
    return sorted(set(re.findall(r" ([^\s()]+)\)", "".join(texts))))


def write_vectors(path: Path, lang: str) -> None:
    """A pipeline of word vectors, made as one makes it of fastText's."""
    words = ["La", "dame", "vend", "livre", "the", "door"]
    rows = [f"{word} {k} 0.5 -{k}.25 1" for k, word in enumerate(words)]
    path.mkdir()
    (path / "toy.vec").write_text("\n".join([f"{len(words)} 4", *rows, ""]), "utf8")
    command = typer.main.get_command(spacy_cli)
    command(["init", "vectors", lang, str(path / "toy.vec"), str(path)], standalone_mode=False)


def toy_ewt(path: Path) -> dict[str, str]:
    """Write the toy treebank as UD's and PropBank's halves of the English Web Treebank are.

    Returns the variables of projects/ewt that name it.
    """
    for split in ("train", "dev", "test"):
        toy = ROOT / f"assets/toy/{split.replace('test', 'dev')}.mrg"
        trees = parse_treebank(toy.read_text())
        words, skeleton = [f"# newdoc id = weblog-{split}"], []
        for number, tree in enumerate(trees):
            tree = clean_tree(tree)
            before, after = [""] * len(tree.leaves), [""] * len(tree.leaves)
            for start, end, label in tree.rooted().spans():
                before[start] += f"({label}"
                after[end - 1] += ")"
            roles = toy_roles(tree)
            for i, (word, tag) in enumerate(tree.tagged):
                head, relation = (0, "root") if i == 0 else (1, "dep")
                words.append(f"{i + 1}\t{word}\t_\t_\t{tag}\t_\t{head}\t{relation}\t_\t_")
                bit = f"{before[i]}*{after[i]}"
                skeleton.append(f"weblog/{split} {number} {i} [WORD] {tag} {bit} {roles[i]}")
            words.append("")
            skeleton.append("")
        (path / f"en_ewt-ud-{split}.conllu").write_text("\n".join(words), "utf8")
        folder = path / "skeletons/weblog/00"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{split}.xml.gold_skel").write_text("\n".join(skeleton), "utf8")
    return {"ud": str(path), "propbank": str(path / "skeletons")}


def toy_roles(tree: ConstituentTree) -> list[str]:
    """The last columns of a skeleton: the first finite verb has an argument on each side."""
    words, tags = zip(*tree.tagged, strict=True)
    verbs = [i for i, tag in enumerate(tags) if tag in ("VBD", "VBZ", "VBP")]
    if not verbs or tags[-1] != ".":
        return ["- -"] * len(words)
    (verb, *_), end = verbs, len(words) - 1
    cells = ["*"] * len(words)
    cells[verb] = "(V*)"
    for first, last, role in ((0, verb, "ARG0"), (verb + 1, end, "ARG1")):
        if first < last:
            cells[first] = f"({role}{cells[first]}"
            cells[last - 1] += ")"
    roleset = f"{words[verb]} {words[verb]}.01"
    return [f"{roleset if i == verb else '- -'} {cell}" for i, cell in enumerate(cells)]


def write_parser(path: Path) -> None:
    """A pipeline that finds heads, badly."""
    nlp = spacy.blank("en")
    nlp.add_pipe("parser")
    doc = Doc(nlp.vocab, words=["Go", "on"], heads=[0, 0], deps=["ROOT", "dep"])
    nlp.initialize(lambda: [Example(Doc(nlp.vocab, words=["Go", "on"]), doc)])
    nlp.to_disk(path)
