"""What is special to the records on dictionaries; `tests/contract` holds them to the same promises as Postgres."""

import asyncio

from sessions.adapters.memory_records import MemoryRecords
from tests.support.records_world import HERE, scenario


async def test_transactions_run_one_after_the_other() -> None:
    records = MemoryRecords()
    entered, go_on = asyncio.Event(), asyncio.Event()

    async def write() -> None:
        async with records.begin() as work:
            await work.scenarios.add(scenario())
            entered.set()
            await go_on.wait()

    async def read() -> bool:
        async with records.begin() as work:
            return await work.scenarios.get(HERE.tenant, scenario().id) is not None

    async with asyncio.TaskGroup() as group:
        group.create_task(write())
        await entered.wait()
        reading = group.create_task(read())
        await asyncio.sleep(0)
        assert not reading.done()
        go_on.set()
    assert reading.result()


async def test_two_records_know_nothing_of_each_other() -> None:
    one, other = MemoryRecords(), MemoryRecords()
    async with one.begin() as work:
        await work.scenarios.add(scenario())
    async with other.begin() as work:
        assert await work.scenarios.get(HERE.tenant, scenario().id) is None
