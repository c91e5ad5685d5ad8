"""Label sequences: Viterbi against all paths, transitions by hand, BIO labels there and back."""

import math
from itertools import pairwise, product

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_lal.structure.sequence import (
    bio_constraints,
    bio_to_spans,
    transition_probs,
    viterbi,
)

from ..bio import spans_to_bio

BIO = ["O", "B-V", "B-ARG1", "I-ARG1", "B-C-ARG1", "I-C-ARG1", "I-V"]


def random_numbers(generator, *shape, forbidden=0.0):
    """Whole numbers, so that sums are exact and ties frequent; a share of them -inf."""
    numbers = torch.randint(-3, 4, shape, generator=generator).double()
    return numbers.masked_fill(torch.rand(shape, generator=generator) < forbidden, -math.inf)


def random_transitions(kind, size, generator):
    """[L, L] of each kind that the decoder tells apart."""
    numbers = random_numbers(generator, size, size)
    rare = torch.rand(size, size, generator=generator) < 0.3
    if kind == "rare":  # like relative frequencies
        return numbers.abs().where(rare, 0.0)
    if kind == "rows":  # like smoothed ones
        return numbers[:, :1] + numbers.abs().where(rare, 0.0)
    if kind == "columns":  # some labels may only follow few
        return numbers.masked_fill(~rare & (torch.arange(size) % 2 > 0), -math.inf)
    if kind == "few":  # like logarithms of frequencies
        return numbers.where(rare, -math.inf)
    if kind == "dead ends":
        return numbers.masked_fill((torch.arange(size) % 2 > 0).unsqueeze(1), -math.inf)
    return numbers


KINDS = ["dense", "rare", "rows", "columns", "few", "dead ends"]


def path_score(path, scores, transitions, start):
    total = start[path[0]] + scores[0][path[0]]
    for position, (before, label) in enumerate(pairwise(path), 1):
        total += transitions[before][label] + scores[position][label]
    return total


def best_of_all_paths(scores, transitions, start):
    """Of all paths of one sequence the best, of these the first as read from the end."""
    tables = scores.tolist(), transitions.tolist(), start.tolist()
    paths = list(product(range(scores.shape[1]), repeat=len(scores)))
    totals = [path_score(path, *tables) for path in paths]
    best = max(totals)
    ties = (path for path, total in zip(paths, totals, strict=True) if total == best)
    return best, list(min(ties, key=lambda path: path[::-1]))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("n", "size"), [(1, 3), (2, 5), (4, 4), (5, 3), (6, 2), (3, 1)])
@pytest.mark.parametrize("forbidden", [0.0, 0.4])
def test_viterbi_against_all_paths(kind, n, size, forbidden):
    generator = torch.Generator().manual_seed(10 * n + size)
    for _ in range(3):
        transitions = random_transitions(kind, size, generator)
        start = random_numbers(generator, size, forbidden=forbidden)
        scores = random_numbers(generator, 4, n, size, forbidden=forbidden / 2)
        lengths = torch.tensor([n, max(1, n - 1), 1, n])
        found = viterbi(scores, lengths, transitions, start)
        for row, length in enumerate(lengths.tolist()):
            score, path = best_of_all_paths(scores[row, :length], transitions, start)
            assert found.score[row] == score
            if score > -math.inf:
                assert found.labels[row].tolist() == path + [0] * (n - length)


@pytest.mark.parametrize("kind", KINDS)
def test_no_start_is_a_start_of_zeros(kind):
    generator = torch.Generator().manual_seed(0)
    transitions = random_transitions(kind, 4, generator)
    scores, lengths = random_numbers(generator, 5, 6, 4), torch.tensor([6, 5, 3, 1, 6])
    without = viterbi(scores, lengths, transitions)
    given_zeros = viterbi(scores, lengths, transitions, torch.zeros(4))
    assert torch.equal(without.labels, given_zeros.labels)
    assert torch.equal(without.score, given_zeros.score)


def test_ties():
    """Nothing is better than anything else."""
    labels, score = viterbi(torch.zeros(1, 4, 3), torch.tensor([4]), torch.zeros(3, 3))
    assert labels.tolist() == [[0, 0, 0, 0]]
    assert score.tolist() == [0]
    # 1 0 and 0 1 are equal; the one that ends with the lower label is taken
    swap = torch.tensor([[-1.0, 0.0], [0.0, -1.0]])
    assert viterbi(torch.zeros(1, 2, 2), torch.tensor([2]), swap).labels.tolist() == [[1, 0]]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("padding", [0.0, 1e30, math.inf, -math.inf, math.nan])
