"""What all commands do with hostile input."""

import os
import shutil
from pathlib import Path

import numpy
import pytest
import spacy
import srsly
from spacy.tokens import Doc, DocBin
from spacy.vectors import Vectors
from spacy.vocab import Vocab
from typer.testing import CliRunner

from spacy_lal.annotations import set_frames
from spacy_lal.annotations.grammar_errors import set_errors
from spacy_lal.cli import app
from spacy_lal.formats.treebank_sentence import language_vocab
from tests.pipeline import toy_errors
from tests.pipeline.toy import examples as toy_examples
from tests.pipeline.toy import tiny_pipeline
from tests.pipeline.toy_frames import SENTENCES, FrameSpans

TREE = "(TOP (S (NP (PRP She)) (VP (VBD ate)) (. .)))\n"
CONLLU = "1\tShe\t_\t_\t_\t_\t0\troot\t_\t_\n\n"
CONLL05 = "She PRP (S* - (A0*)\nate VBD *) eat (V*)\n\n"
CONLL12 = (
    "#begin document (a); part 000\n"
    "a 0 0 She PRP (TOP(S* - - - - * * -\n"
    "a 0 1 ate VBD *)) eat 01 - - * (V*) -\n\n#end document\n"
)
PROPS = "- (A0*)\neat (V*)\n\n"
TSV = "She\tc\nate\ti\n\n"
M2 = "S She ate\nA 1 2|||R:VERB|||eats|||REQUIRED|||-NONE-|||0\n\n"
JSON = '{"text": "She ate", "edits": [[0, [[0, 3, "He"]]]]}\n'
BLANK = ["", "\n", " \n\n"]

# Arguments of every command that writes: IN and OUT stand for files
WRITING = {
    "brackets": (TREE, "convert brackets IN OUT"),
    "conllu": (CONLLU, "convert conllu IN OUT"),
    "conll05": (CONLL05, "convert conll05 IN OUT"),
    "conll12": (CONLL12, "convert conll12 IN OUT"),
    "tsv": (TSV, "convert tsv IN OUT"),
    "m2": (M2, "convert m2 IN OUT"),
    "json": (JSON, "convert character-edits IN OUT --lang en"),
    "parallel": ("She eat\n", "convert parallel IN OUT --corrected CORRECTED"),
    "corrected": ("She ate\n", "convert parallel CORRECTED OUT --corrected IN"),
    "corrupt": ("She ate it .\n", "corrupt IN OUT --model MODEL"),
    "model": (None, "corrupt WORDS OUT --model IN"),
    "learn": ("She ate it .\n", "corrupt --learn IN OUT"),
    "write tsv": (None, "convert tsv IN OUT"),
    "write props": (None, "convert props IN OUT"),
}
READING = {
    "inspect": (TREE, "inspect IN"),
    "trees": (TREE, "score trees IN IN"),
    "roles": (PROPS, "score roles IN IN"),
    "errors": (TSV, "score errors IN IN"),
}


def run(arguments: list[str]):
    return CliRunner().invoke(app, arguments)


def refused(result, *parts) -> None:
    assert result.exit_code == 1, result.output
    assert isinstance(result.exception, SystemExit)
    assert result.stderr.count("\n") == 1
    for part in parts:
        assert str(part) in result.stderr


