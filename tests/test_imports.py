"""What spaCy pays for our entry points: it imports all factories for any pipeline."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

SCRIPT = """
import json, sys, time
from importlib.metadata import entry_points
import catalogue
groups = catalogue.AVAILABLE_ENTRY_POINTS
others = {
    group: tuple(e for e in groups.select(group=group) if e.value.startswith(("spacy.", "thinc.")))
    for group in groups.groups
}
catalogue.AVAILABLE_ENTRY_POINTS = others
import spacy
spacy.blank("en")
before = set(sys.modules)
factories = [e for e in entry_points(group="spacy_factories") if e.value.startswith("spacy_lal")]
seconds = []
# compiled once, as an installed package is
sys.dont_write_bytecode, sys.pycache_prefix = False, sys.argv[1]
for _ in range(3):  # where others work beside, the quickest says most
    for name in [name for name in sys.modules if name.startswith("spacy_lal")]:
        del sys.modules[name]
    begun = time.process_time()
    for factory in factories:
        factory.load()
    seconds.append(time.process_time() - begun)
new = {name.split(".")[0] for name in set(sys.modules) - before}
print(json.dumps([len(factories), min(seconds), sorted(new), "torch" in before]))
"""

HEAVY = {"transformers", "spacy_transformers", "ray", "pyarrow", "pandas", "fastapi", "uvicorn"}


def test_entry_points_cost_little(tmp_path: Path) -> None:
    """Beside spaCy's own imports, torch among them: 0.15 CPU seconds at most, nothing heavy."""
    command = [sys.executable, "-c", SCRIPT, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    factories, seconds, new, had_torch = json.loads(done.stdout.splitlines()[-1])
    assert factories >= 5
    assert had_torch
    assert not HEAVY & set(new), new
    assert seconds <= 0.15
