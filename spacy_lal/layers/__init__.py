"""PyTorch modules, one layer a file: the equations of the papers, each with its settings."""
