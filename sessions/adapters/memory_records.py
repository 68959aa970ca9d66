"""The records on dictionaries, with the same promises; for tests and for trying things out."""

from asyncio import Lock
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, fields, is_dataclass, replace
from datetime import datetime
from typing import TypeVar
from uuid import UUID

from typing_extensions import override

from sessions.adapters.found_session import found_in
from sessions.domain.note import Note
from sessions.domain.page import Cursor, Page
from sessions.domain.scenario import Scenario, ScenarioContent, ScenarioId
from sessions.domain.session import Session, SessionFilter, SessionId
from sessions.domain.turn import IdempotencyKey, Turn, TurnState
from sessions.domain.viewer import AccountId, TenantId, Viewer
from sessions.errors import IdempotencyKeyReused, ScenarioNotFound, SessionMoved, ValueUnstorable
from sessions.ports import (
    FoundSession,
    Notes,
    Outbox,
    OutboxEntry,
    Records,
    Scenarios,
    Sessions,
    Turns,
    UnitOfWork,
    WithheldTexts,
)

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class _Tables:
    """All that is stored. The values are frozen, so a copy of the dictionaries is a copy of everything."""

    scenarios: dict[ScenarioId, tuple[Scenario, ...]] = field(default_factory=dict)
    """Every version of each, by number."""
    sessions: dict[SessionId, Session] = field(default_factory=dict)
    session_keys: dict[tuple[TenantId, AccountId, str], tuple[str, SessionId]] = field(default_factory=dict)
    turns: dict[SessionId, dict[int, Turn]] = field(default_factory=dict)
    outbox: list[OutboxEntry] = field(default_factory=list)
    notes: dict[SessionId, tuple[Note, ...]] = field(default_factory=dict)
    withheld: dict[tuple[SessionId, int], str] = field(default_factory=dict)

    def copy(self) -> "_Tables":
        turns = {session: dict(of_session) for session, of_session in self.turns.items()}
        return _Tables(
            dict(self.scenarios),
            dict(self.sessions),
            dict(self.session_keys),
            turns,
            list(self.outbox),
            dict(self.notes),
            dict(self.withheld),
        )


class MemoryScenarios(Scenarios):
    def __init__(self, tables: _Tables) -> None:
        self._scenarios = tables.scenarios

    @override
    async def add(self, scenario: Scenario) -> None:
        _storable(scenario.content)
        self._scenarios[scenario.id] = (scenario,)

    @override
    async def add_version(
        self, tenant: TenantId, scenario: ScenarioId, content: ScenarioContent, *, by: AccountId, at: datetime
    ) -> Scenario:
        _storable(content)
        versions = self._versions(tenant, scenario)
        if not versions:
            raise ScenarioNotFound(f"there is no scenario {scenario}")
        number = len(versions) + 1
        written = Scenario(scenario, tenant, number, number, content, created_by=by, created_at=at)
        self._scenarios[scenario] = (*(replace(version, latest_version=number) for version in versions), written)
        return written

    @override
    async def get(self, tenant: TenantId, scenario: ScenarioId, version: int | None = None) -> Scenario | None:
        versions = self._versions(tenant, scenario)
        number = len(versions) if version is None else version
        return versions[number - 1] if 1 <= number <= len(versions) else None

    @override
    async def list(self, tenant: TenantId, *, limit: int, after: Cursor | None = None) -> Page[Scenario]:
        begun = {versions[-1]: versions[0].created_at for versions in self._scenarios.values()}
        mine = [latest for latest in begun if latest.tenant == tenant]
        return _page(mine, lambda latest: Cursor(begun[latest], latest.id), limit=limit, after=after)

    def _versions(self, tenant: TenantId, scenario: ScenarioId) -> tuple[Scenario, ...]:
        return tuple(version for version in self._scenarios.get(scenario, ()) if version.tenant == tenant)


