"""Pure decisions and values of a training session."""
