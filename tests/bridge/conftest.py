"""Settings for tests of models."""

from tests.spellings import fewer_spellings  # noqa: F401
