"""Canaries' answers in Postgres: one row for each pool and fingerprint, locked while one more is heard."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict

from sqlalchemy import ColumnElement, func, select, update
from sqlalchemy.dialects.postgresql import insert
from typing_extensions import override

from router.domain.fleet import ReplicaId
from router.fleet.adapters.fleet_database import FleetDatabase
from router.fleet.adapters.tables import canaries
from router.fleet.domain.canary import Hearing, KnownAnswer, heard
from router.fleet.domain.demand import PoolName
from router.fleet.ports import Canaries


class PostgresCanaries(Canaries):
    def __init__(self, *, database: FleetDatabase) -> None:
        self._database = database

    @override
    async def hear(self, pool: PoolName, fingerprint: str, answer: str, replica: ReplicaId) -> Hearing:
        row = _row(pool, fingerprint)
        first = insert(canaries).values(pool=pool, fingerprint=fingerprint, answers=[], first_seen_at=func.now())
        async with self._database.begun() as running:
            await running.execute(first.on_conflict_do_nothing())
            stored = await running.execute(select(canaries.c.answers).where(row).with_for_update())
            known = _answers(stored.scalar_one())
            hearing = heard(known, answer, replica)
            if hearing.known != known:
                await running.execute(
                    update(canaries).where(row).values(answers=[asdict(one) for one in hearing.known])
                )
        return hearing


def _row(pool: PoolName, fingerprint: str) -> ColumnElement[bool]:
    return (canaries.c.pool == pool) & (canaries.c.fingerprint == fingerprint)


def _answers(stored: Sequence[Mapping[str, object]]) -> tuple[KnownAnswer, ...]:
    return tuple(
        KnownAnswer(str(one["answer"]), ReplicaId(str(one["witness"])), is_confirmed=one["is_confirmed"] is True)
        for one in stored
    )
