"""`drillyard load`: load drills from the terminal."""
