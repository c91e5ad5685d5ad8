"""Other packages' names for what this one does."""
