import pytest
import torch

from spacy_lal.layers.dependency_scorer import DependencyScorer, DependencySettings
from spacy_lal.layers.dropout import set_dropout
from spacy_lal.parsing.network import OneStageScores


def make(relation_of, d_in=6, n_relations=3):
    settings = DependencySettings(5, 4, relation_of=relation_of)
    scorer = DependencyScorer(settings, d_in, n_relations)
    torch.nn.init.normal_(scorer.arc.bias)
    torch.nn.init.normal_(scorer.relation.bias)
    return scorer.double()


def product(biaffine, x, y):
    return (
        torch.einsum("oij,i,j->o", biaffine.bilinear, x, y)
        + biaffine.left @ x
        + biaffine.right @ y
        + biaffine.bias
    )


@pytest.mark.parametrize("relation_of", ["pair", "dependent"])
def test_scores_arc_by_arc(relation_of):
    scorer = make(relation_of).requires_grad_(False)
    x = torch.randn(2, 5, 6, dtype=torch.float64)
    arcs, factors = scorer(x)
    assert arcs.shape == (2, 4, 5)
    scores = OneStageScores(torch.zeros(2, 4, 1), None, arcs, *factors)
    relations = [scores.relations_of(torch.full((2, 4), head)) for head in range(5)]
    for b in range(2):
        for d in range(4):
            word = x[b, d + 1]
            dependent = scorer.arc_dependent(word).relu()
            governed = scorer.relation_dependent(word).relu()
            for h in range(5):
                head = scorer.arc_head(x[b, h]).relu()
                expected = product(scorer.arc, head, dependent)[0]
                assert float(arcs[b, d, h]) == pytest.approx(float(expected), abs=1e-12)
                reads = x[b, h] if relation_of == "pair" else word
                governor = scorer.relation_head(reads).relu()
                torch.testing.assert_close(
                    relations[h][b, d],
                    product(scorer.relation, governor, governed),
                    rtol=0,
                    atol=1e-12,
                )


@pytest.mark.parametrize("relation_of", ["pair", "dependent"])
def test_every_parameter_learns(relation_of):
    scorer = make(relation_of)
    x = torch.randn(2, 5, 6, dtype=torch.float64, requires_grad=True)
    arcs, factors = scorer(x)
    scores = OneStageScores(torch.zeros(2, 4, 1), None, arcs, *factors)
    relations = scores.relations_of(torch.tensor([[0, 1, 2, 3], [4, 0, 0, 1]]))
    (arcs * torch.randn_like(arcs)).sum().backward(retain_graph=True)
    (relations * torch.randn_like(relations)).sum().backward()
    for name, value in [("x", x), *scorer.named_parameters()]:
        assert value.grad is not None, name
        assert bool(value.grad.any()), name


def test_dropout_drops_the_same_features_in_all_rows_of_a_sentence():
    scorer = make("pair", d_in=6)
    for layer in (scorer.arc_head, scorer.arc_dependent):
        torch.nn.init.zeros_(layer.weight)
        torch.nn.init.ones_(layer.bias)
    x = torch.randn(3, 7, 6, dtype=torch.float64)
    expected, _ = scorer.eval()(x)
    set_dropout(scorer, 0.5)
    torch.testing.assert_close(scorer(x)[0], expected)
    dropped, _ = scorer.train()(x)
    # all rows were alike, and are so after dropout, but not across sentences
    torch.testing.assert_close(dropped, dropped[:, :1, :1].expand_as(dropped))
    assert len(dropped[:, 0, 0].unique()) > 1


def test_a_rate_of_its_own():
    """The training's does not reach it."""
    scorer = DependencyScorer(DependencySettings(5, 4, dropout=0.5), 6, 3)
    x = torch.randn(3, 7, 6)
    expected, _ = scorer.eval()(x)
    set_dropout(scorer, 0.0)
    assert not torch.allclose(scorer.train()(x)[0], expected)
    set_dropout(scorer, 0.9)
    torch.testing.assert_close(scorer.eval()(x)[0], expected)


def test_what_relations_depend_on_is_checked():
    with pytest.raises(
        ValueError, match=r"relation_of must be one of \('pair', 'dependent'\), not 'head'"
    ):
        make("head")
