"""PyTorch modules inside Thinc models."""
