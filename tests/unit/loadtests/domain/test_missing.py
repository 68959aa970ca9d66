"""What was planned and left no row is counted, and nothing else."""

from dataclasses import replace

import pytest

from loadtests.domain.drill import Crowd, Drill, Shape
from loadtests.domain.missing import missing
from loadtests.domain.part import Act, Part
from loadtests.domain.rows import Kind, Row
from loadtests.domain.timetable import timetable
from tests.support.load_rows import a_turn

CROWD = Crowd(leavers=0.2, reconnecting=0.2, impatient=0.2, hostile=0.2)


def opening(trainee: int, at_s: float, *, failure: str | None = None) -> Row:
    return replace(a_turn(at_s=at_s, trainee=trainee), kind=Kind.OPEN, turn=None, failure=failure)


def played(parts: tuple[Part, ...]) -> list[Row]:
    """A row of everything, late, and back from its file."""
    return [
        a_turn(
            at_s=ask.at_s, late_s=3, trainee=part.trainee, kind=Kind.HOSTILE if ask.act is Act.HOSTILE else Kind.TURN
        )
        for part in parts
        for visit in part.visits
        for ask in visit.asks
    ]


@pytest.mark.parametrize("shape", [Shape.CLASS, Shape.SOAK])
def test_of_a_drill_that_was_played_nothing_is_missing(shape: Shape) -> None:
    parts = timetable(Drill(shape=shape, trainees=10, turns=(2, 4), stair_s=200, crowd=CROWD))
    rows = played(parts)
    assert missing(parts, rows) == 0
    assert missing(parts, rows[1:-1]) == 2
    assert missing(parts, []) == len(rows)


def test_what_was_sent_beside_a_message_does_not_stand_for_it() -> None:
    parts = timetable(Drill(trainees=1, turns=(2, 2)))
    first, second = played(parts)
    assert missing(parts, [first, replace(second, kind=Kind.RESUME), opening(0, second.planned_s)]) == 1


def test_a_session_that_was_not_opened_has_no_messages() -> None:
    parts = timetable(Drill(trainees=2, turns=(2, 3)))
    rows = [row for row in played(parts) if row.trainee == 0]
    opens_s = parts[1].visits[0].opens_s
    assert missing(parts, [*rows, opening(1, opens_s, failure="http_503")]) == 0
    assert missing(parts, [*rows, opening(1, opens_s)]) == parts[1].asks
