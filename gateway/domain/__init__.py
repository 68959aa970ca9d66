"""Pure decisions of the edge."""
