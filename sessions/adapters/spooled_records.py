"""The policy for records that are away: running sessions are read from what is at hand, and nothing else is.

While the records answer, what waits in the spool is shown as if it were written already. So whoever reads a turn that
was acknowledged finds it, and the next one is played behind it.
"""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from typing_extensions import override

from sessions.adapters.away_records import AtHand, away_work
from sessions.adapters.overlaid_records import overlaid_work
from sessions.adapters.remembered_scenarios import RememberedScenarios
from sessions.domain.viewer import TenantId
from sessions.errors import RecordsUnavailable
from sessions.ports import Records, UnitOfWork, WorkingSets
from sessions.spool_ports import TurnSpool


class SpooledRecords(Records):
    def __init__(self, *, records: Records, spool: TurnSpool, working_sets: WorkingSets) -> None:
        self._records = records
        self._spool = spool
        self._at_hand = AtHand(working_sets, spool)
        self._remembered = RememberedScenarios()
        self.away = 0
        """Transactions that found the records away."""

    @override
    @asynccontextmanager
    async def begin(self, tenant: TenantId | None = None) -> AsyncIterator[UnitOfWork]:
        async with AsyncExitStack() as held:
            yield await self._work(held, tenant)

    async def _work(self, held: AsyncExitStack, tenant: TenantId | None) -> UnitOfWork:
        try:
            work = await held.enter_async_context(self._records.begin(tenant))
        except RecordsUnavailable:
            self.away += 1
            return away_work(self._at_hand, self._remembered)
        return overlaid_work(work, spool=self._spool, remembered=self._remembered)