@pytest.fixture(scope="module")
def error_model(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("error_model")
    (folder / "text").write_text("She ate it . He eats them .\n" * 5)
    assert run(["corrupt", "--learn", str(folder / "text"), str(folder / "model")]).exit_code == 0
    return (folder / "model").read_text()


@pytest.fixture
def files(tmp_path: Path, error_model: str) -> dict[str, str]:
    """Small files of every kind, and what stands for them."""
    contents = {
        "WORDS": "Yes !\n",
        "CORRECTED": "She ate\n",
        "MODEL": error_model,
    }
    for name, content in contents.items():
        (tmp_path / name).write_text(content)
    return {name: str(tmp_path / name) for name in contents}


def docs_file(path: Path) -> None:
    doc = Doc(language_vocab("xx"), words=SENTENCES[0][0].split())
    set_frames(doc, [FrameSpans(2, "sit.01", [(2, 3, "V")])])
    set_errors(doc, ["c"] * len(doc))
    DocBin(docs=[doc]).to_disk(path)


def prepared(command: str, files: dict[str, str], tmp_path: Path) -> tuple[Path, list[str]]:
    content, line = (WRITING | READING)[command]
    source = tmp_path / "input.spacy" if command.startswith("write") else tmp_path / "input"
    if content is not None:
        source.write_text(content)
    elif command == "model":
        source.write_bytes(Path(files["MODEL"]).read_bytes())
    else:
        docs_file(source)
    known = {**files, "IN": str(source)}
    return source, [known.get(word, word) for word in line.split()]


@pytest.mark.parametrize("name", ["itself", "another path", "symlink", "hard link"])
@pytest.mark.parametrize("command", WRITING)
def test_no_input_is_overwritten(command: str, name: str, files, tmp_path: Path) -> None:
    source, arguments = prepared(command, files, tmp_path)
    before = source.read_bytes()
    output = source
    if name == "another path":
        (tmp_path / "sub").mkdir()
        output = tmp_path / "sub" / ".." / source.name
    elif name == "symlink":
        output = tmp_path / "link"
        output.symlink_to(source)
    elif name == "hard link":
        output = tmp_path / "link"
        os.link(source, output)
    result = run([str(output) if word == "OUT" else word for word in arguments])
    refused(result, "would overwrite the input", source)
    assert source.read_bytes() == before
    other = [str(tmp_path / "out.spacy") if word == "OUT" else word for word in arguments]
    assert run(other).exit_code == 0
    if arguments[0] == "convert" and not command.startswith("write"):
        refused(run([*other, "--report", str(output)]), "would overwrite the input", source)
        assert source.read_bytes() == before
        refused(run([*other, "--report", str(tmp_path / "out.spacy")]), "written twice")


@pytest.mark.parametrize("blank", BLANK)
@pytest.mark.parametrize(
    "command",
    [c for c, (content, _) in (WRITING | READING).items() if content is not None],
)
def test_inputs_without_sentences_are_refused(command: str, blank: str, files, tmp_path) -> None:
    source, arguments = prepared(command, files, tmp_path)
    source.write_text(blank)
    output = tmp_path / "out.spacy"
    result = run([str(output) if word == "OUT" else word for word in arguments])
    refused(result, source)
    assert not output.exists()


@pytest.mark.parametrize("command", ["conllu", "conll12"])
def test_comments_alone_are_no_sentences(command: str, files, tmp_path: Path) -> None:
    source, arguments = prepared(command, files, tmp_path)
    comments = "# newdoc\n\n" if command == "conllu" else "#begin document (a)\n#end document\n"
    source.write_text(comments)
    refused(run([str(tmp_path / "o") if word == "OUT" else word for word in arguments]), source)


@pytest.mark.parametrize("command", ["tsv", "props"])
def test_files_without_docs_are_refused(command: str, tmp_path: Path) -> None:
    DocBin().to_disk(tmp_path / "none.spacy")
    result = run(["convert", command, str(tmp_path / "none.spacy"), str(tmp_path / "out")])
    refused(result, tmp_path / "none.spacy")


def test_one_of_several_inputs_without_sentences(tmp_path: Path) -> None:
    (tmp_path / "a").write_text(TREE)
    (tmp_path / "b").write_text("\n")
    out = tmp_path / "out.spacy"
    refused(run(["convert", "brackets", *(str(tmp_path / n) for n in "ab"), str(out)]), "b")
    # of a folder's files, some may be empty
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "a.mrg").write_text(TREE)
    (folder / "b.mrg").write_text("")
    assert run(["convert", "brackets", str(folder), str(out)]).exit_code == 0
    assert len(list(DocBin().from_disk(out).get_docs(Vocab()))) == 1


@pytest.mark.parametrize("encoding", ["nonsense", "hex", "undefined"])
def test_encodings_that_are_none(encoding: str, tmp_path: Path) -> None:
    source = tmp_path / "a"
    source.write_text(TREE)
    out = tmp_path / "out.spacy"
    result = run(["convert", "brackets", str(source), str(out), "--encoding", encoding])
    refused(result, encoding)


def test_files_that_cannot_be_written_are_refused_before_work(tmp_path: Path) -> None:
    source = tmp_path / "a"
    source.write_text(TREE)
    base = ["convert", "brackets", str(source)]
    for bad in (tmp_path, source / "below", source / "far" / "below"):
        refused(run([*base, str(bad)]), "can't write", bad)
        out = tmp_path / "out.spacy"
        refused(run([*base, str(out), "--report", str(bad)]), "can't write", bad)
        assert not out.exists()


def test_patterns_of_no_folder(tmp_path: Path) -> None:
    (tmp_path / "a.mrg").write_text(TREE)
    for pattern in ("/x", "", "*.none"):
        out = str(tmp_path / "out.spacy")
        refused(run(["convert", "brackets", str(tmp_path), out, "--pattern", pattern]))


