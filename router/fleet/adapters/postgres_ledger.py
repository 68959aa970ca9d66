"""What is remembered of the fleet, in Postgres, for whichever process leads and for those who only look."""

from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Row, delete, func, insert, select, text
from sqlalchemy.dialects.postgresql import insert as insert_or
from sqlalchemy.ext.asyncio import AsyncConnection
from typing_extensions import override

from router.domain.fleet import ReplicaId
from router.fleet.adapters.fence import ENTER, HOLDS
from router.fleet.adapters.fleet_database import FleetDatabase
from router.fleet.adapters.tables import floors, replicas, rounds, starts
from router.fleet.domain.demand import PoolName
from router.fleet.domain.past_starts import PastStart
from router.fleet.domain.pool_book import KEPT_STARTS, Floor, PoolBook, Round
from router.fleet.domain.replica_record import Milestone, ReplicaRecord, WarmReport
from router.fleet.errors import NotLeading
from router.fleet.ports import Ledger, Register

_STEPS = frozenset(Milestone)
_ENTER, _HOLDS = text(ENTER), text(HOLDS)


class PostgresLedger(Ledger, Register):
    """`token` tells what this process leads by (`fence`), None where it does not; who only looks needs none."""

    def __init__(self, *, database: FleetDatabase, token: Callable[[], int | None] = lambda: None) -> None:
        self._database = database
        self._token = token

    @override
    async def read(self, pool: PoolName) -> PoolBook:
        return await self.book(pool)

    @override
    async def save(self, record: ReplicaRecord, *, instead_of: ReplicaId | None = None) -> None:
        async with self._leading() as connection:
            if instead_of is not None and instead_of != record.id:
                await connection.execute(_removal(record.pool, instead_of))
            row = _replica_row(record)
            written = insert_or(replicas).values(pool=record.pool, id=record.id, **row)
            await connection.execute(written.on_conflict_do_update(index_elements=["pool", "id"], set_=row))

    @override
    async def forget(self, record: ReplicaRecord, *, start: PastStart | None = None) -> None:
        async with self._leading() as connection:
            gone = await connection.execute(_removal(record.pool, record.id))
            # Where it was forgotten before, as when the answer to that was lost, its start is told too.
            if gone.rowcount and start is not None:
                await _tell(connection, record.pool, start)

    @override
    async def tell(self, pool: PoolName, start: PastStart) -> None:
        async with self._leading() as connection:
            await _tell(connection, pool, start)

    @override
    async def show(self, round_: Round) -> None:
        row = _round_row(round_)
        async with self._leading() as connection:
            written = insert_or(rounds).values(pool=round_.pool, **row)
            await connection.execute(written.on_conflict_do_update(index_elements=["pool"], set_=row))

    @override
    async def rounds(self) -> Sequence[Round]:
        async with self._database.begun() as connection:
            return [_round(row) for row in await connection.execute(select(rounds).order_by(rounds.c.pool))]

    @override
    async def book(self, pool: PoolName) -> PoolBook:
        last = select(starts).where(starts.c.pool == pool).order_by(starts.c.id.desc()).limit(KEPT_STARTS)
        async with self._database.begun() as connection:
            records = [
                _record(row) for row in await connection.execute(select(replicas).where(replicas.c.pool == pool))
            ]
            told = [_start(row) for row in await connection.execute(last)]
            floor = (await connection.execute(select(floors).where(floors.c.pool == pool))).one_or_none()
        return PoolBook(
            pool,
            {record.id: record for record in records},
            tuple(reversed(told)),
            None if floor is None else _floor(floor),
        )

    @override
    async def set_floor(self, pool: PoolName, floor: Floor | None) -> None:
        async with self._database.begun() as connection:
            if floor is None:
                await connection.execute(delete(floors).where(floors.c.pool == pool))
                return
            row = {
                "replicas": floor.replicas,
                "until": _moment(floor.until),
                "set_by": floor.set_by,
                "reason": _storable(floor.reason),
                "set_at": func.now(),
            }
            written = insert_or(floors).values(pool=pool, **row)
            await connection.execute(written.on_conflict_do_update(index_elements=["pool"], set_=row))

    @asynccontextmanager
    async def _leading(self) -> AsyncIterator[AsyncConnection]:
        """A transaction in which this process leads to its very end; raises `NotLeading`."""
        token = self._token()
        if token is None:
            raise NotLeading("this process does not lead")
        async with self._database.begun() as connection:
            await connection.execute(_ENTER)
            if not await connection.scalar(_HOLDS, {"token": token}):
                raise NotLeading("this process has lost its lead")
            yield connection


async def _tell(connection: AsyncConnection, pool: PoolName, start: PastStart) -> None:
    row = {"began_at": _moment(start.began), "ended_at": _moment(start.ended), "went_warm": start.went_warm}
    await connection.execute(insert(starts).values(pool=pool, **row))
    oldest = select(starts.c.id).where(starts.c.pool == pool).order_by(starts.c.id.desc()).offset(KEPT_STARTS).limit(1)
    await connection.execute(delete(starts).where(starts.c.pool == pool, starts.c.id <= oldest.scalar_subquery()))


def _removal(pool: PoolName, replica: ReplicaId) -> Any:
    return delete(replicas).where(replicas.c.pool == pool, replicas.c.id == replica)


def _replica_row(record: ReplicaRecord) -> dict[str, Any]:
    return {
        "reached": {step.value: at for step, at in record.reached.items()},
        "url": record.url,
        "failure": _storable(record.failure),
        "report": None if record.report is None else asdict(record.report),
    }


def _record(row: Row[Any]) -> ReplicaRecord:
    return ReplicaRecord(
        ReplicaId(row.id),
        PoolName(row.pool),
        _reached(row.reached.items()),
        row.url,
        row.failure,
        None if row.report is None else WarmReport(**row.report),
    )


def _reached(steps: Iterable[tuple[str, float]]) -> Mapping[Milestone, float]:
    """Without steps that only a newer version knows, which may have led before this one."""
    return {Milestone(step): at for step, at in steps if step in _STEPS}


def _start(row: Row[Any]) -> PastStart:
    return PastStart(row.began_at.timestamp(), row.ended_at.timestamp(), row.went_warm)


def _floor(row: Row[Any]) -> Floor:
    return Floor(row.replicas, _seconds(row.until), row.set_by, row.reason)


def _round_row(round_: Round) -> dict[str, Any]:
    return {
        "at": _moment(round_.at),
        "leader": round_.leader,
        "wanted": round_.wanted,
        "ready": round_.ready,
        "present": round_.present,
        "wait": _storable(round_.wait),
        "short": round_.short,
        "short_at": _moment(round_.short_at),
    }


def _round(row: Row[Any]) -> Round:
    return Round(
        pool=PoolName(row.pool),
        at=row.at.timestamp(),
        leader=row.leader,
        wanted=row.wanted,
        ready=row.ready,
        present=row.present,
        wait=row.wait,
        short=row.short,
        short_at=_seconds(row.short_at),
    )


def _storable(words: str) -> str:
    """A host may tell of a process with its last words, which can be any bytes."""
    return words.replace("\0", "").encode("utf-8", "replace").decode()


def _moment(seconds: float | None) -> datetime | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC)


def _seconds(moment: datetime | None) -> float | None:
    return None if moment is None else moment.timestamp()
