"""When a process says that it can serve."""

import asyncio
from collections.abc import Sequence

import pytest

from gateway.model_tiers import Pool
from gateway.readiness import (
    ReadinessCheck,
    postgres_check,
    redis_check,
    replica_check,
    tell_until_ready,
    with_checks,
)
from gateway.services import Check, Readiness
from gateway.token_drift import Agreement
from router.domain.fleet import Fleet, Health, Replica, ReplicaId

UP = Replica(ReplicaId("replica-1"), "http://127.0.0.1:1", Health.READY)
DOWN = Replica(ReplicaId("replica-2"), "http://127.0.0.1:2", Health.DOWN, "connection refused")


HERE = Check(ok=True, detail="answers")


async def looked(
    *replicas: Replica,
    postgres: Check = HERE,
    redis: Check = HERE,
    pools: Sequence[Pool] = (Pool("smollm2", 2, 1),),
    tokens: Agreement | None = None,
    stopping: bool = False,
) -> Readiness:
    event = asyncio.Event()
    if stopping:
        event.set()
    return await ReadinessCheck(
        postgres=lambda: postgres,
        redis=lambda: redis,
        replicas=lambda: replica_check(Fleet(replicas)),
        models=lambda: pools,
        tokens=lambda: tokens or Agreement(ok=True, detail="agree"),
        stopping=event,
    )()


async def test_one_ready_replica_and_a_database_are_enough() -> None:
    found = await looked(UP, DOWN, redis=redis_check(is_away=True))
    assert found.ready
    assert not found.checks["redis"].ok
    assert found.checks["replicas"].detail == "1 of 2 ready"


async def test_a_replica_that_counts_otherwise_is_an_alarm_and_no_outage() -> None:
    found = await looked(UP, tokens=Agreement(ok=False, detail="1 of the last 9 turns differ"))
    assert found.ready
    assert not found.checks["tokens"].ok
    assert found.checks["tokens"].detail == "1 of the last 9 turns differ"


async def test_what_others_tell_stands_beside_it_and_counts() -> None:
    async def usual() -> Readiness:
        return Readiness({"postgres": HERE})

    guard = Check(ok=False, detail="away")
    found = await with_checks(usual, dict, lambda: {"guard": guard})()
    assert found == Readiness({"postgres": HERE, "guard": guard})
    assert not found.ready


async def test_a_pool_without_a_replica_is_named_and_no_outage() -> None:
    found = await looked(UP, pools=(Pool("a", 2, 1), Pool("b", 1, 0), Pool("c", 0, 0)))
    assert found.ready
    assert not found.checks["models"].ok
    assert found.checks["models"].detail == "no replica takes sessions for b, c"
    assert (await looked(UP)).checks["models"].detail == "1 of 1 have replicas"


async def test_without_a_database_it_is_not_ready() -> None:
    found = await looked(UP, postgres=postgres_check(missing=None, is_away=True, has_spool=False))
    assert not found.ready
    assert found.checks["postgres"].detail == "does not answer; turns are refused"


async def test_without_a_database_it_is_ready_as_long_as_turns_can_wait_for_it() -> None:
    found = await looked(UP, postgres=postgres_check(missing=None, is_away=True, has_spool=True))
    assert found.ready
    assert found.checks["postgres"] == Check(
        ok=False, detail="does not answer; running sessions go on, new ones are refused", needed=False
    )


@pytest.mark.parametrize("has_spool", [True, False])
def test_what_answers_is_well(has_spool: bool) -> None:
    assert postgres_check(missing=None, is_away=False, has_spool=has_spool) == HERE
    assert redis_check(is_away=False) == Check(ok=True, detail="answers", needed=False)


async def test_without_a_ready_replica_it_says_what_each_lacks() -> None:
    assert (await looked(DOWN)).checks["replicas"].detail == "replica-2 is down: connection refused"
    assert (await looked()).checks["replicas"].detail == "no replica is configured"
    assert not (await looked()).ready


async def test_a_stopping_process_is_not_ready() -> None:
    assert not (await looked(UP, stopping=True)).ready


async def test_a_database_that_never_served_is_needed_whatever_can_wait() -> None:
    found = await looked(UP, postgres=postgres_check(missing="lacks tables", is_away=False, has_spool=True))
    assert not found.ready
    assert found.checks["postgres"].detail == "lacks tables"


async def test_what_is_waited_for_is_told_at_once_and_seldom_until_it_is_there(
    capsys: pytest.CaptureFixture[str],
) -> None:
    asked = 0

    async def readiness() -> Readiness:
        nonlocal asked
        asked += 1
        return await looked(UP if asked > 3 else DOWN, redis=redis_check(is_away=True))

    await tell_until_ready(readiness)
    told = capsys.readouterr().out.splitlines()
    assert ["waiting" in line for line in told] == [True, False]
    assert "connection refused" in told[0]
    assert "redis" not in told[0]
    assert "ready" in told[1]


def test_between_classes_no_replica_is_no_outage_where_they_follow_the_calendar() -> None:
    none = replica_check(Fleet(()), by_calendar=True)
    assert (none.ok, none.needed) == (False, False)
    assert none.detail == "none is there; they are started before the next class"
    assert not replica_check(Fleet((DOWN,)), by_calendar=True).needed
    assert replica_check(Fleet((UP, DOWN)), by_calendar=True).ok
    assert replica_check(Fleet(())).needed
