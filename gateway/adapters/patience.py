"""A time limit that passes only as fast as this process runs."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

_STEPS: Final = 10


@asynccontextmanager
async def patience(seconds: float) -> AsyncIterator[None]:
    """Raise `TimeoutError` in the block once the time is over.

    It passes in steps, each at least one round of the loop: where it is this process that stood still, an answer that
    has come meanwhile is heard before the last of them.
    """
    loop = asyncio.get_running_loop()
    timer: asyncio.TimerHandle | None = None
    async with asyncio.timeout(None) as limit:

        def step(left: int) -> None:
            nonlocal timer
            if left:
                timer = loop.call_later(seconds / _STEPS, step, left - 1)
            else:
                limit.reschedule(0.0)

        step(_STEPS)
        try:
            yield
        finally:
            if timer is not None:
                timer.cancel()
