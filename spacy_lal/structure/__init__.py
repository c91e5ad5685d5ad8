"""Dynamic programs over trees and sequences, on batched tensors; `distributions` are their door."""