TREEBANKS = {
    "ptb": ("{}/wsj.mrg", {"train": "02", "dev": "22", "test": "23"}),
    "ctb": ("chtb_{}.fid", {"train": "0001", "dev": "0301", "test": "0271"}),
    "ftb": ("{}.French.gold.ptb", {"train": "train", "dev": "dev", "test": "test"}),
    "vtb": ("{}.prd", {"train": "train", "dev": "dev", "test": "test"}),
}


@pytest.fixture(params=TREEBANKS)
def treebank(request, tmp_path: Path) -> tuple[str, dict[str, Path]]:
    """A licensed treebank's name, and a file of each of its parts in the folder `treebank`."""
    name, parts = TREEBANKS[request.param]
    files = {p: tmp_path / "treebank" / name.format(part) for p, part in parts.items()}
    for path in files.values():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(TREE)
    return request.param, files


def test_treebanks_are_not_overwritten(treebank, tmp_path: Path) -> None:
    name, files = treebank
    output = tmp_path / "out"
    output.mkdir()
    (output / "dev.spacy").symlink_to(files["train"])
    arguments = ["convert", name, str(tmp_path / "treebank"), str(output)]
    refused(run(arguments), "convert: ", "would overwrite the input", files["train"])
    (output / "dev.spacy").unlink()
    report = ["--report", str(files["test"])]
    refused(run([*arguments, *report]), "would overwrite the input", files["test"])
    assert not list(output.iterdir())
    assert {path.read_text() for path in files.values()} == {TREE}
    assert run(arguments).exit_code == 0
    assert {path.stem for path in output.iterdir()} == set(files)


@pytest.mark.parametrize("blank", BLANK)
def test_parts_of_treebanks_without_sentences_are_refused(blank, treebank, tmp_path: Path) -> None:
    name, files = treebank
    files["test"].write_text(blank)
    output = tmp_path / "out"
    result = run(["convert", name, str(tmp_path / "treebank"), str(output)])
    refused(result, f"convert: test: no sentences in {files['test']}")
    assert not output.exists()


def test_what_is_lost_of_a_treebank_is_reported(tmp_path: Path) -> None:
    for section in ("02", "22", "23"):
        (tmp_path / section).mkdir()
        path = tmp_path / section / "wsj.mrg"
        path.write_text("( (S (NP (-NONE- *T*)) (UH Yes)))\n( (NP (-NONE- *)))\n")
    report = tmp_path / "report.json"
    assert (
        run(["convert", "ptb", str(tmp_path), str(tmp_path), "--report", str(report)]).exit_code
        == 0
    )
    counts = srsly.read_json(report)["test"]
    assert counts["dropped"] == [[f"{tmp_path / '23/wsj.mrg'}: tree 2", "no words"]]
    assert counts["empty elements removed"] == counts["phrases removed that had no words"] == 1


MEASURING = ["", "--raw", "--calibrate"]


@pytest.mark.parametrize("how", MEASURING)
def test_corpora_that_are_measured_are_not_overwritten(how: str, tmp_path: Path) -> None:
    corpus = tmp_path / "corpus.spacy"
    docs_file(corpus)
    before = corpus.read_bytes()
    command = ["evaluate", "none", *how.split()]
    for corpora in (corpus, tmp_path):
        result = run([*command, str(corpora), "--json", str(corpus)])
        refused(result, "evaluate: ", "would overwrite the input", corpus)
    assert corpus.read_bytes() == before
    refused(run([*command, str(corpus), "--json", str(tmp_path)]), "can't write", tmp_path)
    refused(run([*command, str(corpus)]), "evaluate: ", "none")
    assert "Missing argument" in run(command).output


@pytest.fixture
def pipeline(tmp_path: Path) -> Path:
    spacy.blank("en").to_disk(tmp_path / "en_x")
    return tmp_path / "en_x"


@pytest.mark.parametrize("how", MEASURING)
def test_empty_corpora_are_refused(how: str, pipeline: Path, tmp_path: Path) -> None:
    empty = tmp_path / "empty.spacy"
    DocBin().to_disk(empty)
    output = tmp_path / "out.json"
    command = ["evaluate", str(pipeline), str(empty), *how.split()]
    refused(run([*command, "--json", str(output)]), "evaluate: ")
    assert not output.exists()


