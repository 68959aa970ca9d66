"""Runs are listed, shown and removed from the terminal."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from loadtests.cli.load import app
from loadtests.domain.drill import Drill, Shape
from loadtests.ledger.baselines import Baselines, Place
from tests.support.kept_runs import kept_run
from tests.support.load_rows import a_session


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    for at, shape in enumerate((Shape.CLASS, Shape.SOAK, Shape.CLASS)):
        bell = f"2026-12-01T1{at}:00:00.000+00:00"
        kept_run(tmp_path / f"run-{at}", bell_at=bell, drill=Drill(shape=shape), rows=a_session(3))
    return tmp_path


def call(folder: Path, *words: str, answer: str | None = None) -> Result:
    return CliRunner().invoke(app, [*words, "--folder", str(folder)], input=answer)


def lines(result: Result) -> list[str]:
    assert result.exit_code == 0, result.output
    return [line.split()[0] for line in result.output.splitlines() if line.startswith("run-")]


def test_the_newest_run_stands_first(runs: Path) -> None:
    assert lines(call(runs, "list")) == ["run-2", "run-1", "run-0"]
    assert lines(call(runs, "list", "--shape", "class")) == ["run-2", "run-0"]
    told = call(runs, "list", "-n", "1")
    assert lines(told) == ["run-2"]
    assert "2 older ones" in told.output


def test_nothing_to_list_says_how_to_make_one(tmp_path: Path) -> None:
    assert "drillyard load run" in call(tmp_path, "list").output


def test_runs_are_listed_for_programs_the_damaged_among_them(runs: Path) -> None:
    for file in ("run.json", "facts.json"):
        (runs / "run-1" / file).unlink()
    told = json.loads(call(runs, "list", "--json").output)
    assert [each["run"] for each in told if "damaged" not in each] == ["run-2", "run-0"]
    assert [each["run"] for each in told if "damaged" in each] == ["run-1"]
    assert "damaged: " in call(runs, "list").output


def test_a_run_is_shown_with_its_targets(runs: Path) -> None:
    told = call(runs, "show", "last~1").output
    assert "run-1" in told
    assert "failure_share" in told
    assert "a CPU" in told


def test_a_run_is_shown_whole_for_programs(runs: Path) -> None:
    told = json.loads(call(runs, "show", "run-1", "--json").output)
    assert told["drill"]["shape"] == "soak"
    assert (told["entry"]["run"], told["figures"]["turns"]) == ("run-1", 3)
    assert told["verdict"]["whole"] == "unproven"


def test_a_run_that_is_not_over_is_shown_as_far_as_it_is(runs: Path) -> None:
    for file in ("run.json", "verdict.json", "figures.json"):
        (runs / "run-2" / file).unlink()
    told = call(runs, "show", "last")
    assert (told.exit_code, "no verdict" in told.output) == (0, True)
    assert json.loads(call(runs, "show", "last", "--json").output)["verdict"] is None


@pytest.mark.parametrize(
    ("spoil", "why"), [("drill.json", "is not JSON"), ("verdict.json", "not a verdict"), (None, "no run begins")]
)
def test_what_cannot_be_shown_leaves_with_2(runs: Path, spoil: str | None, why: str) -> None:
    if spoil == "drill.json":
        (runs / "run-0" / "run.json").unlink()
        (runs / "run-0" / spoil).write_text("{")
    if spoil == "verdict.json":
        (runs / "run-0" / spoil).write_text("{}")
    told = call(runs, "show", "run-0" if spoil else "nothing")
    assert told.exit_code == 2
    assert why in told.stderr


def test_old_runs_are_removed_once_it_was_confirmed(runs: Path) -> None:
    refused = call(runs, "prune", "--keep", "1", answer="n\n")
    assert refused.exit_code == 1
    assert lines(call(runs, "list")) == ["run-2", "run-1", "run-0"]
    assert "removed 2 runs" in call(runs, "prune", "--keep", "1", answer="y\n").output
    assert lines(call(runs, "list")) == ["run-2"]
    assert call(runs, "prune", "--keep", "1").output == "nothing to remove\n"


def test_baselines_and_strangers_stay(runs: Path) -> None:
    Baselines(runs).accept({Place("s", "n", "d", "m"): ["run-0"]})
    (runs / "mine").mkdir()
    assert call(runs, "prune", "--keep", "0", "--yes").exit_code == 0
    assert lines(call(runs, "list")) == ["run-0"]
    assert (runs / "mine").exists()


def test_damaged_baselines_stop_a_clearing_up(runs: Path) -> None:
    (runs / "baselines.json").write_text("{")
    assert call(runs, "prune", "--keep", "0", "--yes").exit_code == 2
    assert len(lines(call(runs, "list"))) == 3
