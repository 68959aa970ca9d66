"""Waiting for what another task or process will bring about."""

import asyncio
import time
from collections.abc import Callable


async def eventually(holds: Callable[[], bool], *, within_s: float = 5.0) -> None:
    """Return as soon as it holds; fail when it does not in time."""
    deadline = time.monotonic() + within_s
    while not holds():
        assert time.monotonic() < deadline, "it did not come about"
        await asyncio.sleep(0.002)
