"""Pure decisions and values of pre-scaling."""
