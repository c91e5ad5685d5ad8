"""Run a command with its output in a log file, and show on one line that it is still at work.

`python progress.py LABEL LOG COMMAND …`
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from pathlib import Path

TAIL = 30
"""Lines of the log that are shown if the command fails."""


def last_line(log: Path) -> str:
    """The log's last line that isn't blank."""
    with log.open("rb") as file:
        file.seek(max(0, file.seek(0, 2) - 2000))
        lines = file.read().decode("utf8", "replace").split("\n")
    return next((line.strip() for line in reversed(lines) if line.strip()), "")


def run(label: str, log: Path, command: list[str]) -> int:
    """Run the command to its end. Returns its exit status."""
    terminal = sys.stdout.isatty()
    pause = 0.5 if terminal else 15.0
    start = time.monotonic()
    if not terminal:
        print(f"{label} …", flush=True)
    with log.open("wb") as file, subprocess.Popen(command, stdout=file, stderr=file) as process:
        while True:
            try:
                status = process.wait(pause)
                break
            except subprocess.TimeoutExpired:
                line = f"{label} … {time.monotonic() - start:.0f} s  {last_line(log)}"
                if terminal:
                    line = "\r\x1b[K" + line[: shutil.get_terminal_size().columns - 1]
                print(line, end="" if terminal else "\n", flush=True)
            except KeyboardInterrupt:
                process.terminate()
                raise
    print("\r\x1b[K" if terminal else "", end="")
    if status:
        lines = log.read_text("utf8", "replace").splitlines()[-TAIL:]
        print("\n".join(lines), file=sys.stderr)
        print(f"{label} failed. All of what it said is in {log}", file=sys.stderr)
    else:
        print(f"{label}: done in {time.monotonic() - start:.0f} s", flush=True)
    return status


if __name__ == "__main__":
    try:
        sys.exit(run(sys.argv[1], Path(sys.argv[2]), sys.argv[3:]))
    except KeyboardInterrupt:
        sys.exit(130)
