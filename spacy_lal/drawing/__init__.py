"""Pictures of plain values, as SVG, HTML and text, without other parts of the package."""
