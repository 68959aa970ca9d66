"""Notices that a client has left, and stops the work for it."""

import asyncio
from collections.abc import Coroutine

from starlette.types import Receive


async def while_connected(receive: Receive, work: Coroutine[None, None, None]) -> bool:
    """Do the work, cancelled as soon as the client is gone; whether it was done. Its errors come in a group."""
    async with asyncio.TaskGroup() as group:
        working = group.create_task(work)
        watching = group.create_task(_gone(receive))
        await asyncio.wait({working, watching}, return_when=asyncio.FIRST_COMPLETED)
        done = working.done()
        working.cancel()
        watching.cancel()
    return done


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
