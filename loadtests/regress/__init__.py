"""One change, whole regression: a suite of drills, each held against what was accepted before."""
