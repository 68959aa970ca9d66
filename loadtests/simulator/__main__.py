"""`python -m loadtests.simulator`: the same as `drillyard sim`."""

from loadtests.simulator.cli import app

if __name__ == "__main__":
    app(prog_name="drillyard sim")
