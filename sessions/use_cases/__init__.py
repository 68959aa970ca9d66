"""What can be done with scenarios, sessions and turns: a class each; those that only read one thing share a file."""
