"""`drillyard load report` writes the report of a run again."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from loadtests.cli.load import app
from loadtests.run_folder import RunFolder
from tests.support.load_runs import a_run

RUNNER = CliRunner()


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    return a_run(tmp_path / "class")


def test_it_says_what_came_of_the_run_and_where_the_page_lies(folder: RunFolder) -> None:
    done = RUNNER.invoke(app, ["report", str(folder.path)])
    assert done.exit_code == 0
    first, second, last = done.stdout.splitlines()
    assert first == "Missed: failed turns 5 %, at most 0.1 %."
    assert second.startswith("  a fault: The fault caused at 30 s (kill of replica-2)")
    assert last == str(folder.report)
    assert folder.report.read_text().startswith("<!doctype html>")


def test_it_writes_the_page_where_it_is_told_to(folder: RunFolder, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    done = RUNNER.invoke(app, ["report", str(folder.path), "--html", str(page), "--price", "36"])
    assert done.exit_code == 0
    assert done.stdout.splitlines()[-1] == str(page)
    assert "at 36 for a replica" in page.read_text()


def test_for_a_program_it_prints_json_alone(folder: RunFolder) -> None:
    done = RUNNER.invoke(app, ["report", str(folder.path), "--json", "--price", "36"])
    told = json.loads(done.stdout)
    assert told["verdict"]["whole"] == "missed"
    assert told["explaining"][0]["cause"] == "a fault"
    assert told["figures"]["failed"] == 10
    assert told["cost_per_drill"] == pytest.approx(told["replica_seconds_per_drill"] / 100)


def test_a_run_is_found_by_what_the_ledger_calls_it(folder: RunFolder, tmp_path: Path) -> None:
    for name in ("last", "cla"):
        done = RUNNER.invoke(app, ["report", name, "--folder", str(tmp_path)])
        assert done.stdout.splitlines()[-1] == str(folder.report)
    missing = RUNNER.invoke(app, ["report", "other", "--folder", str(tmp_path)])
    assert missing.exit_code == 2
    assert "no run begins with 'other'" in missing.stderr


def test_a_folder_of_something_else_is_refused(tmp_path: Path) -> None:
    done = RUNNER.invoke(app, ["report", str(tmp_path)])
    assert done.exit_code == 2
    assert "is not the folder of a load drill" in done.stderr
    assert not done.stdout
