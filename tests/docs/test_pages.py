"""The guard itself: a page that shows something wrong fails."""

from __future__ import annotations

from pathlib import Path

import pytest

from .pages import Page, Step, as_shown, steps


def run(folder: Path, *blocks: str) -> list[str]:
    """Blocks as "LANGUAGE\\nTEXT"."""
    return Page("page", folder).run("A page.\n\n" + "\n\n".join(f"```{b}\n```" for b in blocks))


@pytest.mark.parametrize(
    "page",
    [
        ["python\nx = 1", "python\n>>> x + 1\n2\n>>> y = x"],
        ["python\n>>> z = 3", "python\nprint(z)", "text\n3"],
        ["python\nprint('a  \\nb')", "text\na\nb"],
        ["python\n>>> 0.12345, 'a'\n(0.12, 'a')"],
        ["python\n>>> list(range(9))\n[0, ..., 8]"],
        ["python\n>>> int('a')\nTraceback (most recent call last):\nValueError: ..."],
        ["bash\necho one > file", "python\nprint(open('file').read())", "text\none"],
        ["bash\necho \\\n  two", "text\ntwo"],
        ["bash\nfalse  # not run: fails", "text\nanything"],
        ["bash\ntrue\n# not run: fails\nfalse\nfalse"],
        ["bash\nfalse --one \\\n  --two  # not run: fails\necho here", "text\nhere"],
        ["bash\npython -m spacy project run smoke . --vars.gpu_id 0  # not run: trains"],
        ["bash\npython -m spacy project run all projects/vtb --vars.ratio 18:1  # not run: long"],
        ["bash\n… --vars.ratio 18:1:1  # not run: a part"],
        ["bash\ntest $PIP_NO_INDEX = 1\npython -c 'import spacy_lal'"],
        [
            "bash\necho '(TOP (UH Yes))' > 'a b'",
            "bash\npython -m spacy lal score trees 'a b' \\\n  'a b' # that's it",
            """text
  Sent.                        Matched  Bracket   Cross        Correct Tag
 ID  Len.  Stat. Recal  Prec.  Bracket gold test Bracket Words  Tags Accracy
============================================================================
   1    1    0    0.00   0.00     0      0    0      0      1     1   100.00
...""",
        ],
        ["text\nanything"],
    ],
)
def test_right(page: list[str], tmp_path: Path) -> None:
    assert run(tmp_path, *page) == []


@pytest.mark.parametrize(
    ("page", "said"),
    [
        (["python\n>>> 1 + 1\n3"], "line 3: "),
        (["python\n>>> 1 + 1"], "Got:\n    2"),
        (["python\n>>> 0.12345\n0.14"], "Got:\n    0.12345"),
        (["python\n>>> 1.0, 2.0\n(1.0, 2.0, 3.0)"], "Got:"),
        (["python\nx = 1\n>>> 1\n1"], "neither an example"),
        (["python\nx = 1\ny = z"], "line 5: NameError: name 'z'"),
        (["python\nprint(1)", "text\n2"], "shows\n    2\nprinted\n    1"),
        (["python\nx = 1", "text\n1"], "printed"),
        (["bash\necho 1", "text\n2"], "printed\n    1"),
        (["bash\nfalse\ntrue"], "exit status 1"),
        (["bash\nfalse | true"], "exit status 1"),
        (
            ["bash\npython -m spacy lal score trees none none\npython -m spacy lal --help"],
            "exit status 1\nscore: ",
        ),
        (["bash\ntrue # not run"], "without a reason"),
        (["bash\npython scripts/none.py  # not run: long"], "no file scripts/none.py"),
        (
            ["bash\npython -m spacy lal evaluate a \\\n --none 1  # not run: long"],
            "no option --none",
        ),
        (
            ["bash\npython -m spacy lal convert none  # not run: long"],
            "no command none of lal convert",
        ),
        (["bash\npython -m spacy project run none  # not run: long"], "no workflow none"),
        (["bash\npython -m spacy project run smoke projects/ewt  # not run: long"], "no workflow"),
        (
            ["bash\npython -m spacy project run smoke . --vars.propbank x  # not run: long"],
            "no variable propbank",
        ),
        (["bash\n… --vars.none 1  # not run: a part"], "no variable none"),
        (["bash\npython -m pip download --no-deps six"], "exit status 1"),
        (["console\n$ true"], "a block of console"),
        (["\ntrue"], "a block of no language"),
    ],
)
def test_wrong(page: list[str], said: str, tmp_path: Path) -> None:
    failures = run(tmp_path, *page)
    assert len(failures) == 1
    assert said in failures[0]


def test_what_needs_a_shell() -> None:
    assert steps("python -m spacy info 'a b' \\\n --url  # where\n") == [
        Step(["-m", "spacy", "info", "a b", "--url"])
    ]
    assert steps("echo '(' > a\npython b.py 'c, d' || test $? = 3   # refused\n") == [
        Step([], "echo '(' > a"),
        Step(["b.py", "c, d"], status=3),
    ]
    for script in (
        "spacy info",
        "python -m spacy info $HOME",
        "python -m spacy info | cat",
        "python -m spacy info\ntrue\n",
        "cd a\npython b.py 1",
    ):
        assert steps(script) == [Step([], script)]


def test_pages_share_nothing(tmp_path: Path) -> None:
    assert run(tmp_path, "python\nshared = 1") == []
    assert run(tmp_path, "python\nprint(shared)")


def test_all_failures_are_told(tmp_path: Path) -> None:
    failures = run(tmp_path, "python\n>>> 1\n2", "bash\nfalse", "python\n>>> 3\n4")
    assert [failure.partition(": ")[0] for failure in failures] == [
        "page, line 3",
        "page, line 8",
        "page, line 12",
    ]


def test_forms_that_nobody_would_run(tmp_path: Path) -> None:
    assert "indented" in Page("page", tmp_path).run("Do:\n\n    false\n")[0]
    assert "without an end" in Page("page", tmp_path).run("```bash\nfalse\n")[0]


def test_numbers() -> None:
    assert as_shown("1.25 (3)", "1.2478 (3)") == "1.25 (3)"
    assert as_shown("1.25", "1.2701") == "1.2701"
    assert as_shown("-0.5", "0.5") == "0.5"
