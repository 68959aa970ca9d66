"""`drillyard sim` says what it can do."""

from typer.testing import CliRunner

from loadtests.simulator.cli import app


def test_the_commands_are_listed() -> None:
    shown = CliRunner().invoke(app, ["--help"])
    assert shown.exit_code == 0
    assert all(command in shown.output for command in ("serve", "fleet", "profiles", "calibrate"))
