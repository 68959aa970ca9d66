"""Histories of sessions: at hand in the working sets, or rebuilt from the records, and the same either way."""

from collections.abc import Sequence
from dataclasses import dataclass

from sessions.domain.history import History, history
from sessions.domain.scenario import ScenarioContent
from sessions.domain.session import Session, SessionId
from sessions.domain.turn import Turn
from sessions.domain.viewer import Viewer
from sessions.ports import Records, WorkingSets
from sessions.use_cases.read_scenario import known_scenario
from sessions.use_cases.read_session import visible_session


@dataclass(frozen=True, slots=True)
class Known:
    """All that a prompt of the session is written from."""

    session: Session
    content: ScenarioContent
    history: History


class SessionHistories:
    def __init__(self, *, records: Records, working_sets: WorkingSets) -> None:
        self._records = records
        self._working_sets = working_sets

    async def known(self, viewer: Viewer, session: SessionId) -> Known:
        """Raises `SessionNotFound`."""
        async with self._records.begin() as work:
            found = await visible_session(work, viewer, session)
            scenario = await known_scenario(work, found.tenant, found.scenario, found.scenario_version)
        return Known(found, scenario.content, await self.of(found))

    async def of(self, session: Session) -> History:
        """The history of a session whose row has just been read.

        A turn or a note that was written since may be in it already. Then it is kept under a row that is gone, and
        nobody finds it there: version and note count only grow. Where they do not, since the records were set back to a
        backup of theirs, a history that ends elsewhere is none of this session.
        """
        at_hand = await self._working_sets.get(session)
        if at_hand is not None and at_hand.last_turn == session.turn_count:
            return at_hand
        async with self._records.begin(session.tenant) as work:
            rebuilt = history(await work.notes.all(session.id), await work.turns.all(session.id))
        if session.is_open:
            await self._working_sets.put(session, rebuilt)
        return rebuilt

    async def keep(self, session: Session, told: History) -> None:
        await self._working_sets.put(session, told)

    async def turns(self, session: Session, from_turn: int, to_turn: int) -> Sequence[Turn]:
        """The turns with these numbers, as they were played, whether or not notes cover them."""
        async with self._records.begin(session.tenant) as work:
            return await work.turns.page(session.id, limit=to_turn - from_turn + 1, after=from_turn - 1)
