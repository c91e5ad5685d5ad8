import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_lal.layers.dropout import set_dropout
from spacy_lal.layers.input_encoders import (
    BiLSTMInput,
    BranchInput,
    with_positions,
    with_start_and_stop,
)

BILSTM = {"hidden_width": 3, "depth": 2, "tag_depth": 1, "tag_width": 2}
CONTENTS = pytest.mark.parametrize("content", ["tag", "word"])
BILSTMS = pytest.mark.parametrize("bilstm", [None, BILSTM], ids=["vectors", "bilstm"])


def make(d_in=5, n_tags=4, **options):
    given = {"width": 7, "max_length": 12, **options}
    if given.get("bilstm"):
        given["bilstm"] = BiLSTMInput(**given["bilstm"])
    return BranchInput(**given).build(d_in, n_tags)


def make_bilstm(n_tags=1, **options):
    return BiLSTMInput(**{**BILSTM, **options}).build(5, n_tags)


def words(batch, n, d=5):
    return torch.randn(batch, n, d)


def literal(rows, x):
    """One sentence [n, d_in] row by row: (what goes around, the other branch, tag scores)."""
    n = len(x)
    if rows.bilstm is None:
        tags = x @ rows.tag_scores.weight.T + rows.tag_scores.bias
        around = [rows.around_start, *x, rows.around_stop]
    else:
        (around,), (tags,) = rows.bilstm(x.unsqueeze(0), torch.tensor([n]))
    inner = [rows.start]
    for k in range(n):
        read = tags[k].exp() / tags[k].exp().sum() if rows.reads_tags else around[k + 1]
        inner.append(rows.content.weight @ read)
    inner.append(rows.stop)
    own = []
    for content, position in zip(inner, rows.positions, strict=False):
        row = torch.cat([content, position])
        centred = row - row.mean()
        deviation = (centred.square().sum() / (len(row) - 1)).sqrt()
        own.append(centred / (deviation + 1e-3) * rows.layer_norm.a_2 + rows.layer_norm.b_2)
    return torch.stack(list(around)), torch.stack(own), tags


@BILSTMS
@CONTENTS
@pytest.mark.parametrize("d_model", [6, 7])
def test_branches_row_by_row(content, bilstm, d_model):
    rows = make(content=content, bilstm=bilstm, width=d_model).requires_grad_(False)
    torch.nn.init.normal_(rows.layer_norm.a_2)
    d_around = 5 if bilstm is None else 6
    assert rows.d_around == d_around
    assert rows.output_dim == d_around + d_model
    x, lengths = words(3, 4), [2, 4, 1]
    found, tags = rows(x, torch.tensor(lengths))
    assert found.shape == (3, 6, d_around + d_model)
    assert tags.shape == (3, 4, 4)
    for b, n in enumerate(lengths):
        around, own, of_words = literal(rows, x[b, :n])
        actual = found[b, : n + 2]
        torch.testing.assert_close(actual[:, :d_around], around, rtol=0, atol=1e-5)
        torch.testing.assert_close(actual[:, d_around:], own, rtol=0, atol=1e-5)
        torch.testing.assert_close(tags[b, :n], of_words, rtol=0, atol=1e-5)


def test_vectors_go_around_as_they_are():
    rows, x = make(), words(1, 3)
    found, _ = rows(x, torch.tensor([3]))
    assert torch.equal(found[0, 1:4, :5], x[0])


@BILSTMS
@CONTENTS
@given(lengths=st.lists(st.integers(1, 7), min_size=1, max_size=4), more_padding=st.integers(0, 3))
@settings(deadline=None, max_examples=20)
def test_rows_do_not_depend_on_the_batch(content, bilstm, lengths, more_padding):
    rows = make(content=content, bilstm=bilstm)
    # what stands behind a sentence is large, so that it would be noticed
    x = 100 * words(len(lengths), max(lengths) + more_padding)
    for b, n in enumerate(lengths):
        x[b, :n] /= 100
    found, tags = rows(x, torch.tensor(lengths))
    for b, n in enumerate(lengths):
        alone, own_tags = rows(x[b : b + 1, :n], torch.tensor([n]))
        torch.testing.assert_close(found[b, : n + 2], alone[0], rtol=0, atol=1e-5)
        torch.testing.assert_close(tags[b, :n], own_tags[0], rtol=0, atol=1e-5)


@BILSTMS
@CONTENTS
def test_every_parameter_learns(content, bilstm):
    rows = make(content=content, bilstm=bilstm)
    found, tags = rows(words(2, 4), torch.tensor([4, 2]))
    (found * torch.randn_like(found)).sum().backward(retain_graph=True)
    (tags * torch.randn_like(tags)).sum().backward()
    for name, parameter in rows.named_parameters():
        assert parameter.grad is not None, name
        assert bool(parameter.grad.any()), name


