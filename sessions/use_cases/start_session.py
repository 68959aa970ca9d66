"""Start a session: one trainee's run through the latest version of a scenario, on its own or in a drill."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import uuid4

from sessions.domain.drill import Drill, DrillId, admit
from sessions.domain.scenario import Scenario, ScenarioId
from sessions.domain.session import Session, SessionId
from sessions.domain.turn import IdempotencyKey
from sessions.domain.viewer import Viewer
from sessions.drill_ports import Drills, Seats
from sessions.errors import ScenarioNotFound
from sessions.ports import Clock, OutboxEntry, Records, UnitOfWork
from sessions.use_cases.read_drill import known_drill


@dataclass(frozen=True, slots=True)
class SessionOrder:
    viewer: Viewer
    scenario: ScenarioId
    metadata: Mapping[str, str]
    idempotency: IdempotencyKey | None = None
    drill: DrillId | None = None


@dataclass(frozen=True, slots=True)
class StartedSession:
    session: Session
    is_new: bool
    """Otherwise it was there already, under the order's key."""


class StartSession:
    def __init__(self, *, records: Records, drills: Drills, seats: Seats, clock: Clock) -> None:
        self._records = records
        self._drills = drills
        self._seats = seats
        self._clock = clock

    async def earlier(self, order: SessionOrder) -> Session | None:
        """The session that this order asked for before, by its key; raises `IdempotencyKeyReused`."""
        if order.idempotency is None:
            return None
        async with self._records.begin() as work:
            return await _earlier(work, order)

    async def __call__(self, order: SessionOrder) -> Session:
        return (await self.started(order)).session

    async def started(self, order: SessionOrder) -> StartedSession:
        """The new session, in its seat, or the earlier one of the same key.

        Raises `DrillNotFound`, `DrillClosed`, `DrillInvalid` for another scenario than the drill's,
        `ScenarioNotFound`, `IdempotencyKeyReused`, or that there is no seat.
        """
        async with self._records.begin() as work:
            earlier = await _earlier(work, order)
            if earlier is not None:
                return StartedSession(earlier, is_new=False)
            scenario = await work.scenarios.get(order.viewer.tenant, order.scenario)
        now = self._clock.now()
        drill = await self._drill(order, now)
        if scenario is None:
            raise ScenarioNotFound("there is no such scenario")
        wanted, written = _new_session(order, scenario, now), False
        await self._seats.take(wanted, drill)
        try:
            session = await self._write(wanted, order.idempotency)
            written = session.id == wanted.id
        finally:
            if not written:
                await self._seats.give_back(wanted)
        return StartedSession(session, is_new=written)

    async def _drill(self, order: SessionOrder, now: datetime) -> Drill | None:
        if order.drill is None:
            return None
        drill = await known_drill(self._drills, order.viewer.tenant, order.drill)
        admit(drill, order.scenario, now=now)
        return drill

    async def _write(self, wanted: Session, idempotency: IdempotencyKey | None) -> Session:
        async with self._records.begin() as work:
            session = await work.sessions.add(wanted, idempotency)
            if session.id == wanted.id:
                facts = {"scenario": str(wanted.scenario)}
                entry = OutboxEntry(wanted.tenant, "session.started", str(wanted.id), facts, wanted.created_at)
                await work.outbox.add(entry)
        return session


async def _earlier(work: UnitOfWork, order: SessionOrder) -> Session | None:
    if order.idempotency is None:
        return None
    return await work.sessions.by_key(order.viewer.tenant, order.viewer.account, order.idempotency)


def _new_session(order: SessionOrder, scenario: Scenario, now: datetime) -> Session:
    return Session(
        id=SessionId(uuid4()),
        tenant=order.viewer.tenant,
        trainee=order.viewer.account,
        scenario=scenario.id,
        scenario_version=scenario.version,
        scene=scenario.content.scenes[0].name,
        opening=scenario.content.opening.strip(),
        created_at=now,
        metadata=dict(order.metadata),
        drill=order.drill,
    )
