"""Cost of a pretrained encoder in this package and in spacy-transformers.

python benchmarks/encoder.py FOLDER CORPUS.spacy prints load time, memory, and words a second of
prediction for the transformer in FOLDER, each package in a process of its own with one thread.
Packages that are not installed are left out.
"""

import dataclasses
import importlib.util
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import measure
import spacy
import torch
from spacy.language import Language
from spacy.training import Example

WINDOW = 128
SENTENCES = 1_500


def ours(folder: str) -> Language:
    model = {"@architectures": "spacy-lal.PretrainedEncoder.v1", "path": folder, "window": WINDOW}
    nlp = spacy.blank("en")
    nlp.add_pipe("tok2vec", config={"model": model})
    nlp.initialize(lambda: [Example.from_dict(nlp.make_doc("a word"), {})])
    return nlp


def spacy_transformers(folder: str) -> Language:
    spans = {"@span_getters": "spacy-transformers.strided_spans.v1"}
    model = {
        "@architectures": "spacy-transformers.TransformerModel.v3",
        "name": folder,
        "tokenizer_config": {"use_fast": True},
        "get_spans": spans | {"window": WINDOW, "stride": WINDOW * 3 // 4},
    }
    nlp = spacy.blank("en")
    nlp.add_pipe("transformer", config={"model": model})
    nlp.initialize()
    return nlp


WAYS = {
    "spacy_lal": ours,
    "spacy_transformers": spacy_transformers,
}


def main(folder: str, corpus: str) -> None:
    for way, make in WAYS.items():
        if importlib.util.find_spec(way) is None:
            print(f"{way} is not installed")
            continue
        with tempfile.TemporaryDirectory() as scratch:
            make(folder).to_disk(scratch)
            # a separate process, as imports are cached
            subprocess.run([sys.executable, __file__, "--load", way, scratch, corpus], check=True)


def load(way: str, path: str, corpus: str) -> None:
    torch.set_num_threads(1)
    measure.hide_entry_points(*(name for name in WAYS if name not in ("spacy_lal", way)))
    start = time.process_time()
    nlp = spacy.load(path)
    seconds = time.process_time() - start
    print(f"{way}: spacy.load {seconds:.2f} s, {measure.peak_mb():.0f} MB; transformers", end=" ")
    print("imported" if "transformers" in sys.modules else "not imported", end="")
    gold = [example.reference for example in measure.read_examples(Path(corpus), nlp, SENTENCES)]
    docs = measure.bare(gold)
    (_, pipe), *_ = nlp.pipeline
    for precision in ("float32", "bfloat16") if way == "spacy_lal" else ("float32",):
        if way == "spacy_lal":
            settings = pipe.model.attrs["settings"]
            pipe.model.attrs["settings"] = dataclasses.replace(settings, prediction=precision)
        pipe.predict(docs[:50])
        start = time.process_time()
        for i in range(0, len(docs), 128):
            pipe.predict(docs[i : i + 128])
        speed = sum(map(len, docs)) / (time.process_time() - start)
        print(f"; {precision} {speed:.0f} words a second of processor time", end="")
    print(f"; at most {measure.peak_mb():.0f} MB", flush=True)


if __name__ == "__main__":
    load(*sys.argv[2:]) if sys.argv[1] == "--load" else main(*sys.argv[1:])
