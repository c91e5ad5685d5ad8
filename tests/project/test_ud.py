"""Universal Dependencies: the config, the project, and the comparison with spaCy's parser."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import srsly

from spacy_lal.structure.arborescence import is_projective

from .running import ATTACHMENT, FEW_STEPS, load_benchmark, read_docs, scores_of
from .sizes import LABEL_ATTENTION, settings

# "on the issue" hangs on "hearing", across the verb
CROSSING = """\
1 A a DET DT _ 2 det
2 hearing hearing NOUN NN _ 4 nsubj
3 is be AUX VBZ _ 4 aux
4 scheduled schedule VERB VBN _ 0 root
5 on on ADP IN _ 7 case
6 the the DET DT _ 7 det
7 issue issue NOUN NN _ 2 nmod
8 . . PUNCT . _ 4 punct
"""
PLAIN = """\
1 She she PRON PRP _ 2 nsubj
2 sold sell VERB VBD _ 0 root
3 it it PRON PRP _ 2 obj
"""


def write_treebank(folder: Path, crossing: int, plain: int) -> dict[str, str]:
    """Three parts with so many sentences of both kinds. Returns the project's variables."""
    rows = (CROSSING + "\n") * crossing + (PLAIN + "\n") * plain
    text = rows.replace("\n", " _ _\n").replace("\n _ _\n", "\n\n").replace(" ", "\t")
    paths = {part: folder / f"{part}.conllu" for part in ("train", "dev", "test")}
    for path in paths.values():
        path.write_text(text, "utf8")
    return {part: str(path) for part, path in paths.items()} | {"treebank": "UD_Toy", "lang": "is"}


SMALL = settings(
    "lal_dependency",
    **LABEL_ATTENTION,
    input_encoder__hidden_width=16,
    dependencies__arc_width=16,
    dependencies__relation_width=8,
)


def test_train(project: Path, tmp_path: Path, run_here: Callable[..., str]) -> None:
    here = project / "projects/ud"
    variables = write_treebank(tmp_path, crossing=3, plain=5)
    run_here("all", "projects/ud", **variables, train_options=f"{FEW_STEPS} {SMALL}")
    docs = read_docs(here / "corpus/UD_Toy/test.spacy", "is")
    assert [token.tag_ for token in docs[0]] == [line.split()[3] for line in CROSSING.splitlines()]
    heads = [int(line.split()[6]) for line in CROSSING.splitlines()]
    assert not is_projective(heads)
    assert [0 if t.head == t else t.head.i + 1 for t in docs[0]] == heads
    metrics = scores_of(here / "metrics/UD_Toy.json")
    assert set(metrics) >= ATTACHMENT
    assert (metrics["sentences"], metrics["nonprojective_gold"]) == (8, 3)


@pytest.mark.slow
def test_compare(project: Path, tmp_path: Path, run_here: Callable[..., str]) -> None:
    options = " --minutes 0.01 --systems lal,lal-without,spacy"
    variables = write_treebank(tmp_path, crossing=40, plain=40)
    run_here("compare", "projects/ud", **variables, options=options)
    path = project / "projects/ud/metrics/ud.jsonl"
    runs = load_benchmark("results").read(path, "ud/")
    assert set(runs) == {f"UD_Toy-{name}-1" for name in options.split()[-1].split(",")}
    for run in runs.values():
        assert run["data"]["train"] == {"sentences": 80, "words": 440, "nonprojective": 40}
        assert 0.6 <= run["cpu_seconds"] < 20
        assert run["curve"][-1]["seconds"] == pytest.approx(run["cpu_seconds"], abs=0.1)
        assert all(0 <= row["conll18_las"] <= row["conll18_uas"] <= 1 for row in run["results"])
    before = path.read_text("utf8")
    variables["options"] = options.replace("lal,lal-without,", "")
    assert "ud/UD_Toy-spacy-1 is there" in run_here("compare-parsers", "projects/ud", **variables)
    assert path.read_text("utf8") == before
    variables["options"] = " --minutes 1"
    with pytest.raises(AssertionError, match=r"ud\.py"):
        run_here("compare-parsers", "projects/ud", **variables)

    for row in runs["UD_Toy-lal-1"]["results"]:
        if row["decoder"] == "projective":  # Eisner's algorithm
            assert row["nonprojective_predicted"] == 0
    tables = load_benchmark("tables")
    (row,) = (line for line in tables.systems("ud", path).splitlines() if "Toy" in line)
    assert row.count("|") == 1 + 1 + 2 * 4 + 3  # of three parsers, of which two have two decoders
    assert "without label attention | 1 |" in tables.label_attention("ud", path)
    supar = [{"run": "supar-ud/Toy", "uas": 80.0, "las": 70.0}]
    supar += [{"run": "supar-ud/Toy", "part": "epochs", "dev_las": 60.0}] * 2
    srsly.write_jsonl(path, supar, append=True, append_new_line=False)
    (row,) = (line for line in tables.systems("ud", path).splitlines() if "Toy" in line)
    assert row.endswith(" | 70.00 | 80.00 |")
