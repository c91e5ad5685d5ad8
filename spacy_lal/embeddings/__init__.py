"""Embeddings of words without context: forms, affixes, shapes, characters, vectors."""
