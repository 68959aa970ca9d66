"""The scripts under lua/, each one atomic step in Redis."""

from importlib.resources import files

from redis.asyncio import Redis
from redis.commands.core import AsyncScript


def lua_script(client: Redis, *names: str) -> AsyncScript:
    """One script, of one or more files in this order."""
    folder = files("gateway.adapters") / "lua"
    return client.register_script("\n".join((folder / f"{name}.lua").read_text("utf-8") for name in names))
