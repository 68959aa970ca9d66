"""A drill as a value: stored, hashed and read again."""

import json
from dataclasses import replace

import pytest

from loadtests.domain.drill import Affinity, Crowd, Drill, Shape, Wire, drill_of

ODD = Drill(
    shape=Shape.STAIRCASE,
    wire=Wire.CHAT,
    affinity=Affinity.NONE,
    history=20,
    turns=(3, 5),
    crowd=Crowd(leavers=0.1, hostile=0.2),
    stairs=(5, 10),
    faults=("kill@60:replica-1",),
    prompt_shares=(0.5,),
)


@pytest.mark.parametrize("drill", [Drill(), ODD])
def test_a_drill_is_read_back_from_its_json(drill: Drill) -> None:
    stored = json.loads(json.dumps(drill.as_json()))
    assert drill_of(stored) == drill
    assert drill_of(stored).digest == drill.digest


def test_what_is_not_told_is_as_usual() -> None:
    assert drill_of({"trainees": 7}) == Drill(trainees=7)


@pytest.mark.parametrize(
    "other", [Drill(seed=2), Drill(crowd=Crowd(leavers=0.1)), Drill(stairs=(1,)), Drill(speed_up=2.0)]
)
def test_each_difference_shows_in_the_digest(other: Drill) -> None:
    assert other.digest != Drill().digest
    assert replace(other).digest == other.digest


@pytest.mark.parametrize(
    ("told", "complaint"),
    [
        ({"speed": 2, "tempo": 1}, "unknown fields: speed, tempo"),
        ({"shape": "circle"}, "'circle' is not a valid Shape"),
    ],
)
def test_what_no_drill_has_is_refused(told: dict[str, object], complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        drill_of(told)