@CONTENTS
def test_only_the_content_tag_is_read_from_tags(content):
    rows = make(content=content)
    found, _ = rows(words(1, 3), torch.tensor([3]))
    (found * torch.randn_like(found)).sum().backward()
    of_tags = rows.tag_scores.weight.grad
    assert (of_tags is not None and bool(of_tags.any())) == (content == "tag")


@BILSTMS
def test_a_sentence_longer_than_the_positions_is_refused(bilstm):
    rows = make(max_length=3, bilstm=bilstm)
    rows(words(1, 3), torch.tensor([3]))
    with pytest.raises(ValueError, match="a sentence of 4 words, but the model has 3 positions"):
        rows(words(1, 4), torch.tensor([4]))


def test_what_content_is_read_from_is_checked():
    with pytest.raises(ValueError, match=r"content must be one of \('tag', 'word'\), not 'tags'"):
        make(content="tags")


@BILSTMS
def test_the_rate_of_dropout(bilstm):
    rows = make(bilstm=bilstm)
    x, lengths = words(2, 4), torch.tensor([4, 4])
    expected, _ = rows(x, lengths)
    set_dropout(rows, 0.5)
    if rows.bilstm is not None:
        assert rows.bilstm.dropout.rate == rows.bilstm.upper.dropout.rate == 0.5
    found, _ = rows(x, lengths)
    # the same features of all words of a sentence go around, and START and STOP stay
    kept = found[:, 1:-1, : rows.d_around] != 0
    assert torch.equal(kept, kept[:, :1].expand_as(kept))
    assert not bool(kept.all())
    assert torch.equal(found[:, 0, : rows.d_around], expected[:, 0, : rows.d_around])
    torch.testing.assert_close(rows.eval()(x, lengths)[0], expected, rtol=0, atol=0)


def test_without_tags_it_is_a_plain_bilstm():
    """Against torch's own, one sentence at a time."""
    rows = make_bilstm(depth=3, tag_depth=0).requires_grad_(False)
    theirs = torch.nn.LSTM(5, 3, num_layers=3, bidirectional=True, batch_first=True)
    assert {name.partition(".")[0] for name, _ in rows.named_parameters()} == {
        "lower",
        "start",
        "stop",
    }
    with torch.no_grad():
        for layer in range(3):
            for mine, suffix in ((rows.lower.ahead, ""), (rows.lower.back, "_reverse")):
                for name, value in mine[layer].named_parameters():
                    torch.nn.init.normal_(value)
                    getattr(theirs, name.replace("l0", f"l{layer}") + suffix).copy_(value)
    x, lengths = words(3, 4), [2, 4, 1]
    found, tags = rows(x, torch.tensor(lengths))
    assert tags is None
    for b, n in enumerate(lengths):
        expected, _ = theirs(x[b : b + 1, :n])
        expected = torch.cat([rows.start.expand(1, -1), expected[0], rows.stop.expand(1, -1)])
        torch.testing.assert_close(found[b, : n + 2], expected, rtol=0, atol=1e-5)
    set_dropout(rows, 0.5)
    assert rows.dropout.rate == rows.lower.dropout.rate == 0.5


def test_without_any_layer_rows_are_the_words_vectors():
    rows = make_bilstm(depth=0, tag_depth=0)
    assert [name for name, _ in rows.named_parameters()] == ["start", "stop"]
    assert rows.output_dim == 5
    x = words(2, 3)
    found, tags = rows(x, torch.tensor([3, 2]))
    assert tags is None
    expected = with_start_and_stop(x, torch.tensor([3, 2]), rows.start, rows.stop)
    assert torch.equal(found, expected)


def test_how_deep_tags_are_predicted_is_checked():
    for depth in (-1, 2):
        with pytest.raises(
            ValueError, match=rf"tag_depth must be from 0 to depth - 1, got tag_depth = {depth}"
        ):
            make_bilstm(4, tag_depth=depth)
    with pytest.raises(ValueError, match="got tag_depth = 1 and depth = 0"):
        make_bilstm(4, depth=0)
    untagged = {**BILSTM, "tag_depth": 0}
    with pytest.raises(ValueError, match="content = 'tag' needs a BiLSTM that predicts tags"):
        make(bilstm=untagged)
    _, tags = make(bilstm=untagged, content="word")(words(1, 3), torch.tensor([3]))
    assert tags is None


def test_stop_follows_the_last_word():
    x = torch.tensor([[[1.0], [2.0]], [[3.0], [9.0]]])
    found = with_start_and_stop(x, torch.tensor([2, 1]), torch.tensor([5.0]), torch.tensor([7.0]))
    assert found.squeeze(-1).tolist() == [[5, 1, 2, 7], [5, 3, 7, 0]]


def test_positions_stand_beside_the_content():
    content, table = torch.tensor([[[1.0], [2.0], [3.0]]]), torch.tensor([[4.0], [5.0], [6.0]])
    assert with_positions(content, table).tolist() == [[[1, 4], [2, 5], [3, 6]]]
    with pytest.raises(ValueError, match="a sentence of 1 words, but the model has 0 positions"):
        with_positions(content, table[:2])
