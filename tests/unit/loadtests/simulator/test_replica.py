"""Who is let in, and what time it is."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from loadtests.simulator import profile_files
from loadtests.simulator.domain.engine import Engine
from loadtests.simulator.domain.faults import Faults
from loadtests.simulator.domain.lifecycle import LOADING, Event, Phase
from loadtests.simulator.errors import ENGINE_DIED, LEAVING, Refused
from loadtests.simulator.options import Options
from loadtests.simulator.replica import Replica


@pytest.fixture
async def replica() -> AsyncIterator[Replica]:
    made = Replica(options=Options(speed_up=1000), engine=Engine(profile_files.load("cpu-smollm2")), faults=Faults())
    await made.runner.start()
    for _ in LOADING:
        made.advance(Event.NEXT)
    yield made
    await made.runner.stop()


async def test_a_ready_replica_lets_everybody_in(replica: Replica) -> None:
    assert replica.phase is Phase.READY
    await replica.admit()


async def test_a_paused_replica_lets_in_when_it_resumes(replica: Replica) -> None:
    replica.advance(Event.PAUSE)
    async with asyncio.TaskGroup() as group:
        waiting = group.create_task(replica.admit())
        await asyncio.sleep(0)
        assert not waiting.done()
        replica.advance(Event.RESUME)


@pytest.mark.parametrize(("event", "words"), [(Event.TERMINATE, LEAVING), (Event.DIE, ENGINE_DIED)])
async def test_a_replica_that_goes_refuses(replica: Replica, event: Event, words: str) -> None:
    replica.advance(event)
    with pytest.raises(Refused) as refused:
        await replica.admit()
    assert (refused.value.status, refused.value.message) == (500, words)


async def test_who_waited_for_a_replica_that_goes_is_told(replica: Replica) -> None:
    replica.advance(Event.SLEEP)

    async def wait_and_leave() -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(replica.admit())
            await asyncio.sleep(0)
            replica.advance(Event.TERMINATE)

    with pytest.raises(ExceptionGroup) as failure:
        await wait_and_leave()
    assert failure.group_contains(Refused)


async def test_an_engine_that_dies_takes_the_replica_with_it(replica: Replica) -> None:
    replica.runner.kill("tried")
    assert replica.phase is Phase.DEAD
    assert replica.died.is_set()


async def test_time_counts_from_when_it_is_ready_and_faster_than_real_time(replica: Replica) -> None:
    before = replica.now_s
    await asyncio.sleep(0.01)
    assert replica.now_s - before >= 10
    assert replica.real_s(10) == 0.01


async def test_before_it_is_ready_no_time_has_passed() -> None:
    made = Replica(options=Options(), engine=Engine(profile_files.load("cpu-smollm2")), faults=Faults())
    await made.runner.start()
    assert made.now_s == 0