@pytest.mark.parametrize("command", ["package", "find-threshold", "edit"])
def test_pipelines_are_not_overwritten(command: str, pipeline: Path, tmp_path: Path) -> None:
    corpus = tmp_path / "corpus.spacy"
    docs_file(corpus)
    (tmp_path / "link").symlink_to(tmp_path)
    more = {
        "package": ["--name", "x"],
        "find-threshold": [str(corpus)],
        "edit": ["--set", "nlp.batch_size=8", "--mean-with", "none"],
    }[command]
    before = {path: path.read_bytes() for path in pipeline.rglob("*") if path.is_file()}
    for output in (pipeline, tmp_path / "link/en_x"):
        folder = output.parent if command == "package" else output
        result = run([command, str(pipeline), str(folder), *more])
        refused(result, command, f"{output} would overwrite the input {pipeline}")
    assert before == {path: path.read_bytes() for path in pipeline.rglob("*") if path.is_file()}
    refused(run([command, str(pipeline), str(corpus / "below"), *more]), "can't write", "no folder")


def test_settings_are_stored(tmp_path: Path) -> None:
    nlp = tiny_pipeline()
    nlp.initialize(lambda: toy_examples(nlp))
    nlp.to_disk(tmp_path / "model")
    sentences, output = "components.lal_constituency.sentences", tmp_path / "changed"
    command = ["edit", str(tmp_path / "model")]
    both = ["--set", f"{sentences}=doc", "--set", "nlp.batch_size=8"]
    assert run([*command, str(output), *both]).exit_code == 0
    changed = spacy.load(output)
    assert changed.config["components"]["lal_constituency"]["sentences"] == "doc"
    assert changed.get_pipe("lal_constituency").reading.sentences == "doc"
    assert changed.batch_size == 8
    mine, theirs = (
        (folder / "lal_constituency/model.safetensors").read_bytes()
        for folder in (output, tmp_path / "model")
    )
    assert mine == theirs
    for wrong, says in (
        ("", "nothing to change: give --set"),
        (sentences, "write a setting and its value"),
        ("components.nobody.sentences=doc", "components -> nobody -> sentences"),
        (f"{sentences[:-1]}=doc", "sentence"),
        (f"{sentences}=maybe", "sentences"),
        ("training.seed=1", "training.seed: only settings of [components] and [nlp]"),
        ("components.lal_constituency.model.hidden_width=7", "stored with the weights"),
    ):
        result = run([*command, str(tmp_path / "no"), *(["--set", wrong] if wrong else [])])
        refused(result, "edit: ", says)
        assert "<spacy." not in result.stderr  # of the whole config
    assert not (tmp_path / "no").exists()


def test_a_trained_pipeline_gets_tokens_and_list_items(tmp_path: Path) -> None:
    nlp = spacy.blank("en")
    nlp.add_pipe("senter")
    nlp.initialize()
    nlp.to_disk(tmp_path / "model")
    text, both = "- isn't it?\n- DON'T 👍🏽", ["--treebank-tokens", "--list-items"]
    for model, output in (("model", "once"), ("once", "twice")):
        command = ["edit", str(tmp_path / model), str(tmp_path / output), *both]
        assert run(command).exit_code == 0
        changed = spacy.load(tmp_path / output)
        assert changed.pipe_names == ["lal_list_items", "senter"]
        doc = changed(text)
        assert [t.text for t in doc[-4:]] == ["-", "DO", "N'T", "👍🏽"]
        assert doc[-4].is_sent_start
    spacy.blank("de").to_disk(tmp_path / "german")
    command = ["edit", str(tmp_path / "german"), str(tmp_path / "no")]
    refused(run([*command, "--list-items"]), "edit: ", "--list-items: the pipeline has no senter")
    refused(run([*command, "--treebank-tokens"]), "edit: ", "treebank tokens are for")
    assert not (tmp_path / "no").exists()


def test_evaluating_what_is_not_there(tmp_path: Path) -> None:
    """No zeros for what a pipeline doesn't find, or what a corpus doesn't have."""
    vocab = language_vocab("en")
    bare, tagged = Doc(vocab, ["a", "b"]), Doc(vocab, ["a", "b"], tags=["X", "Y"])
    spacy.blank("en").to_disk(tmp_path / "blank")
    for name, doc in (("bare", bare), ("tagged", tagged)):
        DocBin(docs=[doc]).to_disk(tmp_path / f"{name}.spacy")
    blank = ["evaluate", str(tmp_path / "blank"), str(tmp_path / "tagged.spacy")]
    refused(run(blank), "evaluate: ", "has no gold of what the pipeline finds")
    nlp = tiny_pipeline()
    nlp.initialize(lambda: toy_examples(nlp))
    nlp.to_disk(tmp_path / "model")
    command = ["evaluate", str(tmp_path / "model")]
    refused(run([*command, str(tmp_path / "bare.spacy")]), "nothing to compare")
    roles = [*command, str(tmp_path / "tagged.spacy"), "--parses", "gold"]
    refused(run(roles), "expected one component lisa_srl")
    wrong = [*command, str(tmp_path / "tagged.spacy"), "--prm", "nowhere"]
    refused(run(wrong), "EVALB parameter file not found: nowhere")


