"""What a pretrained encoder costs: loading it, its memory, and words a second of prediction.

python benchmarks/encoder.py FOLDER CORPUS.spacy, the folder of a transformer, one thread.
"""

import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import catalogue
import spacy
import torch
from spacy.tokens import Doc, DocBin
from spacy.training import Example


def main(folder: str, corpus: str) -> None:
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as scratch:
        model = {"@architectures": "spacy-lal.PretrainedEncoder.v1", "path": folder}
        nlp = spacy.blank("en")
        nlp.add_pipe("tok2vec", config={"model": model})
        nlp.initialize(lambda: [Example.from_dict(nlp.make_doc("a word"), {})])
        nlp.to_disk(scratch)
        # in a process of its own, for what is imported is imported once
        subprocess.run([sys.executable, __file__, "--load", scratch], check=True)
    gold = DocBin().from_disk(Path(corpus)).get_docs(nlp.vocab)
    docs = [Doc(nlp.vocab, words=[token.text for token in doc]) for doc in gold][:1000]
    encoder = nlp.get_pipe("tok2vec").model
    for precision in ("float32", "bfloat16"):
        encoder.attrs["prediction"] = precision
        encoder.predict(docs[:50])
        start = time.process_time()
        encoder.predict(docs)
        speed = sum(map(len, docs)) / (time.process_time() - start)
        print(f"{precision}: {speed:.0f} words a second of processor time")


def load(path: str) -> None:
    # as where spacy-transformers isn't installed, which spaCy imports with every pipeline
    found = catalogue.AVAILABLE_ENTRY_POINTS
    catalogue.AVAILABLE_ENTRY_POINTS = {
        group: tuple(e for e in found.select(group=group) if "transformers" not in e.value)
        for group in found.groups
    }
    start = time.process_time()
    spacy.load(path)
    seconds = time.process_time() - start
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"spacy.load: {seconds:.2f} s, {memory:.0f} MB; transformers", end=" ")
    print("imported" if "transformers" in sys.modules else "not imported")


if __name__ == "__main__":
    load(sys.argv[2]) if sys.argv[1] == "--load" else main(*sys.argv[1:])
