"""Bell, steps and end are marked as far as a drill came."""

from loadtests.domain.drill import Drill, Shape
from loadtests.domain.marks import marks
from loadtests.domain.server import EventKind

STAIRS = Drill(shape=Shape.STAIRCASE, stairs=(5, 10, 20), stair_s=30.0)


def test_a_staircase_is_marked_by_its_steps() -> None:
    told = [(each.at_s, each.kind, each.note) for each in marks(STAIRS, ended_s=95.0)]
    assert told == [
        (0.0, EventKind.BELL, ""),
        (0.0, EventKind.STEP, "5"),
        (30.0, EventKind.STEP, "10"),
        (60.0, EventKind.STEP, "20"),
        (95.0, EventKind.END, ""),
    ]


def test_steps_that_did_not_come_are_not_marked() -> None:
    assert [each.note for each in marks(STAIRS, ended_s=31.0)] == ["", "5", "10", ""]


def test_a_run_that_ended_in_the_lobby_has_no_bell() -> None:
    assert [each.kind for each in marks(Drill(), ended_s=-3.0)] == [EventKind.END]


def test_a_class_has_no_steps() -> None:
    assert [each.kind for each in marks(Drill(stairs=(5, 10)), ended_s=9.0)] == [EventKind.BELL, EventKind.END]
