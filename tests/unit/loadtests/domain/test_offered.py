"""What a timetable offers is counted before anybody is asked."""

import pytest

from loadtests.domain.drill import Crowd, Drill, Shape
from loadtests.domain.offered import offered
from loadtests.domain.part import Act, Ask, Part, Visit
from loadtests.domain.timetable import timetable

DRILL = Drill(allowance_s=5.0)


def part(trainee: int, *starts: float, act: Act = Act.TAKE) -> Part:
    asks = tuple(Ask(at_s=start, act=act) for start in starts)
    return Part(trainee=trainee, visits=(Visit(opens_s=-1.0, asks=asks),))


def test_turns_length_and_the_busiest_time() -> None:
    load = offered(DRILL, [part(0, 1.0, 50.0, 55.0), part(1, 2.0, 57.0, 95.0), part(2, act=Act.HOSTILE)])
    assert (load.trainees, load.sessions, load.turns) == (3, 3, 6)
    assert (load.last_s, load.length_s) == (95.0, 100.0)
    assert (load.peak_per_s, load.peak_at_s) == (0.3, 50.0)
    assert load.mean_per_s == pytest.approx(0.06)


def test_misdeeds_are_no_turns() -> None:
    assert offered(DRILL, [part(0, 1.0, act=Act.HOSTILE)]).turns == 0


def test_nobody_offers_nothing() -> None:
    load = offered(Drill(allowance_s=0.0), [])
    assert (load.turns, load.mean_per_s, load.peak_per_s, load.peak_at_s) == (0, 0.0, 0.0, 0.0)


def test_a_staircase_lasts_until_its_last_stair_ends() -> None:
    drill = Drill(shape=Shape.STAIRCASE, stairs=(1, 2), stair_s=30.0, think_s=300.0)
    assert offered(drill, timetable(drill)).length_s >= 60.0


def test_a_soak_lasts_as_long_as_it_was_asked_to() -> None:
    drill = Drill(shape=Shape.SOAK, stair_s=30.0, trainees=2, think_s=1.0)
    assert offered(drill, timetable(drill)).length_s >= 30.0


def test_a_class_offers_what_its_timetable_holds() -> None:
    drill = Drill(trainees=5, turns=(2, 4), crowd=Crowd())
    parts = timetable(drill)
    load = offered(drill, parts)
    assert load.turns == sum(each.asks for each in parts)
    assert load.peak_per_s >= load.mean_per_s
