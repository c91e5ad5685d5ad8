"""Text formats of treebanks: each is read into Docs, and some are written, by one module."""
