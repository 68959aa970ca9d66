"""Which sessions came to the end that the timetable has for them."""

from collections.abc import Iterable, Sequence

from loadtests.domain.drill import Drill, Shape
from loadtests.domain.part import Act
from loadtests.domain.rows import Row
from loadtests.domain.timetable import timetable

_NO_TURNS = frozenset({Act.HOSTILE, Act.TOO_LONG})


def completed(sessions: Iterable[Sequence[Row]], drill: Drill) -> int:
    """Sessions of which every turn of the timetable was taken, and the last one ended well."""
    wanted = _wanted(drill)
    return sum(1 for session in sessions if session[-1].failure is None and len(session) >= _turns(session, wanted))


def _turns(session: Sequence[Row], wanted: dict[tuple[int, float], int]) -> int:
    """A session is known by its trainee and its first plan; one that the timetable does not have wants what it did."""
    return wanted.get((session[0].trainee, min(turn.planned_s for turn in session)), len(session))


def _wanted(drill: Drill) -> dict[tuple[int, float], int]:
    # The requests of a trace are in its file: nothing of it is known here, and whatever was begun was wanted.
    parts = () if drill.shape is Shape.TRACE else timetable(drill)
    return {
        (part.trainee, turns[0].at_s): len(turns)
        for part in parts
        for visit in part.visits
        if (turns := [ask for ask in visit.asks if ask.act not in _NO_TURNS])
    }
