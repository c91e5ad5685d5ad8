"""Parsers that others have published and trained, read as theirs were."""
