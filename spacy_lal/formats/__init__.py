"""Text formats of treebanks, read into Docs."""
