"""Runs Lua scripts in Redis within a time limit; each is one atomic step."""

import asyncio
from collections.abc import Sequence
from importlib.resources import files

from redis.asyncio import Redis
from redis.commands.core import AsyncScript
from redis.exceptions import RedisError


class RedisAway(Exception):
    """Redis did not answer, or not in time, or with an error; the message says which."""


class RedisScript:
    """One script, of one or more files under lua/ in this order."""

    def __init__(self, *names: str, client: Redis, timeout_s: float) -> None:
        folder = files("router.adapters").joinpath("lua")
        text = "\n".join(folder.joinpath(f"{name}.lua").read_text("utf-8") for name in names)
        self._script = AsyncScript(client, text)
        self._timeout_s = timeout_s

    async def run(self, arguments: Sequence[str | int | float | bytes]) -> object:
        # The client retries and waits as its owner set it up; a turn waits only so long.
        try:
            async with asyncio.timeout(self._timeout_s):
                answer: object = await self._script(args=list(arguments))
        except TimeoutError as error:
            raise RedisAway(f"Redis gave no answer within {self._timeout_s:g} s") from error
        except RedisError as error:
            raise RedisAway(type(error).__name__) from error
        return answer
