"""Settings of networks: frozen values that configs create, that build modules and go to JSON."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Literal, Self, TypeVar, get_args, get_origin, get_type_hints

F = TypeVar("F", bound=Callable[..., Any])

NAME = "@misc"
"""The JSON key for the name of registered settings, as in a config."""


@dataclass(frozen=True)
class Settings:
    """The part of a config that determines a part of a network.

    A subclass is a frozen dataclass registered under `name`. Its fields are the settings in a
    config: JSON values or Settings. Raises ValueError for a value that a field's `Literal`
    doesn't have; a subclass with its own `__post_init__` calls this one.
    """

    name: ClassVar[str]

    def __post_init__(self) -> None:
        for field, hint in _types(type(self)).items():
            value = getattr(self, field)
            if get_origin(hint) is Literal and value not in get_args(hint):
                raise ValueError(f"{field} must be one of {get_args(hint)}, not {value!r}")

    def to_json(self) -> dict[str, Any]:
        """Returns the block of a config that makes these settings."""
        values = {field: getattr(self, field) for field in _types(type(self))}
        return {NAME: self.name} | {
            field: value.to_json() if isinstance(value, Settings) else value
            for field, value in values.items()
        }

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> Self:
        """Undoes `to_json`. Raises TypeError for unknown fields, ValueError for wrong values."""
        types = _types(cls)
        return cls(
            **{
                field: _restored(types.get(field), value)
                for field, value in values.items()
                if field != NAME
            }
        )


def _types(cls: type[Settings]) -> dict[str, Any]:
    hints = get_type_hints(cls)
    return {field.name: hints[field.name] for field in fields(cls)}


def _restored(hint: Any, value: Any) -> Any:
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
    """Replaces `**others` in a registered function's or class's signature by the parameters of
    `source`. Configs are filled and validated by this signature."""

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
