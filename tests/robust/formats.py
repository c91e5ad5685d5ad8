"""A small file of every format that `convert` and its kin read, and a damaged one in its place."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import io
import lzma
import random
import re
import shutil
import tarfile
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import typer
from english import Craft, Gum, Masc
from ewt import EnglishWebTreebank
from propbank import Propbank
from spacy.tokens import Doc, DocBin
from spacy.vocab import Vocab

from spacy_lal.annotations import FrameSpans, set_constituents, set_errors, set_frames
from spacy_lal.cli.convert import FORMATS, command
from spacy_lal.cli.make_errors import corrupt
from spacy_lal.cli.score import score_errors, score_roles, score_trees
from spacy_lal.formats.m2 import ErrorTypes
from spacy_lal.formats.penn_treebanks import Take
from spacy_lal.formats.treebank_format import Format
from spacy_lal.trees.head_rules import HeadRules

from .damage import damaged

TREES = (
    "( (S (NP-SBJ (DT The) (NN cat)) (VP (VBD sat) (PP-LOC (IN on) (NP (NNP -LRB-) (CD 3\\/4)))) "
    "(. .)) )\n(TOP (S (NP (PRP She)) (VP (VBD ate) (NP (-NONE- *T*-1)))))\n"
)
SGML = (
    "<DOC>\n<S ID=1>\n( (IP (NP (NN 猫)) (VP (VV 吃) (NP-OBJ (NN 鱼))) (PU 。)) )\n</S>\n</DOC>\n"
)
MARKED = (
    "<s>\n(S (NP-SUB (N-H mèo)) (VP (V-H ăn) (NP (N-H con cá))) (. .))\n</s>\n"
    "<s>\n(S (NP (N-H LBKT)) (VP (V *T*)))\n</s>\n"
)
FEATURES = "( (SENT (NP-SUJ (DET##lemma=le|m=d## Le) (NC##m=n## chat)) (VN (V dort)) (PONCT .)) )\n"
CONLLU = (
    "# newdoc id = weblog-a\n# sent_id = 1\n# text = x\n"
    "1-2\tcan't\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No\n"
    "1\tca\tcan\tAUX\tMD\tVerbForm=Fin\t3\taux\t3:aux\t_\n"
    "2\tn't\tnot\tPART\tRB\tPolarity=Neg|X=Y\t3\tadvmod\t_\t_\n"
    "3\teat\teat\tVERB\tVB\t_\t0\troot\t_\tSpaceAfter=No\n"
    "3.1\tit\tit\tPRON\tPRP\t_\t_\t_\t_\t_\n\n"
    "# newpar id = p\n"
    "1\tYes\tyes\tINTJ\tUH\t_\t0\troot\t_\t_\n2\t!\t!\tPUNCT\t.\t_\t1\tpunct\t_\t_\n\n"
)
CONLL05 = (
    "She PRP (S(NP*) - - (A0*) *\nate VBD (VP* 01 eat (V*) *\nfish NN (NP* - - (A1* (A0*)\n"
    "swimming VBG *)) 01 swim *) (V*)\n. . *) - - * *\n\nYes UH (S*) - -\n\n"
)
CONLL12 = (
    "#begin document (a); part 000\na 0 0 She PRP (TOP(S(NP*) - - - - * (ARG0*) -\n"
    "a 0 1 ate VBD (VP*)) eat 01 1 - * (V*) -\na 0 2 /. . *) - - - - * * -\n\n#end document\n"
)
SKELETON = (
    "weblog-a 0 0 [WORD] MD (TOP(S(VP* - - (ARGM-MOD*)\nweblog-a 0 1 [WORD] RB * - - (ARGM-NEG*)\n"
    "weblog-a 0 2 [WORD] VB *))) eat eat.01 (V*)\n\n"
    "x 0 0 [WORD] UH (TOP* - -\nx 0 1 [WORD] . *) - -\n\n"
)
GOLD_CONLL = (
    "a 0 0 She PRP (TOP(S(NP*) - - (ARG0*)\na 0 1 ate VBD (VP*) eat eat.01 (V*)\n"
    "a 0 2 <b> CODE *)) - - *\n\nb 1 0 Yes UH (TOP*) - -\n\n"
)
PROPS = "- (A0*)\neat (V*)\n- (A1*\n- *)\n\n- \n\n"
TSV = "She\tc\nate\ti\nNew York\tR:NOUN\n\nYes\tc\n\n"
M2 = (
    "S She ate fishes .\nA 1 2|||R:VERB:TENSE|||eats||ate|||REQUIRED|||-NONE-|||0\n"
    "A 3 3|||M:DET|||the|||REQUIRED|||-NONE-|||1\n"
    "A -1 -1|||noop|||-NONE-|||REQUIRED|||-NONE-|||2\n\n"
    "S Yes !\n\n"
)
JSON = (
    '{"text": "She ate.\\nHe go \\u00e9.", "edits": '
    '[[0, [[0, 3, "He", "R"], [4, 7, null, "UNK"]]], '
    '[1, [[9, 9, "So", "M"]]]], "id": 1}\n{"text": "", "edits": []}\n'
)
LINES = "She ate it .\nHe eats them often .\nYes !\n"


def _docs() -> bytes:
    doc = Doc(Vocab(), words=["She", "ate", "fish"], heads=[1, 1, 1], deps=["nsubj", "ROOT", "obj"])
    set_constituents(doc, [(0, 3, "S"), (0, 1, "NP")], [0.5, None])
    set_frames(doc, [FrameSpans(1, "eat.01", [(0, 1, "ARG0"), (1, 2, "V")])])
    set_errors(doc, ["", "R", ""], [0.1, 0.9, 0.2])
    return DocBin(docs=[doc, doc], store_user_data=True).to_bytes()


def archive_of_skeletons(link: str = "") -> bytes:
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w:gz") as archive:
        for name in ("weblog/00/a.xml.gold_skel", "../../../outside/00/b.xml.gold_skel"):
            info = tarfile.TarInfo(name)
            info.size = len(SKELETON)
            archive.addfile(info, io.BytesIO(SKELETON.encode()))
        if link:
            info = tarfile.TarInfo("weblog/00/c.xml.gold_skel")
            info.type, info.linkname = tarfile.SYMTYPE, link
            archive.addfile(info)
    return data.getvalue()


@cache
def _model() -> bytes:
    with tempfile.TemporaryDirectory() as folder, _silent():
        (Path(folder) / "text").write_text(LINES)
        corrupt(texts=[Path(folder) / "text"], output=Path(folder) / "model", learn=True)
        return (Path(folder) / "model").read_bytes()


@contextlib.contextmanager
def _silent() -> Iterator[tuple[io.StringIO, io.StringIO]]:
    with (
        contextlib.redirect_stdout(io.StringIO()) as out,
        contextlib.redirect_stderr(io.StringIO()) as err,
    ):
        yield out, err


Put = Callable[[str, bytes | str], Path]
"""Writes a file of this name and returns its path."""


@dataclass(frozen=True)
class Input:
    """A file that a command reads.

    sound: what it has, or what makes that. name: of the file. call: the command, which is given
    where to put other files, the file, and where its output goes.
    """

    sound: str | bytes | Callable[[], bytes]
    name: str
    call: Callable[[Put, Path, Path], Any]

    @property
    def data(self) -> bytes:
        sound = self.sound() if callable(self.sound) else self.sound
        return sound.encode() if isinstance(sound, str) else sound


def _converted(format: str | type[Format], **options: Any) -> Callable[[Put, Path, Path], Any]:
    """`convert` of one file."""
    known = FORMATS[format] if isinstance(format, str) else format
    return lambda put, path, out: command(known)(path, out, **options)


def _parts(name: str, file: str, others: Sequence[str]) -> Callable[[Put, Path, Path], Any]:
    """A treebank in three parts, of which the damaged one is to train on."""

    def call(put: Put, path: Path, out: Path) -> Any:
        for part in others:
            put(part, TREES)
        return command(FORMATS[name])(path.parents[file.count("/")], out)

    return call


def _ewt(put: Put, path: Path, out: Path) -> Any:
    ud = put("ud/en-ud-dev.conllu", CONLLU).parent
    return command(EnglishWebTreebank)(ud, out, propbank=path, splits="dev")


def _ewt_words(put: Put, path: Path, out: Path) -> Any:
    skeletons = put("skeletons/weblog/00/a.xml.gold_skel", SKELETON).parents[2]
    return command(EnglishWebTreebank)(path.parent, out, propbank=skeletons, splits="dev")


def _conllx(put: Put, path: Path, out: Path) -> Any:
    for part in ("02/a.mrg", "22/a.mrg", "23/a.mrg"):
        put(f"wsj/{part}", "(S (UH Yes) (. !))")
    for part in ("dev", "test"):
        put(f"conllx/{part}.conllx", _YES)
    wsj, options = path.parents[1] / "wsj", {"conllx": str(path.parent), "take": Take.both}
    return command(FORMATS["ptb"])(wsj, out, **options)


_YES = "1\tYes\t_\tUH\tUH\t_\t0\troot\t_\t_\n2\t!\t_\t.\t.\t_\t1\tpunct\t_\t_\n\n"

INPUTS: dict[str, Input] = {
    "brackets": Input(TREES, "a.mrg", _converted("brackets", ptb_escapes=True)),
    "brackets, heads": Input(
        TREES,
        "a.mrg",
        _converted("brackets", heads=HeadRules.collins, functions=True),
    ),
    "craft": Input(TREES, "a.tree", _converted(Craft)),
    "ptb": Input(TREES, "02/a.mrg", _parts("ptb", "02/a.mrg", ("22/a.mrg", "23/a.mrg"))),
    "conllx": Input(_YES, "conllx/train.conllx", _conllx),
    "ctb": Input(
        SGML, "chtb_001.fid", _parts("ctb", "chtb_001.fid", ("chtb_301.fid", "chtb_271.fid"))
    ),
    "ftb": Input(
        FEATURES,
        "train.French.gold.ptb",
        _parts("ftb", "train.French.gold.ptb", ("dev.French.gold.ptb", "test.French.gold.ptb")),
    ),
    "vtb": Input(MARKED, "train.prd", _parts("vtb", "train.prd", ("dev.prd", "test.prd"))),
    "conllu": Input(CONLLU, "a.conllu", _converted("conllu")),
    "documents": Input(
        "weblog-a 0 1\n# no more\n",
        "list.txt",
        lambda put, path, out: command(Gum)(put("a.conllu", CONLLU), out, documents=path),
    ),
    "conll05": Input(CONLL05, "a.conll", _converted("conll05")),
    "conll12": Input(
        CONLL12, "a_gold_conll", _converted("conll12", ptb_escapes=True, heads=HeadRules.collins)
    ),
    "skeleton": Input(
        SKELETON,
        "a.gold_skel",
        lambda put, path, out: command(Propbank)(path, out, words=put("a.conllu", CONLLU)),
    ),
    "skeleton's words": Input(
        "ca n't eat\nYes !\n",
        "words",
        lambda put, path, out: command(Propbank)(put("a.gold_skel", SKELETON), out, words=path),
    ),
    "ewt, archive": Input(archive_of_skeletons(), "skeletons.tar.gz", _ewt),
    "ewt, words": Input(CONLLU, "en-ud-dev.conllu", _ewt_words),
    "gold-conll": Input(GOLD_CONLL, "a.gold_conll", _converted(Masc)),
    "tsv": Input(TSV, "a.tsv", _converted("tsv", types=ErrorTypes.full)),
    "m2": Input(M2, "a.m2", _converted("m2", types=ErrorTypes.operations)),
    "json": Input(JSON, "a.json", _converted("character-edits", lang="en", types=ErrorTypes.full)),
    "parallel": Input(
        "She eat it .\nHe eats them often .\nYes\n",
        "a.txt",
        lambda put, path, out: command(FORMATS["parallel"])(
            path, out, corrected=[put("b.txt", LINES)]
        ),
    ),
    "error model": Input(
        _model,
        "model.json",
        lambda put, path, out: corrupt(texts=[put("lines", LINES)], output=out, model=path),
    ),
    ".spacy, errors": Input(_docs(), "a.spacy", _converted("tsv")),
    ".spacy, frames": Input(_docs(), "a.spacy", _converted("props")),
    "trees": Input(TREES, "a", lambda put, path, out: score_trees(put("gold", TREES), path)),
    "props": Input(PROPS, "a", lambda put, path, out: score_roles(put("gold", PROPS), path)),
    "labels": Input(TSV, "a", lambda put, path, out: score_errors(put("gold", TSV), path)),
}
PACKED = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}


def attempt(name: str, data: bytes, folder: Path, packed: str = "") -> str:
    """Give data to the command in the place of a sound file. Returns what it says, "" if it works.

    packed: whether, and how, the file is compressed. The command works and writes its output, or
    says what is wrong in one line that names the file, and leaves nothing behind. Anything else is
    an AssertionError, or whatever it raises.
    """
    given = INPUTS[name]

    def put(file: str, content: bytes | str) -> Path:
        path = folder / "in" / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    shutil.rmtree(folder, ignore_errors=True)
    path = put(given.name + packed, data)
    output = folder / "out"
    with _silent() as (_, err):
        try:
            given.call(put, path, output)
            status, said = 0, ""
        except typer.Exit as ended:
            status, said = ended.exit_code, err.getvalue()
    there = sorted(file for file in folder.rglob("*") if "in" not in file.relative_to(folder).parts)
    assert bool(said) == bool(status), said
    if not said:
        assert not any(file.name.endswith(".unfinished") for file in there)
        for file in there:
            if file.suffix == ".spacy" or (file == output and file.is_file()):
                _sound(file)
    elif name != "trees":  # EVALB says which of the sentences it left out
        assert said.count("\n") == 1, said
        assert str(folder) in said, said
        assert not [file for file in there if file.is_file()], said
    assert not (folder.parent / "outside").exists()
    return said


def _sound(file: Path) -> None:
    data = file.read_bytes()
    assert data
    if data[:1] == b"\x78":  # zlib's
        list(DocBin().from_bytes(data).get_docs(Vocab()))


def fuzz(name: str, rng: random.Random, folder: Path) -> str:
    """One try with a damaged file; as `attempt`."""
    data = INPUTS[name].data
    packed = ""
    if INPUTS[name].name.endswith((".gz", ".spacy")) or rng.random() > 0.05:
        data = damaged(data, rng)
    else:
        packed = rng.choice(list(PACKED))
        data = damaged(PACKED[packed](data), rng)
    try:
        return attempt(name, data, folder, packed)
    except Exception as error:
        error.add_note(f"{name}: {packed or 'plain'} file of {data!r:.2000}")
        raise


PLACE = re.compile(r":\d+|Doc \d+|tree \d+|sentence \d+")
"""What says where in a file something is."""
