"""The controller's outside: one host of replicas, or one vendor, per file."""
