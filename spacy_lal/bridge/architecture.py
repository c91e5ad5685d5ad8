"""Architectures that take their settings as one object."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any, get_type_hints

from thinc.api import Model, deserialize_attr

from ..layers.settings import Settings

Architecture = Callable[..., Model]


def with_settings(kind: type[Settings]) -> Callable[[Architecture], Architecture]:
    """Make an architecture of a function that takes models and, by this name, `settings`.

    The architecture takes the models and then, as configs have them, the fields of the dataclass
    `kind`, whose types, defaults and docstring are its own.
    """

    def decorate(build: Architecture) -> Architecture:
        models = [p for p in _parameters(build) if p.name != "settings"]
        signature = inspect.Signature([*models, *_parameters(kind)])

        @wraps(build)
        def architecture(*values: Any, **more: Any) -> Model:
            given = signature.bind(*values, **more).arguments
            parts = {p.name: given.pop(p.name) for p in models}
            return build(**parts, settings=kind(**given))

        architecture.__signature__ = signature  # type: ignore[attr-defined]
        architecture.__doc__ = f"{build.__doc__}\n\n{kind.__doc__}"
        return architecture

    return decorate


def _parameters(function: Callable) -> list[inspect.Parameter]:
    """The parameters of a function or of a dataclass, their types as objects."""
    types = get_type_hints(function)
    parameters = inspect.signature(function).parameters.values()
    return [parameter.replace(annotation=types[parameter.name]) for parameter in parameters]


@deserialize_attr.register(Settings)
def _keep_settings(settings: Settings, _: Any, name: str, model: Model) -> Settings:
    """Settings in a model's attributes are those of the config, whatever was stored beside it."""
    return settings
