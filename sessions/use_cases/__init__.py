"""What can be done with scenarios, sessions and turns; one file and one class each."""
