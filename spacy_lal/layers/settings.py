"""Settings of networks: frozen values that a config makes, that build modules and go to JSON."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Literal, Self, TypeVar, get_args, get_origin, get_type_hints

F = TypeVar("F", bound=Callable[..., Any])

NAME = "@misc"
"""The key that says, as in a config, which registered settings a JSON object holds."""


@dataclass(frozen=True)
class Settings:
    """The part of a config that decides about a part of a network.

    A subclass is a frozen dataclass that is registered under `name`: its fields, with their types
    and defaults, are the settings in a config, and modules take it as it is. Fields are JSON, or
    Settings themselves. Raises ValueError for a value that a field's `Literal` doesn't have; a
    subclass with a `__post_init__` of its own calls this one.
    """

    name: ClassVar[str]

    def __post_init__(self) -> None:
        for field, hint in _types(type(self)).items():
            value = getattr(self, field)
            if get_origin(hint) is Literal and value not in get_args(hint):
                raise ValueError(f"{field} must be one of {get_args(hint)}, not {value!r}")

    def to_json(self) -> dict[str, Any]:
        """The block of a config that makes these settings."""
        values = {field: getattr(self, field) for field in _types(type(self))}
        return {NAME: self.name} | {
            field: value.to_json() if isinstance(value, Settings) else value
            for field, value in values.items()
        }

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> Self:
        """Undo `to_json`. Raises TypeError for unknown fields, ValueError for impossible values."""
        types = _types(cls)
        return cls(
            **{
                field: _restored(types.get(field), value)
                for field, value in values.items()
                if field != NAME
            }
        )


def _types(cls: type[Settings]) -> dict[str, Any]:
    """The type of each field."""
    hints = get_type_hints(cls)
    return {field.name: hints[field.name] for field in fields(cls)}


def _restored(hint: Any, value: Any) -> Any:
    """The value of a field of this type: Settings, of one of the union's classes, or JSON."""
    kinds = [
        kind
        for kind in (hint, *get_args(hint))
        if isinstance(kind, type) and issubclass(kind, Settings)
    ]
    if not kinds or not isinstance(value, dict):
        return value
    for kind in kinds:
        if value.get(NAME, kind.name) == kind.name:
            return kind.from_json(value)
    raise ValueError(
        f"the weights name settings of a kind that is not known here: {value.get(NAME)!r}"
    )


def with_settings_of(source: Callable[..., Any]) -> Callable[[F], F]:
    """Put the parameters of `source`, such as a class of `Settings`, in the place of `**others` in
    the signature of a registered function or class, by which configs are filled and validated."""

    def decorate(registered: F) -> F:
        own = inspect.signature(registered).parameters.values()
        others = {
            name: parameter.replace(kind=parameter.KEYWORD_ONLY)
            for name, parameter in inspect.signature(source, eval_str=True).parameters.items()
        }
        kept = [p for p in own if p.kind is not p.VAR_KEYWORD]
        for parameter in kept:
            others.pop(parameter.name, None)
        parameters = sorted([*kept, *others.values()], key=lambda p: p.kind)
        registered.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        return registered

    return decorate
