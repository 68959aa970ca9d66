"""The API in a thread of its own, since commands have a loop of theirs."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import httpx

from tests.integration.api.house import House, house


@dataclass
class Running:
    house: House
    loop: asyncio.AbstractEventLoop

    @property
    def key(self) -> str:
        """An operator's."""
        return key_of(self.house.here.operator)

    @property
    def instructor_key(self) -> str:
        return key_of(self.house.here.instructor)

    def scenario(self) -> str:
        return asyncio.run_coroutine_threadsafe(self.house.scenario(), self.loop).result(30)

    def session(self) -> str:
        return asyncio.run_coroutine_threadsafe(self.house.session(), self.loop).result(30)


@contextmanager
def running() -> Iterator[Running]:
    ready, leave = threading.Event(), asyncio.Event()
    found: list[Running] = []

    async def serve() -> None:
        async with house() as opened:
            found.append(Running(opened, asyncio.get_running_loop()))
            ready.set()
            await leave.wait()

    thread = threading.Thread(target=asyncio.run, args=(serve(),))
    thread.start()
    try:
        assert ready.wait(30)
        yield found[0]
    finally:
        found[0].loop.call_soon_threadsafe(leave.set)
        thread.join()


def key_of(client: httpx.AsyncClient) -> str:
    return str(client.headers["authorization"].removeprefix("Bearer "))
