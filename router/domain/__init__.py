"""Pure decisions and values of the router."""
