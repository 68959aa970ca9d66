"""Work beside a block of code."""

import asyncio

import pytest

from gateway.wiring.background import background


async def test_work_ends_with_its_block() -> None:
    ended: list[str] = []

    async def work() -> None:
        try:
            await asyncio.get_running_loop().create_future()
        finally:
            ended.append("work")

    async with background(work(), work()):
        await asyncio.sleep(0)
        assert ended == []
    assert ended == ["work", "work"]


async def test_work_that_breaks_ends_its_block() -> None:
    async def breaks() -> None:
        raise ValueError("no")

    with pytest.raises(ExceptionGroup) as broken:
        async with background(breaks()):
            await asyncio.get_running_loop().create_future()
    assert broken.group_contains(ValueError)


async def test_an_error_of_the_block_comes_out_as_it_is_once_the_work_has_ended() -> None:
    ended: list[str] = []

    async def work() -> None:
        try:
            await asyncio.get_running_loop().create_future()
        finally:
            ended.append("work")

    async def breaks() -> None:
        async with background(work()):
            await asyncio.sleep(0)
            raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        await breaks()
    assert ended == ["work"]
