"""A small pipeline in a folder, and what its files may become."""

from __future__ import annotations

import random
import shutil
from functools import cache
from pathlib import Path

import numpy
import spacy
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

from spacy_lal.pipeline.pipes import load_pipeline
from tests.pipeline.contract import CASES
from tests.pipeline.toy import headed_doc
from tests.pipeline.toy_errors import agreement_examples
from tests.pipeline.toy_frames import frames_examples

from .damage import damaged

FACTORIES = {CASES[name].factory: CASES[name].config for name in ("joint", "lisa", "detector")}


@cache
def pipeline() -> Language:
    """Trees with heads, roles and errors; initialised, not trained."""
    nlp = spacy.blank("en")
    for factory, config in FACTORIES.items():
        nlp.add_pipe(factory, config=config)
    docs = [headed_doc(nlp, k) for k in range(3)]
    trees = [Example(Doc(nlp.vocab, words=[t.text for t in doc]), doc) for doc in docs]
    examples = [*trees, *frames_examples(nlp), *agreement_examples(nlp, 20)]
    nlp.initialize(lambda: examples)
    nlp.vocab.set_vector("cat", numpy.ones(2, dtype="f"))
    return nlp


def save(folder: Path) -> list[str]:
    """Write the pipeline to `folder/sound`; returns the names of its files."""
    sound = folder / "sound"
    pipeline().to_disk(sound)
    return sorted(str(path.relative_to(sound)) for path in sound.rglob("*") if path.is_file())


def fuzz(folder: Path, name: str, rng: random.Random) -> str:
    """Load it with this file damaged, see `attempt`."""
    data = (folder / "sound" / name).read_bytes()
    return attempt(folder, name, damaged(data, rng))


def attempt(folder: Path, name: str, data: bytes | None) -> str:
    """Load the pipeline with other contents of one file, None for none.

    Returns what is said, in one line that names the folder, "" if it loads.
    """
    broken = folder / "broken"
    if not broken.exists():
        shutil.copytree(folder / "sound", broken)
    path = broken / name
    if data is None:
        path.unlink()
    else:
        path.write_bytes(data)
    try:
        load_pipeline(broken)
        return ""
    except (ValueError, OSError, ImportError) as error:
        said = str(error)
        assert "\n" not in said, said
        assert str(broken) in said, said
        return said
    except BaseException as error:
        error.add_note(f"{name}: {None if data is None else data[:2000]!r}")
        raise
    finally:
        shutil.copyfile(folder / "sound" / name, path)
