"""Histories of sessions: at hand in the working sets, or rebuilt from the records, and the same either way."""

import asyncio
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from sessions.domain.history import History, history
from sessions.domain.scenario import ScenarioContent
from sessions.domain.session import Session, SessionId
from sessions.domain.turn import Turn
from sessions.domain.viewer import Viewer
from sessions.errors import RecordsUnavailable
from sessions.ports import Records, WorkingSets
from sessions.use_cases.read_scenario import known_content
from sessions.use_cases.read_session import seen_session

_BEHIND_S: Final = 60.0
"""What waits in the spool of a process is written within seconds once Postgres answers, or is lost with the process."""
_MOST_BEHIND: Final = 1000


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
        self._behind: OrderedDict[tuple[SessionId, int], float] = OrderedDict()

    async def known(self, viewer: Viewer, session: SessionId) -> Known:
        """Raises `SessionNotFound`."""
        found = (await seen_session(self._records, viewer, session)).session
        told = await self.of(found)
        return Known(found, await known_content(self._records, found), told)

    async def before_a_turn(self, session: Session) -> History:
        """The same as `of`, for who holds the session's lease. Where a turn has been told that is not on record yet,
        since it waits in another process to be written, none may be played in its place: raises `RecordsUnavailable`,
        but not for ever, as it may have been lost with its process, or by the records.
        """
        at_hand = await self._at_hand(session)
        if at_hand is not None:
            return at_hand
        kept = await self._working_sets.latest(session.id)
        if kept is not None and kept[0].version > session.version and self._is_young(session.id, kept[0].version):
            raise RecordsUnavailable("a turn of the session has still to be written")
        return await self._rebuilt(session)

    def _is_young(self, session: SessionId, version: int) -> bool:
        now = asyncio.get_running_loop().time()
        since = self._behind.setdefault((session, version), now)
        if len(self._behind) > _MOST_BEHIND:
            self._behind.popitem(last=False)
        return now < since + _BEHIND_S

    async def of(self, session: Session) -> History:
        """The history of a session whose row has just been read.

        A turn or a note that was written since may be in it already. Then it is kept under a row that is gone, and
        nobody finds it there: version and note count only grow. Where they do not, since the records were set back to a
        backup of theirs, a history that ends elsewhere is none of this session.
        """
        at_hand = await self._at_hand(session)
        return await self._rebuilt(session) if at_hand is None else at_hand

    async def _at_hand(self, session: Session) -> History | None:
        at_hand = await self._working_sets.get(session)
        return at_hand if at_hand is not None and at_hand.last_turn == session.turn_count else None

    async def _rebuilt(self, session: Session) -> History:
        rebuilt = await self._on_record(session)
        if session.is_open:
            await self._working_sets.put(session, rebuilt)
        return rebuilt

    async def _on_record(self, session: Session) -> History:
        if session.turn_count == session.note_count == 0:  # whoever begins need not wait for nothing
            return history((), ())
        async with self._records.begin(session.tenant) as work:
            return history(await work.notes.all(session.id), await work.turns.all(session.id))

    async def keep(self, session: Session, told: History) -> None:
        await self._working_sets.put(session, told)

    async def turns(self, session: Session, from_turn: int, to_turn: int) -> Sequence[Turn]:
        """The turns with these numbers, as they were played, whether or not notes cover them."""
        async with self._records.begin(session.tenant) as work:
            return await work.turns.page(session.id, limit=to_turn - from_turn + 1, after=from_turn - 1)
