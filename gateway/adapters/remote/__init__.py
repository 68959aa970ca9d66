"""A router that runs alone, used over HTTP as if it were in this process: turns, and the operators' desk."""
