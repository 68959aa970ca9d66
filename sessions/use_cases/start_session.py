"""Start a session: one trainee's run through the latest version of a scenario."""

from collections.abc import Mapping
from dataclasses import dataclass
from uuid import uuid4

from sessions.domain.scenario import ScenarioId
from sessions.domain.session import Session, SessionId
from sessions.domain.turn import IdempotencyKey
from sessions.domain.viewer import Viewer
from sessions.ports import Clock, OutboxEntry, Records
from sessions.use_cases.read_scenario import known_scenario


@dataclass(frozen=True, slots=True)
class SessionOrder:
    viewer: Viewer
    scenario: ScenarioId
    metadata: Mapping[str, str]
    idempotency: IdempotencyKey | None = None


class StartSession:
    def __init__(self, *, records: Records, clock: Clock) -> None:
        self._records = records
        self._clock = clock

    async def __call__(self, order: SessionOrder) -> Session:
        """The new session, or the earlier one of the same key; raises `ScenarioNotFound` or `IdempotencyKeyReused`."""
        viewer, now = order.viewer, self._clock.now()
        async with self._records.begin() as work:
            scenario = await known_scenario(work, viewer.tenant, order.scenario)
            wanted = Session(
                id=SessionId(uuid4()),
                tenant=viewer.tenant,
                trainee=viewer.account,
                scenario=scenario.id,
                scenario_version=scenario.version,
                scene=scenario.content.scenes[0].name,
                opening=scenario.content.opening.strip(),
                created_at=now,
                metadata=dict(order.metadata),
            )
            session = await work.sessions.add(wanted, order.idempotency)
            if session.id == wanted.id:
                await work.outbox.add(
                    OutboxEntry(viewer.tenant, "session.started", str(session.id), {"scenario": str(scenario.id)}, now)
                )
        return session
