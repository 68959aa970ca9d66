"""How much of a timetable left no row, though it was played: what was not kept must not look as if it had gone well."""

from collections.abc import Iterable

from loadtests.domain.part import Part
from loadtests.domain.rows import Kind, Row

_OF_A_MESSAGE = frozenset({Kind.TURN, Kind.HOSTILE})


def missing(parts: Iterable[Part], rows: Iterable[Row]) -> int:
    """Messages without a row, those of sessions that could not be opened left out."""
    kept: set[tuple[int, float]] = set()
    unopened: set[tuple[int, float]] = set()
    for row in rows:
        if row.kind in _OF_A_MESSAGE:
            kept.add((row.trainee, row.planned_s))
        elif row.kind is Kind.OPEN and row.failure is not None:
            unopened.add((row.trainee, row.planned_s))
    return sum(
        (part.trainee, ask.at_s) not in kept
        for part in parts
        for visit in part.visits
        if (part.trainee, visit.opens_s) not in unopened
        for ask in visit.asks
    )
