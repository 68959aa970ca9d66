"""What can be told of running sessions while the records are away: by the working sets, the spool and this process.

What is not at hand is not told wrongly: it raises `RecordsUnavailable`, as every change does.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import NoReturn

from typing_extensions import override

from sessions.adapters.overlaid_records import by_key, with_waiting
from sessions.adapters.remembered_scenarios import RememberedScenarios
from sessions.domain.history import History
from sessions.domain.note import Note
from sessions.domain.page import Cursor, Page
from sessions.domain.scenario import Scenario, ScenarioContent, ScenarioId
from sessions.domain.session import Session, SessionFilter, SessionId
from sessions.domain.spooled import SpooledTurn, ahead, chain
from sessions.domain.turn import IdempotencyKey, Turn
from sessions.domain.viewer import AccountId, TenantId, Viewer
from sessions.errors import RecordsUnavailable
from sessions.ports import (
    Notes,
    Outbox,
    OutboxEntry,
    Scenarios,
    Sessions,
    Turns,
    UnitOfWork,
    WithheldTexts,
    WorkingSets,
)
from sessions.spool_ports import TurnSpool


def _away() -> NoReturn:
    raise RecordsUnavailable("the database is away, and this is not at hand without it")


class AtHand:
    """Sessions as they were last seen, with what has been played since."""

    def __init__(self, working_sets: WorkingSets, spool: TurnSpool) -> None:
        self._working_sets = working_sets
        self._spool = spool

    async def session(self, session: SessionId) -> Session:
        row, waiting = await self._found(session)
        return ahead(row, waiting)

    async def turns(self, session: SessionId, *, after: int) -> Sequence[Turn]:
        """All turns behind this one; raises where some of them are not at hand."""
        row, waiting = await self._found(session)
        history = await self._history(session)
        if history is None or history.last_turn != row.turn_count or after < history.folded_to:
            _away()
        stored = [turn for turn in history.turns if turn.number > after]
        return with_waiting(stored, waiting, after=max(after, history.last_turn))

    async def by_key(self, session: SessionId, key: str) -> Turn | None:
        """Who repeats a request repeats a late one: older turns are not looked for."""
        history = await self._history(session)
        asked = [] if history is None else [t for t in history.turns if t.idempotency and t.idempotency.key == key]
        return by_key(await self._spool.of(session), key) or (asked[-1] if asked else None)

    async def _found(self, session: SessionId) -> tuple[Session, Sequence[SpooledTurn]]:
        """The row that was seen last, and the turns behind it."""
        waiting, kept = await self._spool.of(session), await self._working_sets.latest(session)
        if kept is not None:
            return kept[0], chain(kept[0], waiting)
        if waiting:
            return waiting[0].session, chain(waiting[0].session, waiting)
        _away()

    async def _history(self, session: SessionId) -> History | None:
        kept = await self._working_sets.latest(session)
        return None if kept is None else kept[1]


class _Scenarios(Scenarios):
    def __init__(self, remembered: RememberedScenarios) -> None:
        self._remembered = remembered

    @override
    async def add(self, scenario: Scenario) -> None:
        _away()

    @override
    async def add_version(
        self, tenant: TenantId, scenario: ScenarioId, content: ScenarioContent, *, by: AccountId, at: datetime
    ) -> Scenario:
        _away()

    @override
    async def get(self, tenant: TenantId, scenario: ScenarioId, version: int | None = None) -> Scenario | None:
        found = None if version is None else self._remembered.get(tenant, scenario, version)
        return found or _away()

    @override
    async def list(self, tenant: TenantId, *, limit: int, after: Cursor | None = None) -> Page[Scenario]:
        _away()


class _Sessions(Sessions):
    def __init__(self, at_hand: AtHand) -> None:
        self._at_hand = at_hand

    @override
    async def add(self, session: Session, idempotency: IdempotencyKey | None) -> Session:
        _away()

    @override
    async def by_key(self, tenant: TenantId, trainee: AccountId, idempotency: IdempotencyKey) -> Session | None:
        _away()

    @override
    async def get(self, viewer: Viewer, session: SessionId) -> Session | None:
        found = await self._at_hand.session(session)
        return found if found.is_visible_to(viewer) else None

    @override
    async def list(
        self, viewer: Viewer, which: SessionFilter, *, limit: int, after: Cursor | None = None
    ) -> Page[Session]:
        _away()

    @override
    async def advance(self, session: Session) -> Session:
        _away()


class _Turns(Turns):
    def __init__(self, at_hand: AtHand) -> None:
        self._at_hand = at_hand

    @override
    async def add(self, turn: Turn) -> None:
        _away()

    @override
    async def all(self, session: SessionId) -> Sequence[Turn]:
        return await self._at_hand.turns(session, after=0)

    @override
    async def get(self, session: SessionId, number: int) -> Turn | None:
        found = await self._at_hand.turns(session, after=number - 1)
        return found[0] if found and found[0].number == number else None

    @override
    async def page(self, session: SessionId, *, limit: int, after: int = 0) -> Sequence[Turn]:
        return (await self._at_hand.turns(session, after=after))[:limit]

    @override
    async def by_key(self, session: SessionId, key: str) -> Turn | None:
        return await self._at_hand.by_key(session, key)


class _Notes(Notes):
    @override
    async def add(self, note: Note) -> None:
        _away()

    @override
    async def all(self, session: SessionId) -> Sequence[Note]:
        _away()


class _WithheldTexts(WithheldTexts):
    @override
    async def add(self, session: SessionId, turn: int, text: str) -> None:
        _away()

    @override
    async def get(self, session: SessionId, turn: int) -> str | None:
        _away()


class _Outbox(Outbox):
    @override
    async def add(self, entry: OutboxEntry) -> None:
        _away()

    @override
    async def pending(self, *, limit: int) -> Sequence[OutboxEntry]:
        _away()


def away_work(at_hand: AtHand, remembered: RememberedScenarios) -> UnitOfWork:
    return UnitOfWork(
        scenarios=_Scenarios(remembered),
        sessions=_Sessions(at_hand),
        turns=_Turns(at_hand),
        notes=_Notes(),
        withheld=_WithheldTexts(),
        outbox=_Outbox(),
    )
