"""The BiLSTM against PyTorch's own, a sentence at a time."""

import pytest
import torch
from torch import nn

from spacy_lal.layers.bilstm import BiLSTM

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
