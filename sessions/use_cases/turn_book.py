"""Writes turns: one row, the session's next version and the outbox entry, or none of them.

What moderation withheld of a message is written with them. While the records are away the three wait in the spool as
one, and what was withheld is kept nowhere; a turn behind a spooled one waits behind it.
"""

from dataclasses import dataclass, replace

from sessions.domain.history import History
from sessions.domain.history import with_turn as longer
from sessions.domain.session import Session, with_turn
from sessions.domain.spooled import SpooledTurn
from sessions.domain.turn import Turn, TurnError, TurnState
from sessions.errors import RecordsUnavailable, SessionMoved
from sessions.ports import OutboxEntry, Records
from sessions.spool_ports import TurnSpool
from sessions.use_cases.session_histories import SessionHistories


@dataclass(frozen=True, slots=True)
class BookedTurn:
    """What is true of a turn in the end. Without a `session` it was not written."""

    turn: Turn
    history: History
    session: Session | None = None
    """The session as it is on record now, or will be once its turns have left the spool."""


async def written(records: Records, session: Session, turn: Turn, *, withheld: str = "") -> Session:
    """Write the turn behind this row of its session; raises `SessionMoved` or `RecordsUnavailable`."""
    if not withheld:
        return await records.add_turn(with_turn(session), turn, _entry(session, turn))
    async with records.begin() as work:
        stored = await work.sessions.advance(with_turn(session))
        await work.turns.add(turn)
        await work.withheld.add(turn.session, turn.number, withheld)
        await work.outbox.add(_entry(session, turn))
    return stored


class TurnBook:
    """Without a `spool` a turn that cannot be written has failed."""

    def __init__(self, *, records: Records, histories: SessionHistories, spool: TurnSpool | None = None) -> None:
        self._records = records
        self._histories = histories
        self._spool = spool

    async def add(self, session: Session, history: History, turn: Turn, *, withheld: str = "") -> BookedTurn:
        """Write the turn behind this history of the session, and keep the longer one at hand.

        `withheld` is a message that must stand nowhere in the turn.
        """
        try:
            stored = await self._stored(session, turn, withheld)
        except SessionMoved:
            return _unwritten(turn, history, "session_moved", "another turn of the session was written meanwhile")
        except RecordsUnavailable:
            return _unwritten(turn, history, "records_unavailable", "the turn could not be stored")
        grown = longer(history, turn)
        if stored.note_count == session.note_count:
            await self._histories.keep(stored, grown)
        return BookedTurn(turn, grown, stored)

    async def _stored(self, session: Session, turn: Turn, withheld: str) -> Session:
        try:
            return await written(self._records, session, turn, withheld=withheld)
        except RecordsUnavailable:
            if self._spool is None:
                raise
            return await self._spooled(self._spool, session, turn)
        except SessionMoved:
            if self._spool is None:
                raise
            return await self._behind(self._spool, session, turn, withheld)

    async def _behind(self, spool: TurnSpool, session: Session, turn: Turn, withheld: str) -> Session:
        """The row may lag behind turns that wait; they may also have been written since the row was found so."""
        waiting = await spool.of(session.id)
        if waiting and waiting[-1].after.version == session.version:
            return await self._spooled(spool, session, turn)
        return await written(self._records, session, turn, withheld=withheld)

    async def _spooled(self, spool: TurnSpool, session: Session, turn: Turn) -> Session:
        spooled = SpooledTurn(session, turn)
        await spool.put(spooled)
        return spooled.after


def _unwritten(turn: Turn, history: History, code: str, message: str) -> BookedTurn:
    failed = replace(turn, state=TurnState.FAILED, error=TurnError(code, message, retryable=True))
    return BookedTurn(failed, history)


def _entry(session: Session, turn: Turn) -> OutboxEntry:
    return OutboxEntry(
        tenant=session.tenant,
        kind=f"turn.{turn.state}",
        subject=str(turn.session),
        facts={
            "turn": turn.number,
            "replica": turn.replica,
            "continued": turn.continued,
            "model": turn.model,
            "tier": turn.tier,
            "fell_back": turn.fell_back,
            "prompt_tokens": turn.usage.prompt_tokens,
            "cached_tokens": turn.usage.cached_tokens,
            "completion_tokens": turn.usage.completion_tokens,
        },
        at=turn.ended_at,
    )
