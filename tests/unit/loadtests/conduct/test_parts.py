"""The timetable of a drill, or why there is none."""

import pytest

from loadtests.conduct.order import DrillFailed
from loadtests.conduct.parts import most_turns, parts_of
from loadtests.domain.drill import Drill, Shape, Wire


def test_the_longest_session_counts() -> None:
    parts = parts_of(Drill(trainees=6, turns=(2, 5)))
    assert len(parts) == 6
    assert most_turns(parts) == max(part.asks for part in parts)
    assert most_turns(()) == 0


def test_a_drill_that_makes_no_sense_is_refused() -> None:
    with pytest.raises(DrillFailed, match="trainees"):
        parts_of(Drill(trainees=0))


def test_a_trace_that_cannot_be_read_is_refused() -> None:
    with pytest.raises(DrillFailed, match=r"nowhere\.csv"):
        parts_of(Drill(shape=Shape.TRACE, wire=Wire.CHAT, trace="nowhere.csv"))
