"""Carries a load drill out: starts the trainees, watches the servers, breaks what has to be broken, and judges."""
