"""The policy for records that are away: running sessions are read from what is at hand, and nothing else is.

While the records answer, what waits in the spool is shown as if it were written already. So whoever reads a turn that
was acknowledged finds it, and the next one is played behind it.
"""

from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager

from typing_extensions import override

from sessions.adapters.away_records import AtHand, away_work
from sessions.adapters.found_session import found_in
from sessions.adapters.overlaid_records import overlaid, overlaid_work
from sessions.adapters.remembered_scenarios import RememberedScenarios
from sessions.domain.scenario import ScenarioContent, ScenarioId
from sessions.domain.session import Session, SessionId
from sessions.domain.turn import Turn
from sessions.domain.viewer import TenantId, Viewer
from sessions.errors import RecordsUnavailable
from sessions.ports import FoundSession, OutboxEntry, Records, UnitOfWork, WorkingSets
from sessions.spool_ports import TurnSpool


class SpooledRecords(Records):
    def __init__(self, *, records: Records, spool: TurnSpool, working_sets: WorkingSets) -> None:
        self._records = records
        self._spool = spool
        self._at_hand = AtHand(working_sets, spool)
        self._remembered = RememberedScenarios()
        self.away = 0
        """Transactions, and questions, that found the records away."""

    @override
    @asynccontextmanager
    async def begin(self, tenant: TenantId | None = None) -> AsyncIterator[UnitOfWork]:
        async with AsyncExitStack() as held:
            yield await self._work(held, tenant)

    @override
    async def find(self, viewer: Viewer, session: SessionId, turn: int | str | None = None) -> FoundSession | None:
        waiting = await self._spool.of(session)  # before its rows, as `Waiting` says
        try:
            with self._counting():
                found = await self._records.find(viewer, session, turn)
        except RecordsUnavailable:
            return await found_in(away_work(self._at_hand, self._remembered), viewer, session, turn)
        return None if found is None else overlaid(found, waiting, turn)

    @override
    async def content(self, tenant: TenantId, scenario: ScenarioId, version: int) -> ScenarioContent | None:
        known = self._remembered.get(tenant, scenario, version)
        if known is None:
            async with self.begin(tenant) as work:
                known = await work.scenarios.get(tenant, scenario, version)
        return None if known is None else known.content

    @override
    async def advance(self, session: Session, entry: OutboxEntry) -> Session:
        with self._counting():
            return await self._records.advance(session, entry)

    @override
    async def add_turn(self, session: Session, turn: Turn, entry: OutboxEntry) -> Session:
        with self._counting():
            return await self._records.add_turn(session, turn, entry)

    @contextmanager
    def _counting(self) -> Iterator[None]:
        try:
            yield
        except RecordsUnavailable:
            self.away += 1
            raise

    async def _work(self, held: AsyncExitStack, tenant: TenantId | None) -> UnitOfWork:
        try:
            work = await held.enter_async_context(self._records.begin(tenant))
        except RecordsUnavailable:
            self.away += 1
            return away_work(self._at_hand, self._remembered)
        return overlaid_work(work, spool=self._spool, remembered=self._remembered)
