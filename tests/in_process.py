"""`python …` without a new process, which takes seconds to import spaCy and torch."""

from __future__ import annotations

import runpy
import sys
import traceback
from unittest.mock import patch


def python(arguments: list[str]) -> int:
    """Run `python SCRIPT …` or `python -m MODULE …` in this process. Returns the exit status."""
    module = arguments[1] if arguments[0] == "-m" else ""
    start = runpy.run_module if module else runpy.run_path
    with patch.object(sys, "argv", arguments[1:] if module else arguments):
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