class MemorySessions(Sessions):
    def __init__(self, tables: _Tables) -> None:
        self._sessions = tables.sessions
        self._keys = tables.session_keys

    @override
    async def add(self, session: Session, idempotency: IdempotencyKey | None) -> Session:
        _storable(session, idempotency)
        if idempotency is not None:
            name = (session.tenant, session.trainee, idempotency.key)
            digest, first = self._keys.setdefault(name, (idempotency.digest, session.id))
            if digest != idempotency.digest:
                raise IdempotencyKeyReused
            if first != session.id:
                return self._sessions[first]
        self._sessions[session.id] = session
        return session

    @override
    async def by_key(self, tenant: TenantId, trainee: AccountId, idempotency: IdempotencyKey) -> Session | None:
        digest, first = self._keys.get((tenant, trainee, idempotency.key), (idempotency.digest, None))
        if digest != idempotency.digest:
            raise IdempotencyKeyReused
        return None if first is None else self._sessions[first]

    @override
    async def get(self, viewer: Viewer, session: SessionId) -> Session | None:
        found = self._sessions.get(session)
        return found if found is not None and found.is_visible_to(viewer) else None

    @override
    async def list(
        self, viewer: Viewer, which: SessionFilter, *, limit: int, after: Cursor | None = None
    ) -> Page[Session]:
        wanted = [
            session
            for session in self._sessions.values()
            if session.is_visible_to(viewer)
            and which.trainee in (None, session.trainee)
            and which.state in (None, session.state)
            and which.drill in (None, session.drill)
        ]
        return _page(wanted, lambda session: Cursor(session.created_at, session.id), limit=limit, after=after)

    @override
    async def advance(self, session: Session) -> Session:
        stored = self._sessions.get(session.id)
        if stored is None or stored.tenant != session.tenant or stored.version != session.version - 1:
            raise SessionMoved(f"the session {session.id} is not at version {session.version - 1}")
        advanced = replace(
            stored,
            state=session.state,
            scene=session.scene,
            version=session.version,
            turn_count=session.turn_count,
            closed_at=session.closed_at,
        )
        self._sessions[session.id] = advanced
        return advanced


class MemoryTurns(Turns):
    def __init__(self, tables: _Tables) -> None:
        self._sessions = tables.sessions
        self._turns = tables.turns

    @override
    async def add(self, turn: Turn) -> None:
        _storable(turn)
        of_session = self._turns.setdefault(turn.session, {})
        if turn.session not in self._sessions or turn.number in of_session or self._has_key(turn):
            raise SessionMoved(f"turn {turn.number} of session {turn.session} or its idempotency key is taken")
        of_session[turn.number] = turn

    @override
    async def all(self, session: SessionId) -> Sequence[Turn]:
        of_session = self._turns.get(session, {})
        return [of_session[number] for number in sorted(of_session)]

    @override
    async def get(self, session: SessionId, number: int) -> Turn | None:
        return self._turns.get(session, {}).get(number)

    @override
    async def page(self, session: SessionId, *, limit: int, after: int = 0) -> Sequence[Turn]:
        return [turn for turn in await self.all(session) if turn.number > after][:limit]

    @override
    async def by_key(self, session: SessionId, key: str) -> Turn | None:
        asked = [turn for turn in await self.all(session) if turn.idempotency and turn.idempotency.key == key]
        return asked[-1] if asked else None

    def _has_key(self, turn: Turn) -> bool:
        return turn.state is not TurnState.FAILED and any(
            other.idempotency is not None
            and turn.idempotency is not None
            and other.idempotency.key == turn.idempotency.key
            and other.state is not TurnState.FAILED
            for other in self._turns[turn.session].values()
        )


