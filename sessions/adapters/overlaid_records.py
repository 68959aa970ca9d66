"""A transaction's view of the records in which the turns of the spool stand as if they were written already."""

from collections.abc import Sequence
from dataclasses import replace

from typing_extensions import override

from sessions.adapters.remembered_scenarios import RememberedScenarios
from sessions.domain.page import Cursor, Page
from sessions.domain.session import Session, SessionFilter, SessionId
from sessions.domain.spooled import SpooledTurn, ahead
from sessions.domain.turn import IdempotencyKey, Turn
from sessions.domain.viewer import AccountId, TenantId, Viewer
from sessions.ports import FoundSession, Sessions, Turns, UnitOfWork
from sessions.spool_ports import TurnSpool


class Waiting:
    """What waits of sessions, asked for once in a transaction: before its rows, since a turn that leaves the spool
    meanwhile is found in both and a turn in neither would be played again."""

    def __init__(self, spool: TurnSpool) -> None:
        self._spool = spool
        self._known: dict[SessionId, Sequence[SpooledTurn]] = {}

    async def of(self, session: SessionId) -> Sequence[SpooledTurn]:
        if session not in self._known:
            self._known[session] = await self._spool.of(session)
        return self._known[session]


class OverlaidSessions(Sessions):
    def __init__(self, sessions: Sessions, waiting: Waiting) -> None:
        self._sessions = sessions
        self._waiting = waiting

    @override
    async def add(self, session: Session, idempotency: IdempotencyKey | None) -> Session:
        return await self._sessions.add(session, idempotency)

    @override
    async def by_key(self, tenant: TenantId, trainee: AccountId, idempotency: IdempotencyKey) -> Session | None:
        return await self._sessions.by_key(tenant, trainee, idempotency)

    @override
    async def get(self, viewer: Viewer, session: SessionId) -> Session | None:
        waiting = await self._waiting.of(session)
        row = await self._sessions.get(viewer, session)
        return None if row is None else ahead(row, waiting)

    @override
    async def list(
        self, viewer: Viewer, which: SessionFilter, *, limit: int, after: Cursor | None = None
    ) -> Page[Session]:
        return await self._sessions.list(viewer, which, limit=limit, after=after)

    @override
    async def advance(self, session: Session) -> Session:
        return await self._sessions.advance(session)


class OverlaidTurns(Turns):
    def __init__(self, turns: Turns, waiting: Waiting) -> None:
        self._turns = turns
        self._waiting = waiting

    @override
    async def add(self, turn: Turn) -> None:
        await self._turns.add(turn)

    @override
    async def all(self, session: SessionId) -> Sequence[Turn]:
        waiting = await self._waiting.of(session)
        return with_waiting(await self._turns.all(session), waiting, after=0)

    @override
    async def get(self, session: SessionId, number: int) -> Turn | None:
        waiting = await self._waiting.of(session)
        return await self._turns.get(session, number) or by_number(waiting, number)

    @override
    async def page(self, session: SessionId, *, limit: int, after: int = 0) -> Sequence[Turn]:
        waiting = await self._waiting.of(session)
        stored = await self._turns.page(session, limit=limit, after=after)
        return with_waiting(stored, waiting, after=after)[:limit] if len(stored) < limit else stored

    @override
    async def by_key(self, session: SessionId, key: str) -> Turn | None:
        waiting = await self._waiting.of(session)
        return by_key(waiting, key) or await self._turns.by_key(session, key)


def overlaid_work(work: UnitOfWork, *, spool: TurnSpool, remembered: RememberedScenarios) -> UnitOfWork:
    waiting = Waiting(spool)
    return replace(
        work,
        scenarios=remembered.seeing(work.scenarios),
        sessions=OverlaidSessions(work.sessions, waiting),
        turns=OverlaidTurns(work.turns, waiting),
    )


def overlaid(found: FoundSession, waiting: Sequence[SpooledTurn], asked: int | str | None) -> FoundSession:
    session = ahead(found.session, waiting)
    match asked:
        case int():
            return FoundSession(session, found.turn or by_number(waiting, asked))
        case str():
            return FoundSession(session, by_key(waiting, asked) or found.turn)
        case None:
            return FoundSession(session)


def with_waiting(stored: Sequence[Turn], waiting: Sequence[SpooledTurn], *, after: int) -> Sequence[Turn]:
    """Those that follow without a gap; `after` is the number before the first that is asked for."""
    found = list(stored)
    last = found[-1].number if found else after
    for each in waiting:
        if each.turn.number == last + 1:
            found.append(each.turn)
            last += 1
    return found


def by_number(waiting: Sequence[SpooledTurn], number: int) -> Turn | None:
    return next((each.turn for each in waiting if each.turn.number == number), None)


def by_key(waiting: Sequence[SpooledTurn], key: str) -> Turn | None:
    asked = [each.turn for each in waiting if each.turn.idempotency is not None and each.turn.idempotency.key == key]
    return asked[-1] if asked else None
