"""Trees of supar's CRF constituency parser (Zhang et al. 2020), trained for a given time.

    python benchmarks/supar_accuracy.py --train train.pid --dev dev.pid --test test.pid
        --predicted supar.pid --minutes 30 [--batch-words 1200] [--seed 1] [--json FILE]

It runs in the environment of supar_speed.py, whose docstring says how that is made. Data are
bracketed trees, one a line, under a root of their own, with one child each.

Training stops after the first epoch at whose end `--minutes` of processor time were spent on
training steps; scoring the development set costs nothing of them. The weights that were best there
parse the test set. The parser reads words and characters, no tags, in supar's default size, with
its published optimizer and decaying rate. `lal score trees` scores the file of predicted trees with
any parameters.
"""

from __future__ import annotations

import copy
import time
from pathlib import Path

from measure import headline, machine, parsed, write
from supar.utils import Dataset
from supar_speed import (
    ADAM,
    DECAY,
    SIZES,
    TRAIN_BUCKETS,
    assemble,
    build,
    prepare,
    training_options,
)
from torch.optim import Adam
from torch.optim.lr_scheduler import ExponentialLR


def main() -> None:
    parser = training_options(__doc__, "trees, one a line")
    parser.add_argument("--predicted", type=Path, required=True, help="file of trees to write")
    arguments = parsed(parser)
    prepare(arguments.seed)

    size = SIZES["default"]
    supar = assemble(size, build(arguments.train, size)["parts"])
    # what its metric leaves out is every treebank's own; a root is in none's score
    supar.args.update({"delete": {"TOP", ""}, "equal": {}})
    supar.transform.train()
    train, dev = (Dataset(supar.transform, str(path)) for path in (arguments.train, arguments.dev))
    train.build(arguments.batch_words, TRAIN_BUCKETS, True)
    dev.build(5000, 8)
    supar.optimizer = Adam(supar.model.parameters(), **ADAM)
    supar.scheduler = ExponentialLR(supar.optimizer, DECAY)

    report = {**machine(arguments, "supar", "torch", "nltk", "numpy", "dill"), "epochs": []}
    print(headline(report))
    spent, best, weights = 0.0, -1.0, {}
    while spent < 60 * arguments.minutes:
        begun = time.process_time()
        supar._train(train.loader)
        spent += time.process_time() - begun
        _, metric = supar._evaluate(dev.loader)
        report["epochs"].append({"cpu_seconds": spent, "dev_labelled_f1": 100 * metric.lf})
        print(f"epoch {len(report['epochs'])}  {spent:7.0f} s  {100 * metric.lf:.2f}", flush=True)
        if metric.lf > best:
            best, weights = metric.lf, copy.deepcopy(supar.model.state_dict())
    supar.model.load_state_dict(weights)
    # other options come from files of supar's own
    supar.predict(str(arguments.test), pred=str(arguments.predicted), verbose=False)
    report |= {"training_cpu_seconds": spent, "best_dev_labelled_f1": 100 * best}
    write(arguments.json, report)


if __name__ == "__main__":
    main()