def test_a_padded_batch_equals_single_sequences(kind, padding):
    """To the last bit, whatever the padding holds."""
    generator = torch.Generator().manual_seed(3)
    transitions = random_transitions(kind, 9, generator).float()
    transitions += torch.rand(9, 9, generator=generator)
    lengths = torch.tensor([12, 1, 7, 12, 2, 11])
    scores = torch.randn(6, 12, 9, generator=generator)
    scores[torch.arange(12) >= lengths.unsqueeze(1)] = padding
    before = scores.clone()
    together = viterbi(scores, lengths, transitions)
    assert torch.equal(scores.nan_to_num(7.0), before.nan_to_num(7.0))
    for row, length in enumerate(lengths.tolist()):
        single = viterbi(scores[row : row + 1, :length], torch.tensor([length]), transitions)
        assert torch.equal(together.labels[row, :length], single.labels[0])
        assert not together.labels[row, length:].any()
        assert torch.equal(together.score[row], single.score[0])


@pytest.mark.parametrize("forbid", ["transitions", "start", "scores"])
def test_all_paths_forbidden(forbid):
    never = {
        "scores": torch.zeros(2, 3, 4),
        "transitions": torch.zeros(4, 4),
        "start": torch.zeros(4),
    }
    never[forbid].fill_(-math.inf)
    labels, score = viterbi(lengths=torch.tensor([3, 2]), **never)
    assert score.tolist() == [-math.inf] * 2
    assert ((labels >= 0) & (labels < 4)).all()


