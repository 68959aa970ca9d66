"""Work that goes on beside a block of code."""

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager

Work = Coroutine[object, object, None]


@asynccontextmanager
async def background(*works: Work) -> AsyncIterator[None]:
    """Let it run beside the block and stop it when the block ends. When one of them breaks, the block does too.

    What the block itself raises comes out as it is.
    """
    failed: Exception | None = None
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(work) for work in works]
        try:
            yield
        except Exception as error:  # noqa: BLE001  a group would wrap it, for whoever waits for this very error
            failed = error
        finally:
            for task in tasks:
                task.cancel()
    if failed is not None:
        raise failed
