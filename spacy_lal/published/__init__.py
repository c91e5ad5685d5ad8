"""Models that others have published, as pipelines of this package."""
