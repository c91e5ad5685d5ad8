"""Outputs of the frozen layers of a transformer, kept in a folder for the next training epoch."""

import zlib
from collections.abc import Sequence
from hashlib import blake2b
from pathlib import Path
from uuid import uuid4

import numpy
import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from ..layers.bert import Bert
from ..layers.prepared import awake
from .word_pieces import PieceBatch

RECORD = numpy.dtype([("key", "S32"), ("at", "<i8")])
"""A window in an index: hash of its pieces in hexadecimal digits, and its first byte."""


class KeptStates:
    """Outputs of the embeddings and of the lowest layers of a `Bert`, which no training changes.

    folder: has pairs of files, named after the layers' parameters: the outputs of windows in
        bfloat16, and an index. A process adds to files of its own, and reads those that it finds
        when it begins.
    outputs: numbers of the wanted outputs in ascending order; 0 is that of the embeddings.
    """

    def __init__(self, folder: str | Path, transformer: Bert, outputs: Sequence[int]) -> None:
        self.outputs = list(outputs)
        self.folder = Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        name = f"{_checksum(transformer):08x}-{'-'.join(map(str, outputs))}"
        self._at: dict[bytes, tuple[Path, int]] = {}
        for path in self.folder.glob(f"{name}.*.index"):
            # the last record of a process that was killed may be incomplete
            records = numpy.fromfile(path, RECORD, path.stat().st_size // RECORD.itemsize)
            self._at |= {key: (path.with_suffix(".states"), at) for key, at in records.tolist()}
        self._own = self.folder / f"{name}.{uuid4().hex}.states"

    @torch.no_grad()
    def __call__(self, transformer: Bert, batch: PieceBatch) -> list[Tensor]:
        """Returns the outputs [B, l, d] up to the highest one wanted; others are copies of it.

        Outputs that aren't in the folder yet are computed, without dropout.
        """
        sizes = batch.mask.sum(1).tolist()
        pairs = torch.stack([batch.pieces, batch.types], -1).cpu().numpy()
        keys = [
            blake2b(of_window[:size].tobytes(), digest_size=16).hexdigest().encode()
            for of_window, size in zip(pairs, sizes, strict=True)
        ]
        if new := {key: row for row, key in enumerate(keys) if key not in self._at}:
            self._add(transformer, batch, new, sizes)
        width = len(self.outputs), transformer.width
        found = pad_sequence(
            [self._read(key, size, width) for key, size in zip(keys, sizes, strict=True)], True
        )
        padding = batch.pieces.shape[1] - found.shape[1]
        found = torch.nn.functional.pad(found, (0, 0, 0, 0, 0, padding))
        layers = found.to(batch.pieces.device, torch.float32).unbind(2)
        by_number = dict(zip(self.outputs, layers, strict=True))
        return [by_number.get(k, layers[-1]) for k in range(self.outputs[-1] + 1)]

    def _add(
        self, transformer: Bert, batch: PieceBatch, new: dict[bytes, int], sizes: list[int]
    ) -> None:
        training = transformer.training
        rows = list(new.values())
        windows = batch.pieces[rows], batch.types[rows], batch.mask[rows]
        try:
            hidden = transformer.eval()(*windows, upto=self.outputs[-1])
        finally:
            transformer.train(training)
        wanted = torch.stack([hidden[k] for k in self.outputs], 2).to("cpu", torch.bfloat16)
        with self._own.open("ab") as states, self._own.with_suffix(".index").open("ab") as index:
            for (key, row), of_window in zip(new.items(), wanted, strict=True):
                at = states.tell()
                states.write(
                    of_window[: sizes[row]].contiguous().view(torch.uint8).numpy().tobytes()
                )
                index.write(numpy.array([(key, at)], RECORD).tobytes())
                self._at[key] = self._own, at

    def _read(self, key: bytes, size: int, width: tuple[int, int]) -> Tensor:
        path, at = self._at[key]
        count = size * width[0] * width[1]
        numbers = numpy.fromfile(path, "<i2", count, offset=at)
        return torch.from_numpy(numbers).view(torch.bfloat16).view(size, *width)


def _checksum(transformer: Bert) -> int:
    """Returns a checksum of the frozen parameters."""
    checksum = 0
    for _, parameter in sorted(awake(transformer).named_parameters()):
        if not parameter.requires_grad:
            values = parameter.detach().cpu().contiguous().view(-1).view(torch.uint8)
            checksum = zlib.crc32(values.numpy().tobytes(), checksum)
    return checksum
