"""Registered Thinc architectures: one room a system, and what all of them stand on."""
