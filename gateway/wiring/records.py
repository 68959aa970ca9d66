"""The records with their spool: what a turn waits in while Postgres is away, and who empties it."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass

import structlog
from redis.asyncio import Redis
from structlog.typing import FilteringBoundLogger

from gateway.settings import Settings
from gateway.store_settings import RecordsSettings, SpoolKind
from gateway.wiring.background import background
from gateway.wiring.postgres import Postgres
from sessions.adapters.local_turn_spool import LocalTurnSpool
from sessions.adapters.postgres.records import PostgresRecords
from sessions.adapters.redis_turn_spool import RedisTurnSpool
from sessions.adapters.second_turn_spool import SecondTurnSpool
from sessions.adapters.spool_file import SpoolFile
from sessions.adapters.spooled_records import SpooledRecords
from sessions.domain.spooled import Fate
from sessions.fault_log import log_fault
from sessions.ports import Records, WorkingSets
from sessions.spool_ports import TurnSpool
from sessions.use_cases.drain_spool import DrainSpool

_LAST_ROUND_S = 2.0

_log: FilteringBoundLogger = structlog.get_logger(__name__)


class KeptRecords:
    """The records as the use cases see them. Without a `spool` a turn that cannot be written has failed."""

    def __init__(self, records: Records, spool: "_Spool | None" = None) -> None:
        self.records = records
        self.spool = None if spool is None else spool.whole
        self._parts = spool

    @property
    def has_room(self) -> bool:
        return self._parts is not None and self._parts.has_room

    def gauges(self) -> Mapping[str, float]:
        return {} if self._parts is None else self._parts.gauges()

    def counters(self) -> Mapping[str, float]:
        return {} if self._parts is None else self._parts.counters()


@dataclass(slots=True)
class _Spool:
    settings: RecordsSettings
    postgres: Postgres
    drain: DrainSpool
    whole: TurnSpool
    local: LocalTurnSpool
    shared: RedisTurnSpool | None
    shared_count: tuple[int, int] = (0, 0)
    faults: int = 0

    @property
    def has_room(self) -> bool:
        return self.local.count < self.settings.spool_turns

    def gauges(self) -> Mapping[str, float]:
        waiting, aside = self.shared_count
        return {
            "spool_turns": waiting,
            "spool_local_turns": self.local.count,
            "spool_aside": aside + len(self.local.aside),
        }

    def counters(self) -> Mapping[str, float]:
        return {
            "spool_drained": self.drain.drained[Fate.WRITTEN],
            "spool_conflicts": self.drain.drained[Fate.CONFLICT],
            "spool_faults": self.faults,
            "spool_failures": 0 if self.shared is None else self.shared.failures,
        }

    async def empty(self) -> None:
        """Again and again, as long as the process lives."""
        while True:
            await asyncio.sleep(self.settings.drain_interval_s)
            await self.round()

    async def round(self) -> None:
        try:
            if not self.postgres.reach.is_away:
                await self.drain()
            if self.shared is not None:
                self.shared_count = await self.shared.count()
        except Exception as error:  # noqa: BLE001  one turn's fault must not keep the others from being written
            self.faults += 1
            log_fault("spool not emptied", error)

    async def last_round(self) -> None:
        """What only this process holds should not end with it."""
        if self.local.count and not self.postgres.reach.is_away:
            with suppress(TimeoutError):
                async with asyncio.timeout(_LAST_ROUND_S):
                    await self.round()
        if self.local.count:
            _log.error("turns left in this process's spool", turns=self.local.count)


@asynccontextmanager
async def kept_records(
    settings: Settings, postgres: Postgres, redis: Redis, sets: WorkingSets
) -> AsyncIterator[KeptRecords]:
    """While it is entered, the spool is emptied as soon as Postgres answers."""
    wanted, real = settings.records, PostgresRecords(engine=postgres.engine)
    if wanted.spool is SpoolKind.OFF:
        yield KeptRecords(real)
        return
    folder = wanted.spool_folder
    file = None if folder is None else SpoolFile(folder=folder, name=settings.instance)
    local = LocalTurnSpool(most_turns=wanted.spool_turns, most_bytes=wanted.spool_bytes, file=file)
    shared = _shared(wanted, redis)
    whole = local if shared is None else SecondTurnSpool(shared, local)
    spool = _Spool(wanted, postgres, DrainSpool(records=real, spool=whole), whole, local, shared)
    try:
        async with background(spool.empty()):
            yield KeptRecords(SpooledRecords(records=real, spool=whole, working_sets=sets), spool)
        await spool.last_round()
    finally:
        if file is not None:
            file.close()


def _shared(wanted: RecordsSettings, redis: Redis) -> RedisTurnSpool | None:
    if wanted.spool is not SpoolKind.REDIS:
        return None
    return RedisTurnSpool(client=redis, most_turns=wanted.spool_turns, most_bytes=wanted.spool_bytes)
