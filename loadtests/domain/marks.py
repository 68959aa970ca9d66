"""What of a drill is marked on every chart of it: the bell, the steps of a staircase, and the end."""

from loadtests.domain.drill import Drill, Shape
from loadtests.domain.server import Event, EventKind


def marks(drill: Drill, *, ended_s: float) -> list[Event]:
    """What had come when it ended, in the order of time."""
    stairs = enumerate(drill.stairs) if drill.shape is Shape.STAIRCASE else ()
    steps = [Event(at_s=at * drill.stair_s, kind=EventKind.STEP, note=str(count)) for at, count in stairs]
    due = [each for each in (Event(at_s=0.0, kind=EventKind.BELL), *steps) if each.at_s <= ended_s]
    return [*due, Event(at_s=ended_s, kind=EventKind.END)]
