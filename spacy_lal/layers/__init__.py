"""PyTorch modules of the papers' equations, one layer a file, with their settings."""