def test_the_threshold_is_a_setting(tmp_path: Path) -> None:
    """It is stored beside the weights, from where it is read."""
    nlp = spacy.blank("en")
    nlp.add_pipe("gec_detector", config={"model": toy_errors.MODEL})
    nlp.initialize(lambda: toy_errors.agreement_examples(nlp, 20))
    nlp.to_disk(tmp_path / "model")
    command = ["edit", str(tmp_path / "model"), str(tmp_path / "new")]
    assert run([*command, "--set", "components.gec_detector.threshold=0.9"]).exit_code == 0
    assert spacy.load(tmp_path / "new").get_pipe("gec_detector").cfg["threshold"] == 0.9


def test_vectors_that_are_read_stay(tmp_path: Path) -> None:
    nlp = spacy.blank("en")
    nlp.vocab.vectors = Vectors(data=numpy.ones((1, 4), "f"), keys=["he"])
    layers = toy_errors.MODEL["layers"]
    tok2vec = {
        "@architectures": "spacy.MultiHashEmbed.v2",
        "width": 8,
        "attrs": ["NORM"],
        "rows": [50],
        "include_static_vectors": True,
    }
    model = {**toy_errors.MODEL, "layers": {**layers, "tok2vec": tok2vec}}
    nlp.add_pipe("gec_detector", config={"model": model})
    nlp.initialize(lambda: toy_errors.agreement_examples(nlp, 20))
    nlp.to_disk(tmp_path / "model")
    command = ["package", str(tmp_path / "model"), str(tmp_path / "out"), "--name", "x"]
    refused(run([*command, "--no-vectors"]), "gec_detector reads the vocabulary's vectors")
    assert run(command).exit_code == 0


def test_a_package_replaces_packages_alone(pipeline: Path, tmp_path: Path, monkeypatch) -> None:
    packages = tmp_path / "packages"
    arguments = ["package", str(pipeline), str(packages), "--name", "sm", "--version"]
    thesis = packages / "en_sm/thesis.txt"
    thesis.parent.mkdir(parents=True)
    thesis.write_text("mine")
    refused(run([*arguments, "1.0.0"]), "package: ", packages / "en_sm", "no package")
    assert thesis.read_text() == "mine"
    (packages / "en_sm").rename(packages / "en_sm.old")  # a name that somebody may give, too
    for version in ("1.0.0", "2.0.0"):
        assert run([*arguments, version]).exit_code == 0
        assert srsly.read_json(packages / "en_sm/meta.json")["version"] == version

    def full(*_: object) -> None:
        raise OSError("no space left on device")

    monkeypatch.setattr(shutil, "move", full)
    refused(run([*arguments, "3.0.0"]), "package: no space left")
    assert srsly.read_json(packages / "en_sm/meta.json")["version"] == "2.0.0"
    assert sorted(path.name for path in packages.iterdir()) == ["en_sm", "en_sm.old"]
    assert (packages / "en_sm.old/thesis.txt").read_text() == "mine"


def test_a_package_of_what_is_no_pipeline(pipeline: Path, tmp_path: Path) -> None:
    packages = str(tmp_path / "packages")
    result = run(["package", str(tmp_path), packages, "--name", "x"])
    refused(result, "package: ", "meta.json")
    metrics = tmp_path / "metrics.json"
    for content in ("{}", "[]", '{"results": []}', "{"):
        metrics.write_text(content)
        options = ["--name", "x", "--metrics", str(metrics)]
        refused(run(["package", str(pipeline), packages, *options]), "package: ")
    result = run(["package", str(pipeline), packages, "--name", "x", "--bytes-of", "none"])
    refused(result, "package: ", "has no component 'none' of this package")
    result = run(["package", str(pipeline), packages, "--name", "x", "--version", "a b"])
    refused(result, "package: Invalid version: 'a b'")
    assert not (tmp_path / "packages").exists()
