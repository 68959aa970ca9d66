"""The scripts under lua/, each one atomic step in Redis."""

from importlib.resources import files

from redis.asyncio import Redis
from redis.commands.core import AsyncScript


def lua_script(client: Redis, name: str) -> AsyncScript:
    return client.register_script((files("sessions.adapters") / "lua" / f"{name}.lua").read_text("utf-8"))
