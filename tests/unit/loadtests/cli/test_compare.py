"""Runs are compared from the terminal, in words, as a page and for programs."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from loadtests.cli.load import app
from loadtests.domain.drill import Drill
from tests.support.crowd_rows import Crowd, crowd_rows
from tests.support.kept_runs import kept_run


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    for at, slower in enumerate((1.0, 2.0)):
        bell = f"2026-12-01T1{at}:00:00.000+00:00"
        kept_run(tmp_path / f"run-{at}", bell_at=bell, rows=crowd_rows(Crowd(seed=at, slower=slower)))
    return tmp_path


def call(folder: Path, *words: str) -> Result:
    return CliRunner().invoke(app, ["compare", *words, "--folder", str(folder)])


def test_it_says_what_became_worse_first(runs: Path) -> None:
    told = call(runs, "last~1", "last")
    assert told.exit_code == 0
    first, second = told.output.splitlines()[:2]
    assert first.split() == ["before", "after", "change,", "and", "what", "it", "may", "be"]
    assert second.startswith("ttft_p50_s")
    assert "worse" in second
    assert "not comparable" not in told.output


def test_small_changes_can_be_made_not_to_matter(runs: Path) -> None:
    assert "100% of it" in call(runs, "last", "last~1", "--matters", "1").output


def test_warnings_stand_on_top(runs: Path) -> None:
    kept_run(runs / "other", bell_at="2026-12-02T10:00:00+00:00", drill=Drill(trainees=3))
    told = call(runs, "run-0", "last").output
    assert told.startswith("not comparable: other is another drill than run-0: trainees 20, then 3\n")


def test_it_is_told_for_programs(runs: Path) -> None:
    told = json.loads(call(runs, "run-0", "run-1", "--json").output)
    assert told["before"] == ["run-0"]
    assert next(each for each in told["metrics"] if each["name"] == "ttft_p50_s")["finding"] == "worse"


def test_a_page_is_written_where_it_is_asked_for(runs: Path, tmp_path: Path) -> None:
    page = tmp_path / "change.html"
    assert call(runs, "run-0", "run-1", "--html", str(page)).output.endswith(f"{page}\n")
    assert page.read_text().startswith("<!doctype html>")
    refused = call(runs, "run-0", "run-1", "--html", str(tmp_path / "none" / "x.html"))
    assert (refused.exit_code, "cannot be written" in refused.stderr) == (2, True)


def test_what_is_not_there_leaves_with_2(runs: Path) -> None:
    refused = call(runs, "run-0", "run-9")
    assert (refused.exit_code, "no run begins with 'run-9'" in refused.stderr) == (2, True)
