"""`python …` without a new process, which takes seconds to import spaCy and torch."""

from __future__ import annotations

import runpy
import sys
import traceback
from pathlib import Path
from unittest.mock import patch


def python(arguments: list[str]) -> int:
    """Run `python SCRIPT …` or `python -m MODULE …` in this process. Returns the exit status."""
    module = arguments[1] if arguments[0] == "-m" else ""
    start = runpy.run_module if module else runpy.run_path
    # a script finds modules beside it
    path = sys.path if module else [str(Path(arguments[0]).resolve().parent), *sys.path]
    with (
        patch.object(sys, "argv", arguments[1:] if module else arguments),
        patch.object(sys, "path", path),
    ):
        try:
            start(module or arguments[0], run_name="__main__")
        except SystemExit as ended:
            if isinstance(ended.code, str):
                print(ended.code, file=sys.stderr)
                return 1
            return ended.code or 0
        except Exception:
            traceback.print_exc()
            return 1
    return 0
