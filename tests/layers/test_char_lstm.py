import pytest
import torch
from torch import nn

from spacy_lal.layers import bilstm
from spacy_lal.layers.bilstm import CharLSTM


def words(lengths, n_characters=11):
    padded = torch.randint(n_characters, (len(lengths), max(lengths)))
    return padded, torch.tensor(lengths)


def literal(module, characters):
    """One word: a forward LSTM, a second one over the word reversed, their last states."""
    last = []
    for lstm, ids in (
        (module.lstm.ahead[0], characters),
        (module.lstm.back[0], characters.flip(0)),
    ):
        plain = nn.LSTM(lstm.input_size, lstm.hidden_size)
        plain.load_state_dict(lstm.state_dict())
        _, (h, _) = plain(module.embedding(ids).unsqueeze(1))
        last.append(h[0, 0])
    return torch.cat(last)


@pytest.mark.parametrize("at_once", [1, 2, 256])
@pytest.mark.parametrize("lengths", [[1], [3, 1, 7, 2, 3], [5, 5]])
def test_word_by_word(lengths, at_once, monkeypatch):
    monkeypatch.setattr(bilstm, "WORDS_AT_ONCE", at_once)
    module = CharLSTM(11, 4, 3)
    characters, lengths = words(lengths)
    found = module(characters, lengths)
    expected = [literal(module, c[:n]) for c, n in zip(characters, lengths, strict=True)]
    torch.testing.assert_close(found, torch.stack(expected))


def test_a_long_word_is_read_almost_alone(monkeypatch):
    """Padding never takes more than the limit, but for what one word needs itself."""
    read = []
    module = CharLSTM(11, 4, 3)
    inner = module.lstm.forward
    monkeypatch.setattr(module.lstm, "forward", lambda x, n: read.append(x.shape) or inner(x, n))
    characters, lengths = words([*[8] * 300, 9000])
    module(characters, lengths)
    assert [tuple(shape[:2]) for shape in read] == [(256, 8), (44, 8), (1, 9000)]


def test_padding_does_not_matter():
    module = CharLSTM(11, 4, 3)
    characters, lengths = words([2, 6, 1])
    found = module(characters, lengths)
    other = torch.randint(11, (3, 9))
    inside = torch.arange(9) < lengths.unsqueeze(1)
    other[inside] = characters[inside[:, :6]]
    torch.testing.assert_close(module(other, lengths), found, rtol=0, atol=0)
    torch.testing.assert_close(module(characters[2:, :1], lengths[2:]), found[2:])


def test_a_direction_begins_at_each_end():
    """The first character's change reaches both halves, whatever the length."""
    module = CharLSTM(11, 4, 3)
    for k in (0, 5):
        characters = torch.ones(1, 6, dtype=torch.long)
        before = module(characters, torch.tensor([6]))
        characters[0, k] = 2
        assert (module(characters, torch.tensor([6])) != before).all()


def test_gradients_reach_every_parameter():
    module = CharLSTM(11, 4, 3)
    module(*words([3, 5, 1])).sum().backward()
    assert all(p.grad is not None and p.grad.abs().sum() > 0 for p in module.parameters())


def test_no_words():
    characters = torch.zeros(0, 1, dtype=torch.long)
    assert CharLSTM(11, 4, 3)(characters, characters[:, 0]).shape == (0, 6)
