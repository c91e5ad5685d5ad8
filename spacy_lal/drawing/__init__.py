"""Pictures of plain values, as strings of SVG, HTML and text; nothing else of the package."""
