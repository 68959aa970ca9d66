"""What the edge asks of the outside, one vendor per file."""
