"""Build the library's wheel and source distribution and a wheel of each pipeline, and check them.

python scripts/release.py FOLDER [--only NAME,NAME]

Writes sizes and SHA-256 of the pipelines' wheels to spacy_lal/cli/wheels.toml, which the library's
wheel brings. Then an environment in FOLDER/try gets the library's wheel and one pipeline after the
other, by `lal download --from FOLDER`, and each annotates a sentence there. `--only` builds and
tries some pipelines, and keeps the list's lines of the others. Prints a Markdown table; ends with
an error if a check fails.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import time
import tomllib
import zipfile
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parents[1]
WHEELS = ROOT / "spacy_lal/cli/wheels.toml"
MADE = "315532800"
"""The time of all files in the wheels, the first that a zip file can hold, so that equal files make
equal wheels."""
INDEX_LIMIT = 100_000_000
"""Bytes of the largest file that PyPI takes without asking."""
OF_A_MACHINE = re.compile(rb"/(?:home|Users|root)/\w[\w.-]*/|" + re.escape(str(ROOT)).encode())
"""Paths of the machine that trained or built something."""
TRY = """
import sys
from pathlib import Path
import spacy
import spacy_lal
assert Path(spacy_lal.__file__).is_relative_to(sys.prefix), spacy_lal.__file__
doc = spacy.load(sys.argv[1])("The committee have decide to close the old bridge.")
assert doc._.trees[0].parsed or "errors" in doc.spans
found = {key: len(spans) for key, spans in doc.spans.items()}
print(", ".join(f"{count} {key}" for key, count in found.items()))
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", default="", help="pipelines, commas between; all without")
    options = parser.parse_args()
    names = sorted(path.parent.name for path in ROOT.glob("packages/*/meta.json"))
    chosen = options.only.split(",") if options.only else names
    if unknown := set(chosen) - set(names):
        parser.error(f"no package {min(unknown)}")
    out = options.folder.resolve()
    out.mkdir(parents=True, exist_ok=True)
    for old in (*out.glob("*.whl"), *out.glob("*.tar.gz")):
        old.unlink()

    begun = time.perf_counter()
    listed = tomllib.loads(WHEELS.read_text("utf8")) if WHEELS.exists() else {}
    for name in chosen:
        wheel = build(f"packages/{name}", out, "--wheel")
        digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
        version = json.loads((ROOT / "packages" / name / "meta.json").read_text("utf8"))["version"]
        listed[name] = {"version": version, "bytes": wheel.stat().st_size, "sha256": digest}
    WHEELS.write_text("\n".join(table(name, listed[name]) for name in sorted(listed)), "utf8")
    library = build(".", out)
    print(f"built in {time.perf_counter() - begun:.0f} s", flush=True)

    check(out)
    environment = out / "try"
    shutil.rmtree(environment, ignore_errors=True)
    subprocess.run([sys.executable, "-m", "venv", environment], check=True)
    begun = time.perf_counter()
    index = os.environ.get("TORCH_INDEX")
    more = ["--extra-index-url", index] if index else []
    python(environment, "-m", "pip", "install", "-q", *more, str(library))
    print(f"the library installed in {time.perf_counter() - begun:.0f} s", flush=True)
    print("| pipeline | MB | finds | seconds |\n|---|---|---|---|", flush=True)
    for name in chosen:
        begun = time.perf_counter()
        python(environment, "-m", "spacy", "lal", "download", name, "--from", str(out))
        found = python(environment, "-c", TRY, name).strip()
        python(environment, "-m", "pip", "uninstall", "-q", "-y", name)
        size = listed[name]["bytes"]
        note = " (not for an index)" if size > INDEX_LIMIT else ""
        seconds = time.perf_counter() - begun
        print(f"| {name} | {size / 1e6:.1f}{note} | {found} | {seconds:.0f} |", flush=True)
    shutil.rmtree(environment)


def build(folder: str, out: Path, *options: str) -> Path:
    """Build a folder's distributions from a copy of its tracked files. Returns the wheel."""
    part = ["spacy_lal", "pyproject.toml", "README.md", "LICENSE"] if folder == "." else [folder]
    listing = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", *part]
    paths = subprocess.run(listing, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    before = set(out.glob("*.whl"))
    with TemporaryDirectory() as scratch:
        for path in filter(None, paths.split("\0")):
            copy = Path(scratch) / path
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / path, copy)
            # a wheel stores modes, which differ by umask
            copy.chmod(0o644)
        command = [sys.executable, "-m", "build", "-n", *options, "-o", out, Path(scratch) / folder]
        environment = {**os.environ, "SOURCE_DATE_EPOCH": MADE}
        subprocess.run(command, check=True, env=environment, stdout=subprocess.DEVNULL)
    (wheel,) = set(out.glob("*.whl")) - before
    return wheel


def table(name: str, wheel: dict[str, str | int]) -> str:
    """Return the lines of a pipeline in the list of wheels."""
    return "\n".join([f"[{name}]", *(f"{k} = {json.dumps(v)}" for k, v in wheel.items()), ""])


def check(out: Path) -> None:
    """Raise an error for a distribution that isn't fit to be published."""
    wheels = sorted(out.glob("*.whl"))
    files = [*wheels, *out.glob("*.tar.gz")]
    subprocess.run([sys.executable, "-m", "twine", "check", "--strict", *files], check=True)
    # spaCy's packages have meta.json twice, W002
    contents = [sys.executable, "-m", "check_wheel_contents", "--ignore", "W002", *wheels]
    subprocess.run(contents, check=True)
    for wheel in wheels:
        with zipfile.ZipFile(wheel) as archive:
            if not any(".dist-info/licenses/LICENSE" in name for name in archive.namelist()):
                raise ValueError(f"{wheel.name} has no licence")
            for name in archive.namelist():
                if found := OF_A_MACHINE.search(archive.read(name)):
                    raise ValueError(f"{wheel.name}: {name} has the path {found[0].decode()}")


def python(environment: Path, *arguments: str) -> str:
    """Run Python in the environment, apart from the repository. Returns what it prints."""
    variables = {**os.environ, "PIP_CONSTRAINT": str(ROOT / "constraints.txt")}
    variables.pop("PYTHONPATH", None)
    command = [environment / "bin/python", *arguments]
    done = subprocess.run(
        command, cwd=environment, env=variables, check=True, stdout=subprocess.PIPE, text=True
    )
    return done.stdout


if __name__ == "__main__":
    main()
