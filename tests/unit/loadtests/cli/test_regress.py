"""What is refused before anything is played, what was played before, and what may be accepted of it."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from loadtests.cli.load import app
from loadtests.domain.drill import Drill
from loadtests.ledger.baselines import Baselines, Place
from loadtests.regress.record import Record
from tests.support.kept_runs import kept_run
from tests.support.load_rows import a_session

PLACE = ["s", "class", Drill().digest, "m"]


def call(folder: Path, command: str, *words: str) -> Result:
    return CliRunner().invoke(app, [command, *words, "--folder", str(folder)])


def record(folder: Path, *runs: str) -> None:
    drill = {"name": "class", "runs": list(runs), "place": PLACE, "worse": [{}], "better": []}
    Record(folder).append({"at": "2026-12-01T10:05:00Z", "suite": "s", "change": "more", "drills": [drill]})


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--suite", "none.yaml"), "neither a suite that can be read nor one of"),
        (("--only", "tango"), "quick has no drill tango; it has single, class"),
        (("--fleet", "many"), "a fleet is sim:N"),
        (("--base-url", "http://drills.example"), "drills.example is not this machine"),
        (("--data", "/nowhere"), "no running stack in /nowhere"),
    ],
)
def test_what_cannot_begin_leaves_with_2_and_no_record(tmp_path: Path, words: tuple[str, ...], why: str) -> None:
    refused = call(tmp_path, "regress", *words)
    assert refused.exit_code == 2
    assert why in refused.stderr
    assert Record(tmp_path).rows() == ([], 0)


def test_every_complaint_about_a_suite_is_told(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text("drills:\n- {name: a, shape: class, trainees: 0}\n- {name: b, shape: square}\n")
    refused = call(tmp_path, "regress", "--suite", str(file)).stderr
    assert f"{file}: line 2: trainees: at least 1" in refused
    assert f"{file}: line 3: a drill needs a shape" in refused


def test_the_last_regression_is_accepted(tmp_path: Path) -> None:
    kept_run(tmp_path / "run-1", rows=a_session(1))
    record(tmp_path, "run-1")
    assert call(tmp_path, "accept").output == "s class: run-1\n"
    assert Baselines(tmp_path).runs_of(Place(*PLACE)) == ("run-1",)


def test_without_a_run_there_is_nothing_to_accept(tmp_path: Path) -> None:
    assert call(tmp_path, "accept").exit_code == 2
    record(tmp_path, "run-9")
    refused = call(tmp_path, "accept")
    assert (refused.exit_code, "there is no run in" in refused.stderr) == (2, True)
    assert Baselines(tmp_path).runs() == frozenset()


def test_former_regressions_are_shown(tmp_path: Path) -> None:
    record(tmp_path, "run-1")
    with (tmp_path / "regressions.jsonl").open("a") as file:
        file.write("{\n")
    told = call(tmp_path, "regress", "--history").output
    assert "2026-12-01 10:05" in told
    assert "1 lines of the record cannot be read" in told
    assert json.loads(call(tmp_path, "regress", "--history", "--json").output)[0]["change"] == "more"
