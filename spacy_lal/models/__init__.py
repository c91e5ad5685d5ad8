"""Registered Thinc architectures, one system a file, and the bridge to PyTorch."""
