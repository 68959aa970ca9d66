"""What the canaries' store promises, in memory and in Postgres."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from gateway.wiring.postgres import fleet_database
from router.domain.fleet import ReplicaId
from router.fleet.adapters.memory_canaries import MemoryCanaries
from router.fleet.adapters.postgres_canaries import PostgresCanaries
from router.fleet.domain.demand import PoolName
from router.fleet.errors import LedgerUnavailable
from router.fleet.ports import Canaries
from sessions.adapters.postgres.engine import postgres_engine

POOL = PoolName("smollm2")
A, B, C = (ReplicaId(name) for name in "ABC")


@pytest.fixture(params=["memory", pytest.param("postgres", marks=pytest.mark.postgres)])
async def canaries(request: pytest.FixtureRequest) -> AsyncIterator[Canaries]:
    if request.param == "memory":
        yield MemoryCanaries()
        return
    engine = postgres_engine(request.getfixturevalue("database_url"))
    yield PostgresCanaries(database=fleet_database(engine))
    await engine.dispose()


async def test_an_answer_is_kept_and_the_next_one_judged_by_it(canaries: Canaries) -> None:
    assert (await canaries.hear(POOL, "v1", "x", A)).is_right
    assert (await canaries.hear(POOL, "v1", "x", B)).is_right
    assert not (await canaries.hear(POOL, "v1", "y", C)).is_right


async def test_two_that_agree_outvote_the_first(canaries: Canaries) -> None:
    await canaries.hear(POOL, "v1", "x", A)
    assert not (await canaries.hear(POOL, "v1", "y", B)).is_right
    third = await canaries.hear(POOL, "v1", "y", C)
    assert (third.is_right, third.outvoted) == (True, A)


async def test_other_pools_and_other_engines_have_answers_of_their_own(canaries: Canaries) -> None:
    assert (await canaries.hear(POOL, "v1", "x", A)).is_right
    assert (await canaries.hear(POOL, "v2", "y", B)).is_right
    assert (await canaries.hear(PoolName("other"), "v1", "z", C)).is_right


async def test_of_answers_given_at_once_none_is_lost(canaries: Canaries) -> None:
    replicas = [ReplicaId(f"replica-{number}") for number in range(8)]
    hearings = await asyncio.gather(*(canaries.hear(POOL, "v1", replica, replica) for replica in replicas))
    assert sum(hearing.is_right for hearing in hearings) == 1
    assert max(len(hearing.known) for hearing in hearings) == len(replicas)


@pytest.mark.postgres
async def test_what_was_heard_is_there_for_the_next_process(database_url: str) -> None:
    for replica, answer, is_right in ((A, "x", True), (B, "y", False), (C, "y", True)):
        engine = postgres_engine(database_url)
        found = await PostgresCanaries(database=fleet_database(engine)).hear(POOL, "v1", answer, replica)
        await engine.dispose()
        assert found.is_right is is_right


async def test_a_database_that_is_away_is_said_in_our_words() -> None:
    engine = postgres_engine("postgresql://nobody@127.0.0.1:1/none")
    with pytest.raises(LedgerUnavailable):
        await PostgresCanaries(database=fleet_database(engine)).hear(POOL, "v1", "x", A)
    await engine.dispose()
