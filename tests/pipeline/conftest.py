"""Settings for tests of components."""

from tests.spellings import fewer_spellings  # noqa: F401
