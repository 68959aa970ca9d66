"""Work for a client that leaves is stopped."""

import asyncio

import pytest
from starlette.types import Message

from loadtests.simulator.client import while_connected


async def test_work_that_ends_first_is_done() -> None:
    async def stay() -> Message:
        await asyncio.Event().wait()
        raise AssertionError

    async def work() -> None:
        return

    assert await while_connected(stay, work())


async def test_a_client_that_leaves_cancels_the_work() -> None:
    began, cancelled = asyncio.Event(), asyncio.Event()
    messages: list[Message] = [{"type": "http.request"}, {"type": "http.disconnect"}]

    async def leave() -> Message:
        await began.wait()
        return messages.pop(0)

    async def work() -> None:
        began.set()
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()

    assert not await while_connected(leave, work())
    assert cancelled.is_set()


async def test_what_goes_wrong_comes_out() -> None:
    async def stay() -> Message:
        await asyncio.Event().wait()
        raise AssertionError

    async def work() -> None:
        raise ValueError

    with pytest.raises(ExceptionGroup) as failure:
        await while_connected(stay, work())
    assert failure.group_contains(ValueError)
