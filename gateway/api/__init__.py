"""The HTTP API: one file per resource, each route the same steps: who asks, what for, do it, answer."""
