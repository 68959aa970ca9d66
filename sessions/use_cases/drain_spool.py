"""Write what waits in the spool, session by session in the order of the turns, each exactly once."""

from collections import Counter

import structlog
from structlog.typing import FilteringBoundLogger

from sessions.domain.session import SessionId
from sessions.domain.spooled import Fate, SpooledTurn, fate
from sessions.domain.viewer import Viewer
from sessions.errors import RecordsUnavailable, SessionMoved, ValueUnstorable
from sessions.ports import Records
from sessions.spool_ports import TurnSpool
from sessions.use_cases.turn_book import written

_AT_ONCE = 100

_log: FilteringBoundLogger = structlog.get_logger(__name__)


class DrainSpool:
    """`records` are the real ones, without any view on the spool. `drained` counts turns by what became of them."""

    def __init__(self, *, records: Records, spool: TurnSpool) -> None:
        self._records = records
        self._spool = spool
        self.drained: Counter[Fate] = Counter()

    async def __call__(self) -> int:
        """One round: how many turns left the spool. It ends early, and quietly, where the records are still away.

        What is wrong with one session is raised once all others have had their turn.
        """
        before, fault = self._left, None
        for session in await self._spool.waiting(limit=_AT_ONCE):
            try:
                await self._drain(session)
            except RecordsUnavailable:
                break
            except Exception as error:  # noqa: BLE001  it stays first in the list, before all others
                fault = error
        if fault is not None:
            raise fault
        return self._left - before

    @property
    def _left(self) -> int:
        return self.drained[Fate.WRITTEN] + self.drained[Fate.CONFLICT]

    async def _drain(self, session: SessionId) -> None:
        for spooled in await self._spool.of(session):
            found = await self._try(spooled)
            if found is Fate.EARLY:
                return
            self.drained[found] += 1
            if found is Fate.WRITTEN:
                await self._spool.remove(spooled)
            else:
                _log.error("spooled turn set aside", session=str(session), turn=spooled.turn.number)
                await self._spool.set_aside(spooled)

    async def _try(self, spooled: SpooledTurn) -> Fate:
        try:
            await written(self._records, spooled.session, spooled.turn)
        except SessionMoved:
            return await self._fate(spooled)
        except ValueUnstorable:
            return Fate.CONFLICT
        return Fate.WRITTEN

    async def _fate(self, spooled: SpooledTurn) -> Fate:
        session = spooled.session
        owner = Viewer(session.tenant, session.trainee, sees_all=False)
        async with self._records.begin() as work:
            row = await work.sessions.get(owner, session.id)
            stored = await work.turns.get(session.id, spooled.turn.number)
        return fate(spooled, row, stored)