class MemoryNotes(Notes):
    def __init__(self, tables: _Tables) -> None:
        self._sessions = tables.sessions
        self._notes = tables.notes

    @override
    async def add(self, note: Note) -> None:
        _storable(note)
        stored = self._sessions.get(note.session)
        if stored is None or not stored.is_open or stored.note_count != note.seq - 1:
            raise SessionMoved(f"the session {note.session} takes no note {note.seq}")
        self._sessions[note.session] = replace(stored, note_count=note.seq)
        self._notes[note.session] = (*self._notes.get(note.session, ()), note)

    @override
    async def all(self, session: SessionId) -> Sequence[Note]:
        return self._notes.get(session, ())


class MemoryWithheldTexts(WithheldTexts):
    def __init__(self, tables: _Tables) -> None:
        self._texts = tables.withheld

    @override
    async def add(self, session: SessionId, turn: int, text: str) -> None:
        _storable(text)
        self._texts[session, turn] = text

    @override
    async def get(self, session: SessionId, turn: int) -> str | None:
        return self._texts.get((session, turn))


class MemoryOutbox(Outbox):
    def __init__(self, tables: _Tables) -> None:
        self._outbox = tables.outbox

    @override
    async def add(self, entry: OutboxEntry) -> None:
        self._outbox.append(entry)

    @override
    async def pending(self, *, limit: int) -> Sequence[OutboxEntry]:
        return self._outbox[:limit]


class MemoryRecords(Records):
    """Transactions run one after the other, each on a copy that takes the place of the tables when it ends well."""

    def __init__(self) -> None:
        self._tables = _Tables()
        self._turn = Lock()

    @override
    @asynccontextmanager
    async def begin(self, tenant: TenantId | None = None) -> AsyncIterator[UnitOfWork]:
        async with self._turn:
            draft = self._tables.copy()
            yield UnitOfWork(
                scenarios=MemoryScenarios(draft),
                sessions=MemorySessions(draft),
                turns=MemoryTurns(draft),
                notes=MemoryNotes(draft),
                withheld=MemoryWithheldTexts(draft),
                outbox=MemoryOutbox(draft),
            )
            self._tables = draft

    @override
    async def find(self, viewer: Viewer, session: SessionId, turn: int | str | None = None) -> FoundSession | None:
        async with self.begin(viewer.tenant) as work:
            return await found_in(work, viewer, session, turn)

    @override
    async def content(self, tenant: TenantId, scenario: ScenarioId, version: int) -> ScenarioContent | None:
        async with self.begin(tenant) as work:
            found = await work.scenarios.get(tenant, scenario, version)
        return None if found is None else found.content

    @override
    async def advance(self, session: Session, entry: OutboxEntry) -> Session:
        async with self.begin(session.tenant) as work:
            advanced = await work.sessions.advance(session)
            await work.outbox.add(entry)
        return advanced

    @override
    async def add_turn(self, session: Session, turn: Turn, entry: OutboxEntry) -> Session:
        async with self.begin(session.tenant) as work:
            advanced = await work.sessions.advance(session)
            await work.turns.add(turn)
            await work.outbox.add(entry)
        return advanced


def _page(items: Sequence[Item], place: Callable[[Item], Cursor], *, limit: int, after: Cursor | None) -> Page[Item]:
    def order(item: Item) -> tuple[datetime, UUID]:
        return place(item).at, place(item).id

    rest = sorted((item for item in items if after is None or order(item) < (after.at, after.id)), key=order)[::-1]
    shown = tuple(rest[:limit])
    return Page(shown, place(shown[-1]) if len(rest) > limit else None)


def _storable(*values: object) -> None:
    """Refuse what Postgres cannot hold: a NUL, half a surrogate pair."""
    for text in _texts(values):
        if "\x00" in text or any("\ud800" <= character <= "\udfff" for character in text):
            raise ValueUnstorable


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        yield from _texts(tuple(value.items()))
    elif isinstance(value, tuple):
        for part in value:
            yield from _texts(part)
    elif is_dataclass(value):
        for each in fields(value):
            yield from _texts(getattr(value, each.name))
