"""Change the scene: from the next message on the tutor plays by another script."""

from sessions.domain.session import Session, SessionId, in_scene
from sessions.domain.viewer import Viewer
from sessions.errors import SceneUnknown, SessionClosed
from sessions.ports import Clock, OutboxEntry, Records, TurnLock, UnitOfWork, WorkingSets
from sessions.use_cases.read_scenario import known_scenario
from sessions.use_cases.read_session import visible_session


class ChangeScene:
    def __init__(self, *, records: Records, lock: TurnLock, working_sets: WorkingSets, clock: Clock) -> None:
        self._records = records
        self._lock = lock
        self._working_sets = working_sets
        self._clock = clock

    async def __call__(self, viewer: Viewer, session: SessionId, scene: str) -> Session:
        """Going where the session is already is nothing.

        Raises `SessionNotFound`, `SceneUnknown`, `SessionClosed`, or `SessionBusy` while a turn runs.
        """
        async with self._records.begin() as work:
            await self._checked(work, viewer, session, scene)
        async with self._lock.hold(session):
            changed = await self._change(viewer, session, scene)
            # It tells of the row before; the next turn makes it anew.
            await self._working_sets.drop(session)
        return changed

    async def _change(self, viewer: Viewer, session: SessionId, scene: str) -> Session:
        now = self._clock.now()
        async with self._records.begin() as work:
            found, number = await self._checked(work, viewer, session, scene)
            changed = in_scene(found, scene)
            if changed is not found:
                await work.sessions.advance(changed)
                facts = {"scene": number, "turns": changed.turn_count}
                await work.outbox.add(OutboxEntry(changed.tenant, "session.scene", str(session), facts, now))
        return changed

    async def _checked(self, work: UnitOfWork, viewer: Viewer, session: SessionId, scene: str) -> tuple[Session, int]:
        """The session, and the place of the scene in its scenario, from 1."""
        found = await visible_session(work, viewer, session)
        if not found.is_open:
            raise SessionClosed("the session is closed")
        scenario = await known_scenario(work, found.tenant, found.scenario, found.scenario_version)
        names = [known.name for known in scenario.content.scenes]
        if scene not in names:
            raise SceneUnknown(known=names)
        return found, names.index(scene) + 1