@settings(max_examples=50, deadline=None)
@given(st.integers(1, 60), st.integers(0, 2**32))
def test_constraints_make_valid_sequences(n, seed):
    """And cost nothing where the best labels are valid on their own."""
    generator = torch.Generator().manual_seed(seed)
    transitions, start = bio_constraints(BIO)
    scores = torch.randn(3, n, len(BIO), generator=generator)
    lengths = torch.tensor([n, (n + 1) // 2, 1])
    labels, score = viterbi(scores, lengths, transitions, start)
    assert score.isfinite().all()
    for row, length in enumerate(lengths.tolist()):
        names = [BIO[label] for label in labels[row, :length].tolist()]
        assert spans_to_bio(bio_to_spans(names), length) == names
        best = [BIO[label] for label in scores[row, :length].argmax(1).tolist()]
        if spans_to_bio(bio_to_spans(best), length) == best:
            assert names == best


def test_types():
    generator = torch.Generator().manual_seed(5)
    scores = random_numbers(generator, 4, 6, 5)
    transitions, start = random_numbers(generator, 5, 5), random_numbers(generator, 5)
    lengths = torch.tensor([6, 2, 5, 1])
    expected = viterbi(scores, lengths, transitions, start)
    assert expected.labels.dtype == torch.int64
    assert expected.score.dtype == torch.float64
    for dtype in (torch.float32, torch.bfloat16, torch.float16, torch.int64):
        inputs = (numbers.to(dtype) for numbers in (transitions, start))
        found = viterbi(scores.to(dtype), lengths.int(), *inputs)
        assert torch.equal(found.labels, expected.labels)
        assert torch.equal(found.score, expected.score.float())
    leaf = scores.clone().requires_grad_()
    assert not viterbi(leaf, lengths, transitions, start).score.requires_grad


@pytest.mark.parametrize("n", [0, 3])
def test_empty_batch(n):
    found = viterbi(torch.zeros(0, n, 2), torch.zeros(0, dtype=torch.long), torch.zeros(2, 2))
    assert found.labels.shape == (0, n)
    assert found.score.shape == (0,)


# Transitions


def test_transition_probabilities():
    counts = torch.tensor([[6, 2, 0], [0, 4, 0], [0, 0, 0]])
    expected = torch.tensor([[0.75, 0.25, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 0.0]])
    assert torch.equal(transition_probs(counts), expected)
    assert torch.equal(transition_probs(counts).log(), expected.log())
    assert torch.equal(transition_probs(counts[0]), expected[0])
    smoothed = torch.tensor([[6.5, 2.5, 0.5], [0.5, 4.5, 0.5], [0.5, 0.5, 0.5]])
    smoothed /= torch.tensor([[9.5], [5.5], [1.5]])
    torch.testing.assert_close(transition_probs(counts + 0.5).log().exp(), smoothed)


def test_unseen_pairs():
    """Forbidden by logarithms, expensive when smoothed, cheap for the released code."""
    counts, firsts = torch.tensor([[5, 0], [3, 2]]), torch.tensor([4, 0])
    scores = torch.tensor([[[0.0, 3.0], [0.0, 3.0]]])
    length = torch.tensor([2])

    def labels(transitions, start=None):
        return viterbi(scores, length, transitions, start).labels.tolist()[0]

    assert labels(transition_probs(counts).log(), transition_probs(firsts).log()) == [0, 0]
    assert labels(transition_probs(counts).log()) == [1, 1]
    assert labels(transition_probs(counts + 1).log(), transition_probs(firsts + 1).log()) == [1, 1]
    assert labels(transition_probs(counts + 1).log(), transition_probs(firsts + 1e-3).log()) == [
        0,
        1,
    ]
    # 0 -> 1 was never seen, and costs 1 against 0 -> 0
    scores = torch.tensor([[[3.0, 0.0], [0.0, 1.5]]])
    assert labels(transition_probs(counts)) == [0, 1]
    assert labels(transition_probs(counts).log()) == [0, 0]


def test_constraints():
    transitions, start = bio_constraints(BIO)
    assert transitions.dtype == start.dtype == torch.float32
    assert set(transitions.flatten().tolist()) == {0.0, -math.inf}
    forbidden_first = [label for label, score in zip(BIO, start.tolist(), strict=True) if score]
    assert forbidden_first == ["I-ARG1", "I-C-ARG1", "I-V"]
    before = {
        label: {BIO[i] for i in (transitions[:, j] == 0).nonzero().flatten().tolist()}
        for j, label in enumerate(BIO)
    }
    assert before == {
        "O": set(BIO),
        "B-V": set(BIO),
        "B-ARG1": set(BIO),
        "B-C-ARG1": set(BIO),
        "I-ARG1": {"B-ARG1", "I-ARG1"},
        "I-C-ARG1": {"B-C-ARG1", "I-C-ARG1"},
        "I-V": {"B-V", "I-V"},
    }


@pytest.mark.parametrize("label", ["", "B", "I", "B-", "I-", "-X", "o", "O-X", "E-X", "X", "BX"])
def test_what_is_no_bio_label(label):
    with pytest.raises(ValueError, match=f"'{label}' is none of the BIO labels"):
        bio_constraints(["O", label])
    with pytest.raises(ValueError, match=f"'{label}' is none of the BIO labels"):
        bio_to_spans(["O", label])


# Spans


@pytest.mark.parametrize(
    ("labels", "spans"),
    [
        ("", []),
        ("O O", []),
        ("B-V", [(0, 1, "V")]),
        ("B-A I-A O B-A B-A", [(0, 2, "A"), (3, 4, "A"), (4, 5, "A")]),
        ("O B-C-ARG1 I-C-ARG1 B-R-ARGM-LOC", [(1, 3, "C-ARG1"), (3, 4, "R-ARGM-LOC")]),
        # not valid: begun by I, and continued by another label
        ("I-A I-A O I-B", [(0, 2, "A"), (3, 4, "B")]),
        ("B-A I-B I-A I-C O", [(0, 4, "A")]),
    ],
)
def test_spans_of_bio(labels, spans):
    assert bio_to_spans(labels.split()) == spans


@st.composite
def disjoint_spans(draw):
    """Spans in order, and the number of words."""
    fences = draw(st.lists(st.integers(0, 30), unique=True).map(sorted))
    names = st.sampled_from(["V", "ARG0", "C-ARG0", "R-ARGM-TMP", "B", "O", "I-X", "-"])
    spans = [(*pair, draw(names)) for pair in pairwise(fences)]
    return [span for span in spans if draw(st.booleans())], draw(st.integers(30, 35))


@settings(deadline=None)
@given(disjoint_spans(), st.randoms())
def test_spans_to_bio_and_back(spans_and_n, random):
    spans, n = spans_and_n
    labels = spans_to_bio(random.sample(spans, len(spans)), n)
    assert len(labels) == n
    assert bio_to_spans(labels) == spans
