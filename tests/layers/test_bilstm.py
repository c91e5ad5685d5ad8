"""The BiLSTM against PyTorch's own, a sentence at a time."""

import pytest
import torch
from torch import nn

from spacy_lal.layers import precision
from spacy_lal.layers.bilstm import BiLSTM, steps_of
from spacy_lal.layers.prepared import prepare

LENGTHS = [5, 1, 3]


def torchs_own(bilstm: BiLSTM) -> nn.LSTM:
    lstm = nn.LSTM(4, 3, len(bilstm.ahead), batch_first=True, bidirectional=True)
    for layer, directions in enumerate(zip(bilstm.ahead, bilstm.back, strict=True)):
        for direction, suffix in zip(directions, ("", "_reverse"), strict=True):
            for name, value in direction.named_parameters():
                getattr(lstm, f"{name[:-1]}{layer}{suffix}").data = value.data.clone()
    return lstm


@pytest.mark.parametrize("depth", [1, 2])
def test_padding_changes_nothing(depth):
    bilstm = BiLSTM(4, 3, depth).double().eval()
    x = torch.randn(3, 5, 4, dtype=torch.float64)
    found = bilstm(x, torch.tensor(LENGTHS))
    expected = torchs_own(bilstm).double()
    for row, n in enumerate(LENGTHS):
        assert torch.allclose(found[row, :n], expected(x[row : row + 1, :n])[0][0], atol=1e-12)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16])
def test_precision_is_the_inputs(dtype):
    bilstm = BiLSTM(4, 3, 2).to(dtype)
    x = torch.randn(3, 5, 4, dtype=dtype)
    states = bilstm.states(x, torch.tensor(LENGTHS))
    assert [state.dtype for state in states] == [dtype] * 2


def in_training(mixed_precision: bool) -> torch.Tensor:
    torch.manual_seed(1)
    bilstm = BiLSTM(64, 64, 1, mixed_precision=mixed_precision).train()
    return bilstm(torch.randn(3, 5, 64), torch.tensor(LENGTHS))


def test_a_processor_without_bfloat16_trains_in_float32(monkeypatch):
    monkeypatch.setattr(precision, "has_bfloat16", lambda device_type: False)
    assert torch.equal(in_training(True), in_training(False))


@pytest.mark.skipif(not precision.has_bfloat16("cpu"), reason="no instructions for bfloat16")
def test_mixed_precision_trains_with_rounded_products():
    difference = (in_training(True) - in_training(False)).abs().max()
    assert 1e-4 < difference < 0.1


@pytest.mark.parametrize(
    ("capability", "avx512_bf16", "onednn", "expected"),
    [
        ("AVX512", True, True, True),
        ("AVX512", False, True, False),
        ("AVX2", False, False, False),
        ("DEFAULT", False, True, True),  # ARM
        ("DEFAULT", False, False, False),
    ],
)
def test_which_processors_have_bfloat16(monkeypatch, capability, avx512_bf16, onednn, expected):
    monkeypatch.setattr(torch.backends.mkldnn, "is_available", lambda: True)
    monkeypatch.setattr(torch.backends.cpu, "get_cpu_capability", lambda: capability)
    monkeypatch.setattr(torch.cpu, "_is_avx512_bf16_supported", lambda: avx512_bf16, raising=False)
    monkeypatch.setattr(torch.ops.mkldnn, "_is_mkldnn_bf16_supported", lambda: onednn)
    assert precision.has_bfloat16.__wrapped__("cpu") == expected


def test_steps_read_every_word_from_both_ends() -> None:
    """Three sequences of 2, 3 and 1 words, one after the other: a b, c d e, f."""
    steps = steps_of(torch.tensor([0, 2, 5]), torch.tensor([2, 3, 1]))
    assert steps.ahead.tolist() == [2, 0, 5, 3, 1, 4]
    assert steps.back.tolist() == [4, 1, 5, 3, 0, 2]
    assert steps.sizes == [3, 2, 1]


def test_words_without_padding_have_the_states_of_padded_ones() -> None:
    torch.manual_seed(0)
    bilstm, lengths = BiLSTM(6, 4, 2), torch.tensor([3, 5, 1, 5])
    prepare(bilstm, "int8")
    x = torch.randn(4, 5, 6)
    first = lengths.cumsum(0) - lengths
    with torch.no_grad():
        padded = bilstm(x, lengths)
        words = torch.cat([row[:n] for row, n in zip(x, lengths.tolist(), strict=True)])
        found = bilstm.read(words, steps_of(first, lengths))
    expected = [row[:n] for row, n in zip(padded, lengths.tolist(), strict=True)]
    assert torch.equal(found, torch.cat(expected))
