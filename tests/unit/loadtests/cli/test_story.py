"""Which steps are told, and what is refused before a stack is started."""

from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from loadtests.cli import story as command
from loadtests.story.steps import STEPS


def run(*words: str) -> tuple[int, str]:
    app = typer.Typer()
    app.command()(command.story)
    found = CliRunner().invoke(app, list(words))
    return found.exit_code, found.output


def test_an_unknown_step_is_refused_with_those_there_are(tmp_path: Path) -> None:
    code, said = run("--step", "magic", "--out", str(tmp_path / "story"))
    assert code == 2
    assert "magic" in said
    assert all(step.name in said.replace("\n", " ") for step in STEPS)
    assert not (tmp_path / "story").exists()


@pytest.mark.parametrize("speed", ["0", "-1", "1001", "fast"])
def test_a_speed_that_makes_no_sense_is_refused(speed: str) -> None:
    assert run("--speed-up", speed)[0] == 2
