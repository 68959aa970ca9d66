"""When a process says that it can serve."""

import asyncio
from collections.abc import Sequence

import pytest

from gateway import readiness
from gateway.model_tiers import Pool
from gateway.readiness import Probe, ReadinessCheck
from gateway.services import Readiness
from gateway.token_drift import Agreement
from router.domain.fleet import Fleet, Health, Replica, ReplicaId

UP = Replica(ReplicaId("replica-1"), "http://127.0.0.1:1", Health.READY)
DOWN = Replica(ReplicaId("replica-2"), "http://127.0.0.1:2", Health.DOWN, "connection refused")


def answering(trouble: str | None = None) -> Probe:
    async def ask() -> str | None:
        return trouble

    return ask


async def silent() -> str | None:
    await asyncio.Event().wait()
    return None


async def looked(
    *replicas: Replica,
    postgres: Probe | None = None,
    redis: Probe | None = None,
    pools: Sequence[Pool] = (Pool("smollm2", 2, 1),),
    tokens: Agreement | None = None,
    stopping: bool = False,
) -> Readiness:
    event = asyncio.Event()
    if stopping:
        event.set()
    return await ReadinessCheck(
        postgres=postgres or answering(),
        redis=redis or answering(),
        fleet=lambda: Fleet(replicas),
        models=lambda: pools,
        tokens=lambda: tokens or Agreement(ok=True, detail="agree"),
        stopping=event,
    )()


async def test_one_ready_replica_and_a_database_are_enough() -> None:
    found = await looked(UP, DOWN, redis=answering("cannot be asked"))
    assert found.ready
    assert not found.checks["redis"].ok
    assert found.checks["replicas"].detail == "1 of 2 ready"


async def test_a_replica_that_counts_otherwise_is_an_alarm_and_no_outage() -> None:
    found = await looked(UP, tokens=Agreement(ok=False, detail="1 of the last 9 turns differ"))
    assert found.ready
    assert not found.checks["tokens"].ok
    assert found.checks["tokens"].detail == "1 of the last 9 turns differ"


async def test_a_pool_without_a_replica_is_named_and_no_outage() -> None:
    found = await looked(UP, pools=(Pool("a", 2, 1), Pool("b", 1, 0), Pool("c", 0, 0)))
    assert found.ready
    assert not found.checks["models"].ok
    assert found.checks["models"].detail == "no replica takes sessions for b, c"
    assert (await looked(UP)).checks["models"].detail == "1 of 1 have replicas"


async def test_without_a_database_it_is_not_ready() -> None:
    found = await looked(UP, postgres=answering("cannot be asked (OperationalError)"))
    assert not found.ready
    assert found.checks["postgres"].detail == "cannot be asked (OperationalError)"


async def test_without_a_ready_replica_it_says_what_each_lacks() -> None:
    assert (await looked(DOWN)).checks["replicas"].detail == "replica-2 is down: connection refused"
    assert (await looked()).checks["replicas"].detail == "no replica is configured"
    assert not (await looked()).ready


async def test_a_stopping_process_is_not_ready() -> None:
    assert not (await looked(UP, stopping=True)).ready


async def test_a_silent_dependency_does_not_hold_the_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readiness, "PATIENCE_S", 0.05)
    async with asyncio.timeout(1):
        found = await looked(UP, postgres=silent)
    assert found.checks["postgres"].detail == "no answer within 0.05 s"
