"""The pure half of the simulator: no clock, no socket, no event loop."""
