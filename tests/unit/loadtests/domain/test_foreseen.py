"""Before a drill is played it is known which targets it could not prove."""

import pytest

from loadtests.domain.drill import Crowd, Drill, Shape, Wire
from loadtests.domain.foreseen import unprovable
from loadtests.domain.targets import DEFAULT
from loadtests.domain.timetable import timetable


def lacking(drill: Drill) -> dict[str, int]:
    return {each.target: each.more for each in unprovable(drill, timetable(drill), DEFAULT)}


def test_a_small_class_proves_neither_its_failures_nor_its_bell() -> None:
    assert list(lacking(Drill(trainees=20, turns=(10, 10))).items()) == [
        ("failure_share", 2_795),
        ("bell_ttft_p95_s", 80),
    ]


@pytest.mark.parametrize(("turns", "found"), [(30, {}), (29, {"failure_share": 95})])
def test_a_large_one_proves_all_once_its_turns_suffice(turns: int, found: dict[str, int]) -> None:
    assert lacking(Drill(trainees=100, turns=(turns, turns))) == found


def test_what_is_to_be_refused_is_no_turn() -> None:
    hostile = Drill(trainees=200, turns=(20, 20), crowd=Crowd(hostile=0.5))
    assert lacking(hostile) == {"failure_share": 995}
    long = Drill(shape=Shape.LONG_PROMPT, wire=Wire.CHAT, turns=(3, 3), prompt_shares=(0.5, 1.01))
    assert lacking(long)["failure_share"] == 2_992


def test_a_drill_of_hostile_trainees_alone_has_no_turn() -> None:
    assert "cold_share" not in lacking(Drill(trainees=2, turns=(1, 1), crowd=Crowd(hostile=1.0)))
