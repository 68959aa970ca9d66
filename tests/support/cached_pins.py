"""A pin cache over a real Redis, listening."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from router.adapters.pin_cache import CachedPins, SharedPins
from router.adapters.redis_moves import RedisMoves


@asynccontextmanager
async def cached_pins(
    url: str, store: SharedPins, *, ttl_s: float, clock: Callable[[], float] = time.monotonic
) -> AsyncIterator[CachedPins]:
    """Entered once it has subscribed."""
    feed = RedisMoves(url=url, clock=clock)
    pins = CachedPins(store=store, feed=feed, ttl_s=ttl_s, clock=clock)
    running = asyncio.ensure_future(pins.run())
    try:
        await until(lambda: feed.vouches(clock()))
        yield pins
    finally:
        running.cancel()
        await asyncio.wait([running])


async def until(condition: Callable[[], bool], *, within_s: float = 10.0) -> None:
    deadline = time.monotonic() + within_s
    while not condition():
        assert time.monotonic() < deadline, "it did not come to pass"
        await asyncio.sleep(0.01)
