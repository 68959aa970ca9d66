"""The timetable of a drill, with the recorded trace that it may name."""

from loadtests.conduct.order import DrillFailed
from loadtests.domain.drill import Drill
from loadtests.domain.part import Part
from loadtests.domain.timetable import timetable


def parts_of(drill: Drill) -> tuple[Part, ...]:
    """Raises `DrillFailed` for a drill that makes no sense."""
    try:
        return timetable(drill)
    except ValueError as error:
        raise DrillFailed(str(error)) from None


def most_turns(parts: tuple[Part, ...]) -> int:
    """Of one session."""
    return max((len(visit.asks) for part in parts for visit in part.visits), default=0)
