"""Waiting for what another task or process will bring about."""

import asyncio
import time
from collections.abc import Awaitable, Callable


async def eventually(holds: Callable[[], bool], *, within_s: float = 5.0) -> None:
    """Return as soon as it holds; fail when it does not in time."""
    deadline = time.monotonic() + within_s
    while not holds():
        assert time.monotonic() < deadline, "it did not come about"
        await asyncio.sleep(0.002)


async def comes_true(asked: Callable[[], Awaitable[object]], *, within_s: float = 30.0) -> float:
    """The same for what has to be asked; how long it took."""
    began = time.monotonic()
    while not await asked():
        assert time.monotonic() - began < within_s, "it did not come about"
        await asyncio.sleep(0.02)
    return time.monotonic() - began
