"""Which sessions came to their end."""

import pytest

from loadtests.domain.completion import completed
from loadtests.domain.drill import Crowd, Drill, Shape
from loadtests.domain.part import Visit
from loadtests.domain.rows import Row
from loadtests.domain.timetable import timetable
from tests.support.load_rows import a_failed_turn, a_turn

DRILL = Drill(trainees=3, turns=(2, 4), think_s=1.0)
STEADY = Drill(shape=Shape.SOAK, trainees=1, turns=(2, 2), think_s=1.0, stair_s=60.0)


def played(visit: Visit, trainee: int) -> list[Row]:
    asks = enumerate(visit.asks, start=1)
    return [a_turn(number, at_s=ask.at_s, late_s=0.5, trainee=trainee) for number, ask in asks]


@pytest.mark.parametrize("drill", [DRILL, STEADY, Drill(trainees=4, crowd=Crowd(leavers=0.5, impatient=0.5))])
def test_whoever_takes_every_turn_has_completed(drill: Drill) -> None:
    sessions = [played(visit, part.trainee) for part in timetable(drill) for visit in part.visits]
    assert completed(sessions, drill) == len(sessions)
    assert completed([session[:-1] for session in sessions if len(session) > 1], drill) == 0


def test_a_failure_on_the_way_is_got_over_and_one_at_the_end_is_not() -> None:
    (part, *_) = timetable(DRILL)
    session = played(part.visits[0], part.trainee)
    first, last = session[0], session[-1]
    assert completed([[a_failed_turn(1, at_s=first.planned_s), *session[1:]]], DRILL) == 1
    assert completed([[*session[:-1], a_failed_turn(len(session), at_s=last.planned_s)]], DRILL) == 0


def test_misdeeds_are_no_turns_that_could_be_missing() -> None:
    assert completed([], Drill(trainees=1, crowd=Crowd(hostile=1.0))) == 0


def test_the_sessions_of_a_trace_are_what_was_begun() -> None:
    drill = Drill(shape=Shape.TRACE, trace="azure")
    assert completed([[a_turn()], [a_failed_turn()]], drill) == 1
