"""Constituency trees as values: building, reading, writing and comparing them."""
