"""When what a fault had broken answered again."""

from collections.abc import Iterable

from loadtests.domain.server import Event, EventKind


def mended_at(fault: Event, events: Iterable[Event]) -> float | None:
    """None: not before the end. Of two faults of one target each has its own: a mending's note begins with its kind."""
    ends = (
        each.at_s
        for each in events
        if each.kind is EventKind.MENDED
        and each.target == fault.target
        and each.at_s >= fault.at_s
        and each.note.partition(" ")[0] in ("", fault.note)
    )
    return min(ends, default=None)
