import asyncio
import time

import pytest

from gateway.adapters.patience import patience


async def test_it_ends_what_takes_too_long() -> None:
    began = time.monotonic()
    with pytest.raises(TimeoutError):
        async with patience(0.05):
            await asyncio.Event().wait()
    assert 0.04 < time.monotonic() - began < 5


async def test_an_answer_that_came_while_this_process_stood_still_is_heard() -> None:
    here, there = asyncio.Queue[str](), asyncio.get_running_loop()
    there.call_later(0.01, here.put_nowait, "the answer")
    async with patience(0.05):
        time.sleep(0.2)  # noqa: ASYNC251 - it stands still
        assert await here.get() == "the answer"


async def test_a_cancellation_and_an_error_come_out_as_they_are() -> None:
    with pytest.raises(ZeroDivisionError):
        async with patience(5):
            raise ZeroDivisionError

    async def waits() -> None:
        async with patience(5):
            await asyncio.Event().wait()

    waiting = asyncio.create_task(waits())
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
