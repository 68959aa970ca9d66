"""The timetable of a drill, or why there is none."""

from loadtests import trace_files
from loadtests.conduct.order import DrillFailed
from loadtests.domain.drill import Drill
from loadtests.domain.part import Part


def parts_of(drill: Drill) -> tuple[Part, ...]:
    """Raises `DrillFailed` for a drill that makes no sense, or a trace that cannot be read."""
    try:
        return trace_files.parts_of(drill)
    except (OSError, ValueError) as error:
        raise DrillFailed(str(error)) from None


def most_turns(parts: tuple[Part, ...]) -> int:
    """Of one session."""
    return max((len(visit.asks) for part in parts for visit in part.visits), default=0)
