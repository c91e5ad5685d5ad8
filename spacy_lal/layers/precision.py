"""Products of bfloat16 numbers, where the processor has instructions for them."""

from functools import cache
from typing import Literal

import torch

Precision = Literal["float32", "bfloat16", "int8"]
"""Products of a network in prediction."""


def bfloat16_products(device_type: str, wanted: bool) -> torch.autocast:
    """Returns a context with bfloat16 products if they are wanted and the device has instructions.

    device_type: "cpu", "cuda": `torch.device.type`. Without instructions for bfloat16, products
    take twice as long, and PyTorch's LSTM fails.
    """
    return torch.autocast(device_type, torch.bfloat16, enabled=wanted and has_bfloat16(device_type))


@cache
def has_bfloat16(device_type: str) -> bool:
    """Whether a device multiplies bfloat16 numbers itself, as all GPUs are assumed to."""
    if device_type != "cpu":
        return True
    native = True
    if torch.backends.cpu.get_cpu_capability().startswith("AVX"):
        # with AVX512 alone, oneDNN emulates the instructions slowly
        native = getattr(torch.cpu, "_is_avx512_bf16_supported", lambda: True)()
    onednn = torch.backends.mkldnn.is_available() and torch.ops.mkldnn._is_mkldnn_bf16_supported()
    return bool(native and onednn)
