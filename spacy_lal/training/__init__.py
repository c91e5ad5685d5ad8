"""Optimisers, schedules, corpus readers and augmenters for training configs."""
