"""Settings of networks: frozen values that a config makes, that build modules and go to JSON."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import Any, ClassVar, Self

NAME = "@misc"
"""As in a config: which registered settings a JSON object is."""


@dataclass(frozen=True)
class Settings:
    """What a config decides about a part of a network.

    A subclass is registered under `name` and has a `build` method. Its fields are the arguments of
    the registered function; they are JSON, or Settings themselves.
    """

    name: ClassVar[str]

    def to_json(self) -> dict[str, Any]:
        """The block of a config that makes these settings."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {NAME: self.name} | {
            key: value.to_json() if isinstance(value, Settings) else value
            for key, value in values.items()
        }

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> Self:
        """Undo `to_json`. Raises TypeError for unknown fields, ValueError for impossible values."""
        return cls(**{key: value for key, value in values.items() if key != NAME})

    def one_of(self, field: str, *values: str) -> None:
        """Raise ValueError unless the field has one of these values."""
        value = getattr(self, field)
        if value not in values:
            raise ValueError(f"{field} must be one of {values}, not {value!r}")


def renamed(settings: Settings, names: dict[str, str]) -> dict[str, Any]:
    """The settings as arguments of a module, whose names for some of them are others."""
    return {names.get(key, key): value for key, value in asdict(settings).items()}


def from_any(values: dict[str, Any], *classes: type[Settings]) -> Settings:
    """The settings of one of these classes that a JSON object says it is."""
    for cls in classes:
        if values.get(NAME) == cls.name:
            return cls.from_json(values)
    raise ValueError(
        f"the weights name settings of a kind that is not known here: {values.get(NAME)!r}"
    )
