"""The pure half of the load drills: what was heard of a turn, and what a run amounts to."""
