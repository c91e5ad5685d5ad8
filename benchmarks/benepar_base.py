"""A release of benepar's as large as BERT-base, with random weights: for its speed alone.

    python benchmarks/benepar_base.py RELEASE OUT

RELEASE is a folder of benepar's whose encoder is a BERT: its tokenizer, tags, labels and sizes are
taken. The environment is that of `benepar_speed.py`.
"""

from __future__ import annotations

import sys
from pathlib import Path

import torch
import transformers
from benepar import nkutil
from benepar.parse_chart import ChartParser


def main(release: Path, output: Path) -> None:
    tokenizer = transformers.AutoTokenizer.from_pretrained(release)
    tokenizer.save_pretrained(output)
    config = transformers.BertConfig(vocab_size=len(tokenizer))
    taken = transformers.AutoConfig.from_pretrained(release).benepar
    config.save_pretrained(output)
    torch.manual_seed(1)
    taken["hparams"] = nkutil.HParams(**taken["hparams"])
    parser = ChartParser(**taken, pretrained_model_path=str(output))
    # or all spans of a sentence would score the same
    for name, parameter in parser.named_parameters():
        if name.startswith("f_label."):
            parameter.data += 0.1 * torch.randn_like(parameter)
    parser.f_label[3].bias.data -= 0.5
    config.benepar = parser.config
    config.save_pretrained(output)
    torch.save(parser.state_dict(), output / "benepar_model.bin")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
