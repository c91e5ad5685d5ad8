"""What a training config names: optimisers, schedules, the corpus reader, augmenters."""
