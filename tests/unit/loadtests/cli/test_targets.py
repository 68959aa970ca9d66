"""The targets file to start from is printed, and others are tried."""

from pathlib import Path

from typer.testing import CliRunner

from loadtests.cli.load import app
from loadtests.domain.targets import DEFAULT, read_targets


def test_what_is_printed_can_be_used_as_it_is() -> None:
    told = CliRunner().invoke(app, ["targets"])
    assert told.exit_code == 0
    assert read_targets(told.stdout) == DEFAULT


def test_a_file_is_tried_and_every_complaint_is_told(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text("ttft_p95_s: 2\n")
    assert "can be used" in CliRunner().invoke(app, ["targets", "--check", str(file)]).output
    file.write_text("ttft_p95_s: -2\nlet_in: x\n")
    refused = CliRunner().invoke(app, ["targets", "--check", str(file)])
    assert refused.exit_code == 2
    assert f"{file}: line 1: ttft_p95_s: must be above 0" in refused.stderr
    assert f"{file}: line 2: let_in" in refused.stderr
    assert CliRunner().invoke(app, ["targets", "--check", str(tmp_path / "none")]).exit_code == 2
