"""`kill -9` at random moments of `lal annotate`: what goes on makes the same files, byte for byte.

python benchmarks/annotate_kills.py MODEL INPUT [--kills 20] [--n-process 2] [--engine processes]

One run is left alone. Others are killed, at moments that are drawn from as long as that took, and
begun again in the same folder, until one comes to its end; then comes the next folder. After every
kill, files that are there are compared; after every end, the whole folder. Workers are not killed:
they must end by themselves.
"""

from __future__ import annotations

import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import typer


def main(
    model: str,
    texts: Path,
    kills: int = 20,
    n_process: int = 2,
    engine: str = "processes",
    shard_chars: int = 2_000,
    seed: int = 0,
) -> None:
    command = [sys.executable, "-m", "spacy", "lal", "annotate", model, str(texts)]
    options = ["--n-process", str(n_process), "--engine", engine, "--threads", "1"]
    options += ["--shard-chars", str(shard_chars)]
    draw = random.Random(seed)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        begun = time.perf_counter()
        subprocess.run([*command, str(folder / "whole"), *options], check=True, capture_output=True)
        seconds = time.perf_counter() - begun
        whole = files(folder / "whole")
        print(f"{len(whole)} files in {seconds:.1f} s", flush=True)
        killed = ended = there = 0
        while killed < kills or (folder / str(ended)).exists():
            output = folder / str(ended)
            process = subprocess.Popen(
                [*command, str(output), *options],
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            try:
                # at the end of all kills a run is left alone
                moment = draw.uniform(0, seconds) if killed < kills else None
                process.wait(moment)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                killed += 1
                parts = {n: b for n, b in files(output).items() if n.startswith("part-")}
                there += len(parts)
                assert parts == {name: whole[name] for name in parts}, output
                print(f"{killed} kills, {len(parts)} files there", flush=True)
                continue
            assert process.returncode == 0, f"exit status {process.returncode}"
            assert files(output) == whole, output
            ended += 1
            print(f"{killed} kills, {there} files then, {ended} ends, the same", flush=True)


def files(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.name.endswith(".unfinished")
    }


if __name__ == "__main__":
    typer.run(main)
