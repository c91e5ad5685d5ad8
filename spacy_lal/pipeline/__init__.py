"""The base of all components: weights on disk, factories, training examples, writers."""
