"""`drillyard load` names its commands, and imports one when it is called."""

import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from loadtests.cli import load
from loadtests.cli.load import COMMANDS, Command, app

ROOT = Path(__file__).parents[4]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_a_command_is_where_it_says(command: Command) -> None:
    found = getattr(import_module(command.module), command.attribute)
    assert callable(found) or isinstance(found, typer.Typer)


def test_help_names_every_command() -> None:
    told = CliRunner().invoke(app, ["--help"]).output
    assert all(command.name in told and command.help[:20] in told for command in COMMANDS)


def test_a_command_parses_its_own_help_and_ends_with_its_own_code() -> None:
    told = CliRunner().invoke(app, ["run", "--help"], env={"COLUMNS": "200"})
    assert told.exit_code == 0
    assert "--trainees" in told.output
    assert "Leaves with 0" in told.output
    assert CliRunner().invoke(app, ["run", "party"]).exit_code == 2


def test_help_imports_none_of_the_commands() -> None:
    """Neither do they come to be imported by the product."""
    names = {command.module for command in COMMANDS}
    code = (
        f"import sys, {load.__name__}; print(sorted(set({sorted(names)}) & set(sys.modules)), 'locust' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[] False"
