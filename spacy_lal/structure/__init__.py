"""Dynamic programs over trees and sequences, on batched tensors.

Nothing here knows of spaCy or of neural layers. `chart` holds the programs over binary trees,
`binarise` the way from a tree's constituents to those of a binary tree and back.
"""
