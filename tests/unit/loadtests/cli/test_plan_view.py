"""What would be offered is told in a few figures."""

import json

import pytest

from loadtests.cli.plan_view import plan_rows, show_plan
from loadtests.conduct.parts import parts_of
from loadtests.domain.drill import Drill
from loadtests.domain.foreseen import unprovable
from loadtests.domain.offered import Offered, offered
from loadtests.domain.targets import DEFAULT

LOAD = Offered(
    trainees=3, sessions=3, turns=12, last_s=95.0, length_s=103.4, mean_per_s=0.116, peak_per_s=0.4, peak_at_s=7.0
)


def test_rows_for_people() -> None:
    rows = dict(plan_rows(Drill(faults=("kill@60",)), LOAD, ()))
    assert rows["turns"] == "12"
    assert rows["length"].startswith("1 min 43 s")
    assert rows["busiest ten seconds"] == "0.40 turns per second, from 7 s on"
    assert rows["faults"] == "kill@60"
    assert "faults" not in dict(plan_rows(Drill(), LOAD, ()))


def test_how_long_it_really_takes_is_told_where_time_passes_faster() -> None:
    rows = dict(plan_rows(Drill(speed_up=8), LOAD, ()))
    assert rows["length"] == "1 min 43 s from the bell, really 13 s, if the system keeps up"
    assert "really" not in dict(plan_rows(Drill(), LOAD, ()))["length"]


def test_what_its_turns_are_too_few_for_is_told() -> None:
    drill = Drill(trainees=2, turns=(1, 1))
    lacking = unprovable(drill, parts_of(drill), DEFAULT)
    enough = dict(plan_rows(drill, LOAD, lacking))["enough for"]
    assert enough.startswith("not for failure_share (2,993 more turns would do), ")
    assert enough.endswith(f" and {len(lacking) - 2} more")
    bell = [each for each in lacking if each.target == "bell_ttft_p95_s"]
    assert dict(plan_rows(drill, LOAD, bell))["enough for"] == "not for bell_ttft_p95_s (98 more sessions would do)"
    assert dict(plan_rows(drill, LOAD, ()))["enough for"] == "every target, if none of its turns fails"


def test_a_short_drill_is_told_in_seconds(capsys: pytest.CaptureFixture[str]) -> None:
    drill = Drill(trainees=2, turns=(1, 1))
    load = offered(drill, parts_of(drill))
    assert load.length_s < 60
    show_plan(drill, load, (), as_json=False)
    assert f"{round(load.length_s)} s from the bell" in capsys.readouterr().out


def test_json_for_programs(capsys: pytest.CaptureFixture[str]) -> None:
    drill = Drill(trainees=2, turns=(50, 50), speed_up=2)
    show_plan(drill, LOAD, unprovable(drill, parts_of(drill), DEFAULT), as_json=True)
    told = json.loads(capsys.readouterr().out)
    assert told["offered"]["turns"] == 12
    assert told["drill"]["shape"] == "class"
    assert told["real_length_s"] == LOAD.length_s / 2
    assert told["lacking"]["failure_share"] == 2_895
