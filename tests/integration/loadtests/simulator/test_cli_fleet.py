"""`drillyard sim fleet` refuses what cannot be; what it does is in test_fleet.py."""

import pytest
from typer.testing import CliRunner

from loadtests.simulator.cli import app


@pytest.mark.parametrize(
    ("flags", "complaint"),
    [
        (["200", "--first-port", "65400"], "reach beyond 65535"),
        (["2", "--first-port", "21000", "--profile", "nothing"], "neither a readable file"),
    ],
)
def test_a_fleet_that_cannot_be_says_why(flags: list[str], complaint: str) -> None:
    refused = CliRunner(env={"COLUMNS": "200"}).invoke(app, ["fleet", *flags])
    assert refused.exit_code != 0
    assert complaint in refused.output
