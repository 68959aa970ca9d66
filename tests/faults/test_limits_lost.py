"""Limits while their Redis stands still: claims go on by shares, and nothing stays held that nobody holds."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from gateway.adapters.limit_scripts import LimitScripts
from gateway.adapters.memory_limits import MemoryGate
from gateway.adapters.redis_limits import RedisGate
from gateway.domain.limits import AccountLimits
from gateway.errors import AccountLimitReached
from gateway.forgiving_gate import ForgivingGate
from gateway.limit_ports import Admission, Gate
from gateway.local.redis_server import RedisServer
from gateway.store_settings import RedisSettings
from gateway.wiring.redis import shared_redis
from tests.support.eventually import eventually
from tests.support.frozen import frozen
from tests.support.limit_claims import turn_of

pytestmark = pytest.mark.redis

LIMITS = AccountLimits(turns_in_flight=100)


@asynccontextmanager
async def gates(url: str) -> AsyncIterator[tuple[ForgivingGate, RedisGate]]:
    """As a process has them."""
    async with shared_redis(url, RedisSettings(patience_s=1.5)) as redis:
        scripts = LimitScripts(client=redis.client, lease_s=6, seat_s=600, timeout_s=20)
        async with RedisGate(scripts) as shared:
            local = MemoryGate(clock=time.monotonic)
            yield ForgivingGate(shared, local=local, clock=time.monotonic), shared


async def inside(gate: Gate, until: asyncio.Event, admitted: list[Admission]) -> None:
    async with gate.admit(turn_of(None, LIMITS)) as admission:
        admitted.append(admission)
        await until.wait()


async def test_claims_go_on_by_shares_and_everything_is_given_back_afterwards(empty_redis: RedisServer) -> None:
    async with gates(empty_redis.url) as (gate, shared), asyncio.TaskGroup() as group:
        over, before, during = asyncio.Event(), list[Admission](), list[Admission]()
        for _ in range(10):
            group.create_task(inside(gate, over, before))
        await eventually(lambda: len(before) == 10, within_s=20)
        assert all(admission.lease for admission in before)
        with frozen(empty_redis.pid):
            began = time.monotonic()
            for _ in range(50):
                group.create_task(inside(gate, over, during))
            await eventually(lambda: len(during) == 50, within_s=20)
            assert time.monotonic() - began < 10
            assert gate.gauges() == {"limits_local": 1}
            assert not any(admission.lease for admission in during)
            with pytest.raises(AccountLimitReached, match="turns in flight"):
                await gate.admit(turn_of(None, LIMITS)).__aenter__()
            over.set()
            await eventually(lambda: shared.gauges()["limit_settlements_owed"] >= 10, within_s=20)
        await eventually(lambda: shared.gauges()["limit_settlements_owed"] == 0, within_s=20)
    async with gates(empty_redis.url) as (gate, _), gate.admit(turn_of(None, AccountLimits(turns_in_flight=1))) as last:
        assert last.lease
    assert gate.gauges() == {"limits_local": 0}
