"""Turns that ended while the records were away, and what becomes of them once those answer again.

A spooled turn names the session's row that it stands on, so it can be written behind that row alone: whoever tries it
again, however often and from wherever, writes it once or not at all.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from sessions.domain.session import Session, with_turn
from sessions.domain.turn import Turn


@dataclass(frozen=True, slots=True)
class SpooledTurn:
    session: Session
    """The session as it was before the turn."""
    turn: Turn

    @property
    def after(self) -> Session:
        """The session once the turn is written."""
        return with_turn(self.session)


class Fate(StrEnum):
    """What is true of a spooled turn that could not be written just now."""

    WRITTEN = "written"
    """It stands in the records already: an answer was lost, or somebody else was faster."""
    EARLY = "early"
    """The turn before it is still on its way."""
    CONFLICT = "conflict"
    """The session went another way meanwhile; a person has to look at it."""


def fate(spooled: SpooledTurn, row: Session | None, stored: Turn | None) -> Fate:
    """By the session's row and the turn of the same number, as they are on record; None for what is not there."""
    if stored is not None and _is_same(stored, spooled.turn):
        return Fate.WRITTEN
    if row is not None and row.version < spooled.session.version:
        return Fate.EARLY
    return Fate.CONFLICT


def chain(row: Session, spooled: Iterable[SpooledTurn]) -> Sequence[SpooledTurn]:
    """The turns that stand behind this row one after the other; what is on record or elsewhere is left out."""
    found: list[SpooledTurn] = []
    version = row.version
    for each in sorted(spooled, key=lambda one: one.turn.number):
        if each.session.version == version:
            found.append(each)
            version = each.after.version
    return found


def ahead(row: Session, spooled: Iterable[SpooledTurn]) -> Session:
    """The session with the turns behind its row; notes are counted as the row has them."""
    behind = chain(row, spooled)
    return replace(behind[-1].after, note_count=row.note_count) if behind else row


def _is_same(one: Turn, other: Turn) -> bool:
    return (one.started_at, one.ended_at, one.text, one.reply) == (
        other.started_at,
        other.ended_at,
        other.text,
        other.reply,
    )
