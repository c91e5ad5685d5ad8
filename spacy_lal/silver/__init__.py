"""Silver annotation: confident predictions of a pipeline, as training data for another."""
