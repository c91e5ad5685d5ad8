"""Heads of supar's biaffine parser (Dozat and Manning 2017), trained for a given time.

    python benchmarks/supar_ud.py --train train.conllu --dev dev.conllu --test test.conllu
        --minutes 5 [--batch-words 1200] [--seed 1] [--json FILE]

It runs in the environment of supar_speed.py, whose docstring says how that is made. Data are
CoNLL-U files, words are gold. Beside it is `ud.py`, which trains `lal_dependency` for as long.

Training stops after the first epoch at whose end `--minutes` of processor time were spent on
training steps; scoring the development set costs nothing of them. The weights that were best there
read the test set. The parser reads words and characters, no tags, in supar's default size, with its
published optimizer and decaying rate; it decodes to the best tree. As in CoNLL 2018's scores, all
words count, and relations without their subtypes.
"""

from __future__ import annotations

import copy
import time
from typing import Any

from measure import headline, machine, parsed, write
from supar import BiaffineDependencyParser
from supar.utils import Dataset
from supar_speed import ADAM, CLIP, DECAY, TRAIN_BUCKETS, prepare, training_options
from torch.optim import Adam
from torch.optim.lr_scheduler import ExponentialLR


def scores(parser: BiaffineDependencyParser, data: Dataset) -> dict[str, float]:
    """UAS and LAS in percent."""
    gold = [(s.arcs, s.rels) for batch in data.loader for s in batch.sentences]
    found = parser._predict(data.loader)
    words = heads = both = 0
    for (arcs, rels), own_arcs, own_rels in zip(gold, found["arcs"], found["rels"], strict=True):
        for arc, rel, own, label in zip(arcs, rels, own_arcs, own_rels, strict=True):
            words += 1
            heads += int(arc) == own
            both += int(arc) == own and rel.split(":")[0] == label.split(":")[0]
    return {"uas": 100 * heads / words, "las": 100 * both / words}


def main() -> None:
    parser = training_options(__doc__, "a CoNLL-U file")
    arguments = parsed(parser)
    prepare(arguments.seed)

    supar = BiaffineDependencyParser.build(
        path="", build=True, train=str(arguments.train), encoder="lstm", feat=["char"], embed=None
    )
    settings = {"update_steps": 1, "clip": CLIP, "partial": False, "punct": True, "prob": False}
    supar.args.update(settings | {"tree": True, "proj": False})
    supar.transform.train()
    files = (arguments.train, arguments.dev, arguments.test)
    train, dev, test = (Dataset(supar.transform, str(path)) for path in files)
    train.build(arguments.batch_words, TRAIN_BUCKETS, True)
    for data in (dev, test):
        data.build(5000, 8)
    supar.optimizer = Adam(supar.model.parameters(), **ADAM)
    supar.scheduler = ExponentialLR(supar.optimizer, DECAY)

    report: dict[str, Any] = {**machine(arguments, "supar", "torch", "nltk", "numpy", "dill")}
    report["epochs"] = []
    print(headline(report))
    spent, best, weights = 0.0, -1.0, {}
    while spent < 60 * arguments.minutes:
        begun = time.process_time()
        supar._train(train.loader)
        spent += time.process_time() - begun
        of_dev = scores(supar, dev)
        report["epochs"].append({"cpu_seconds": spent, "dev_las": of_dev["las"]})
        print(f"epoch {len(report['epochs'])}  {spent:7.0f} s  {of_dev['las']:.2f}", flush=True)
        if of_dev["las"] > best:
            best, weights = of_dev["las"], copy.deepcopy(supar.model.state_dict())
    supar.model.load_state_dict(weights)
    report |= {"training_cpu_seconds": spent, **scores(supar, test)}
    print(f"test: LAS {report['las']:.2f}, UAS {report['uas']:.2f}")
    write(arguments.json, report)


if __name__ == "__main__":
    main()
