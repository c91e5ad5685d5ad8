"""Parameters of the released LAL parser, by their names in the modules of this package."""

import torch

from spacy_lal.published.lal_parser import network_state


def encoder_state(parameters, n_layers):
    return _below("encoder.", parameters, n_layers)


def span_scorer_state(parameters):
    return _below("scorer.", parameters)


def dependency_scorer_state(parameters):
    return _below("dependencies.", parameters)


def _below(prefix, parameters, n_layers=0):
    without = {"dep_score.attention.dep_weight": torch.zeros(2, 2)}
    state = network_state(without | dict(parameters), n_layers)
    return {n.removeprefix(prefix): t for n, t in state.items() if n.startswith(prefix)}
