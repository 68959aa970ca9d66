"""What the router itself costs, measured."""
