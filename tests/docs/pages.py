"""Runs what a Markdown page shows: its Python and its shell blocks, top to bottom.

A ```python block with `>>>` is a doctest, another one is executed; all of a page share their names.
A ```bash block is a script. Its lines that start spaCy or a script in Python run in this process if
they need no shell, which saves the import of spaCy; others run in a shell. All run in one folder. A
```text block right below a block that was run is what that printed. Numbers may differ by one in
the last decimal that is shown.

`# not run: REASON` after a shell command leaves that command out, on a line of its own all that
follow in the block. Scripts and their options, workflows and variables that such commands name must
be there.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import os
import re
import shlex
import subprocess
import sys
import traceback
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from textwrap import dedent, indent
from typing import Any, NamedTuple
from unittest.mock import patch

import srsly
import typer.main

from spacy_lal.cli import app as lal
from tests.in_process import python

ROOT = Path(__file__).parents[2]
PROJECTS = [".", *(f"projects/{path.parent.name}" for path in ROOT.glob("projects/*/project.yml"))]
SHOWN = {"text", "ini", "json"}
FLAGS = doctest.ELLIPSIS
MARK = re.compile(r"(?:^|\s)# not run\b:?\s*(.*)")
OF_THE_SHELL = re.compile(r"[$`|&;<>(){}\[\]*?~!]")
ALONE = ("echo ", "test ")
"""Commands of a shell after which the next ones don't need the same shell."""
NUMBER = re.compile(r"-?\d+\.\d+")
NO_NETWORK = {
    **dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"), "http://0.0.0.0:9"),
    **dict.fromkeys(("no_proxy", "NO_PROXY"), ""),
    "PIP_NO_INDEX": "1",
    "HF_HUB_OFFLINE": "1",
}


class Block(NamedTuple):
    """language: as the fence names it. first, last: the lines of the fences, from 1."""

    language: str
    text: str
    first: int
    last: int


class Command(NamedTuple):
    """A line of a shell block, with those that continue it. skipped: why it isn't run."""

    text: str
    skipped: str | None


def blocks(page: str) -> Iterator[Block]:
    """The fenced blocks. Raises ValueError for one that nobody would run by its form."""
    language, first, lines, before = "", 0, list[str](), ""
    for number, line in enumerate(page.splitlines(), 1):
        if line.lstrip().startswith("```"):
            if not first:
                language, first, lines = line.strip()[3:], number, []
            else:
                if language not in SHOWN | {"python", "bash"}:
                    raise ValueError(f"line {first}: a block of {language or 'no language'}")
                yield Block(language, dedent("\n".join(lines)), first, number)
                first = 0
        elif first:
            lines.append(line)
        elif line.startswith("    ") and not before.strip():
            raise ValueError(f"line {number}: an indented block, not a fenced one")
        before = line
    if first:
        raise ValueError(f"line {first}: a block without an end")


def commands(script: str) -> Iterator[Command]:
    """The lines of a script. Raises ValueError for a mark without a reason."""
    below = None
    for text in re.findall(r"(?:.*\\\n)*.*\n?", script):
        reason = below
        if mark := MARK.search(text):
            reason = mark[1].strip()
            if not reason:
                raise ValueError("`# not run` without a reason")
            if text.startswith("#"):
                below = reason
        if text.strip():
            yield Command(text, reason)


class Step(NamedTuple):
    """A part of a script. python: what Python is given, nothing where a shell runs `shell`. status:
    with which it ends."""

    python: list[str]
    shell: str = ""
    status: int = 0


def steps(script: str) -> list[Step]:
    """The lines of a script, or the whole of it if they need the same shell."""
    found = []
    for line in script.replace("\\\n", "").splitlines():
        command, _, status = line.partition(" || test $? = ")
        if line.startswith(ALONE):
            found.append(Step([], line))
        elif re.match(r"python (-m spacy|\S+\.py) ", line):
            words = shlex.split(command, comments=True)[1:]
            if any(map(OF_THE_SHELL.search, words)):
                return [Step([], script)]
            found.append(Step(words, status=int(status.partition("#")[0] or 0)))
        else:
            return [Step([], script)]
    return found


def missing(command: str) -> Iterator[str]:
    """What a command names of this project that is not there: scripts and configs, options of
    scripts (by their words in the source), commands and their options, workflows and variables."""
    for name in re.findall(r"(?:^|\s)((?:scripts|benchmarks|configs)/\S+\.\w+)", command):
        if not (ROOT / name).exists():
            yield f"no file {name}"
    for name, arguments in re.findall(
        r"python ((?:scripts|benchmarks)/\S+\.py)(.*)", command, re.S
    ):
        source = (ROOT / name).read_text(encoding="utf8") if (ROOT / name).exists() else arguments
        for option in options(arguments):
            if not re.search(rf"--{option}\b|\b{option.replace('-', '_')}\b", source):
                yield f"no option --{option} of {name}"
    for arguments in re.findall(r"\blal ([a-z].*)", command, re.S):
        yield from missing_of_lal(arguments)
    runs = re.findall(r"spacy project run (\S+)(?: ([\w./]+))?", command)
    runs = [(workflow, folder or ".") for workflow, folder in runs]
    folders = [folder for _, folder in runs] or PROJECTS
    variables = set[str]().union(*(project_names(folder)[1] for folder in folders))
    for workflow, folder in runs:
        if workflow not in project_names(folder)[0]:
            yield f"no workflow {workflow} in {folder}/project.yml"
    for variable in re.findall(r"--vars\.(\w+)", command):
        if variable not in variables:
            yield f"no variable {variable} in project.yml"


