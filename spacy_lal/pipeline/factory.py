"""Component classes as spaCy factories, with the settings and defaults of `__init__`."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, get_type_hints

from spacy.language import Language


def register_factory(
    name: str,
    component: Callable[..., Any],
    *,
    assigns: Sequence[str],
    score_weights: Mapping[str, float | None],
    **blocks: Any,
) -> Callable[..., Any]:
    """Register `component` under `name` and return the factory for an entry point.

    component: a class whose `__init__` takes `nlp`, `name` and the config's settings. Its type
        hints validate the config, its default values are the default config.
    blocks: default values of settings that are config blocks, such as `model` and `scorer`.
    """
    signature = inspect.signature(component, eval_str=True)

    def make(**settings: Any) -> Any:
        return component(**settings)

    # spaCy and confection read names from the one, types from the other
    make.__signature__ = signature  # type: ignore[attr-defined]
    make.__annotations__ = get_type_hints(component.__init__)  # type: ignore[misc]
    make.__doc__ = component.__doc__
    defaults = {
        key: parameter.default
        for key, parameter in signature.parameters.items()
        if parameter.default is not parameter.empty
    }
    Language.factory(
        name,
        default_config=defaults | blocks,
        assigns=list(assigns),
        default_score_weights=dict(score_weights),
        func=make,
    )
    return make
