"""Dynamic programs over trees and sequences, on batched tensors."""