def options(arguments: str) -> list[str]:
    """Names of options, without hyphens before them."""
    return re.findall(r"\s--([a-z][a-z-]*)", re.sub('"[^"]*"', "", arguments))


def missing_of_lal(arguments: str) -> Iterator[str]:
    """The command, or options of it, that `python -m spacy lal` doesn't have."""
    command: Any = typer.main.get_command(lal)
    name = "lal"
    for word in arguments.split():
        if not hasattr(command, "commands"):
            break
        if word not in command.commands:
            yield f"no command {word} of {name}"
            return
        command, name = command.commands[word], f"{name} {word}"
    known = {text for p in command.params for text in (*p.opts, *p.secondary_opts)}
    for option in options(arguments):
        if f"--{option}" not in known | {"--help"}:
            yield f"no option --{option} of {name}"


@cache
def project_names(folder: str) -> tuple[set[str], set[str]]:
    """The workflows and commands, and the variables, of a folder's project.yml."""
    path = ROOT / folder / "project.yml"
    if not path.exists():
        return set(), set()
    project: Any = srsly.read_yaml(path)
    commands = (command["name"] for command in project["commands"])
    return {*project["workflows"], *commands}, set(project["vars"])


def as_shown(want: str, got: str) -> str:
    """What was printed, with the numbers of `want` where those are nearly the same."""
    wanted = NUMBER.findall(want)
    if len(wanted) != len(NUMBER.findall(got)):
        return got
    numbers = iter(wanted)

    def shown(found: re.Match[str]) -> str:
        number = next(numbers)
        unit = 10.0 ** -len(number.partition(".")[2])
        return number if abs(float(number) - float(found[0])) < 1.01 * unit else found[0]

    return NUMBER.sub(shown, got)


class Checker(doctest.OutputChecker):
    def check_output(self, want: str, got: str, optionflags: int) -> bool:
        return super().check_output(want, as_shown(want, got), optionflags)


class Page:
    """A page that is run in a folder. failures: what went wrong, with the page's name and line."""

    def __init__(self, name: str, folder: Path) -> None:
        self.name = name
        self.folder = folder
        self.names: dict[str, Any] = {"__name__": "__main__"}
        self.failures: list[str] = []

    def run(self, text: str) -> list[str]:
        """Run all blocks, also those below one that fails. Returns the failures."""
        printed, end = None, 0
        try:
            for block in blocks(text):
                if block.language == "text" and printed is not None and block.first <= end + 2:
                    self._compare(block, printed)
                printed = None
                if block.language == "python":
                    printed = self._doctest(block) if ">>>" in block.text else self._execute(block)
                elif block.language == "bash":
                    printed = self._shell(block)
                end = block.last
        except ValueError as error:
            self.failures.append(f"{self.name}: {error}")
        return self.failures

    def _fail(self, block: Block, what: str, below: int = 0) -> None:
        line = block.first + below
        self.failures.append(f"{self.name}, line {line}: {what.rstrip()}")

    def _compare(self, block: Block, printed: str) -> None:
        want, got = (
            "".join(f"{line.rstrip()}\n" for line in text.rstrip().splitlines())
            for text in (block.text, printed)
        )
        if not Checker().check_output(want, got, FLAGS):
            self._fail(block, f"shows\n{indent(want, '    ')}printed\n{indent(got, '    ')}")

    def _doctest(self, block: Block) -> None:
        parts = doctest.DocTestParser().parse(block.text)
        for part in parts:
            if isinstance(part, str) and part.strip():
                self._fail(block, f"neither an example nor what it shows: {part.strip()}")
        examples = [part for part in parts if isinstance(part, doctest.Example)]
        test = doctest.DocTest(examples, {}, self.name, self.name, block.first, block.text)
        test.globs = self.names  # not a copy
        said = io.StringIO()
        runner = doctest.DocTestRunner(Checker(), verbose=False, optionflags=FLAGS)
        with contextlib.chdir(self.folder):
            if runner.run(test, out=said.write, clear_globs=False).failed:
                self._fail(block, said.getvalue())

    def _execute(self, block: Block) -> str | None:
        said = io.StringIO()
        try:
            with contextlib.chdir(self.folder), contextlib.redirect_stdout(said):
                exec(compile(block.text, self.name, "exec"), self.names)
        except Exception as error:
            here = [
                f.lineno
                for f in traceback.extract_tb(error.__traceback__)
                if f.filename == self.name
            ]
            self._fail(block, f"{type(error).__name__}: {error}", (here or [0])[0] or 0)
            return None
        return said.getvalue()

    def _shell(self, block: Block) -> str | None:
        found = list(commands(block.text))
        for command in found:
            if command.skipped:
                for what in missing(command.text):
                    self._fail(block, what)
        script = "".join(command.text for command in found if not command.skipped)
        if not script:
            return None
        printed = ""
        for step in steps(script):
            status, said, complained = self._python(step) if step.python else self._bash(step)
            if status != step.status:
                self._fail(block, f"exit status {status}\n{said}{complained}")
                return None
            printed += said
        return printed

    def _bash(self, step: Step) -> tuple[int, str, str]:
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
        result = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", step.shell],
            cwd=self.folder,
            env={**os.environ, **NO_NETWORK, "PATH": path, "OMP_NUM_THREADS": "1"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf8",
        )
        return result.returncode, result.stdout, result.stderr

    def _python(self, step: Step) -> tuple[int, str, str]:
        said, complained = io.StringIO(), io.StringIO()
        with (
            contextlib.chdir(self.folder),
            patch.dict(os.environ, NO_NETWORK),
            contextlib.redirect_stdout(said),
            contextlib.redirect_stderr(complained),
        ):
            status = python(step.python)
        return status, said.getvalue(), complained.getvalue()
