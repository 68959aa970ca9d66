"""The router's outside: one vendor per file."""
