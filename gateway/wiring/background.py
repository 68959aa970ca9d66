"""Work that goes on beside a block of code."""

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager

Work = Coroutine[object, object, None]


@asynccontextmanager
async def background(*works: Work) -> AsyncIterator[None]:
    """Let it run beside the block and stop it when the block ends. When one of them breaks, the block does too."""
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(work) for work in works]
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()
