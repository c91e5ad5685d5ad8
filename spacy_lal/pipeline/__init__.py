"""The spaCy components, one a file."""
