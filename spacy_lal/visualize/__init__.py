"""SVG as strings."""
