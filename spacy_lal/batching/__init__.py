"""Padded batches of sentences from Docs."""
