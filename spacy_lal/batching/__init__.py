"""From Docs to padded batches of sentences, and back."""
