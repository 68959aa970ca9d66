"""Stream tickets in Redis: kept by their hash, gone by themselves, and taken out in the step that reads them."""

from contextlib import AbstractAsyncContextManager

from redis.asyncio import Redis
from typing_extensions import override

from gateway.access_ports import Tickets
from gateway.adapters.redis_answer import answered
from gateway.domain.tickets import Grant, kept_as, read_grant
from gateway.errors import TicketsUnavailable


class RedisTickets(Tickets):
    """On Redis 6.2 or newer; an answer that takes longer than `timeout_s` counts as none."""

    def __init__(self, *, client: Redis, timeout_s: float = 1.0) -> None:
        self._client = client
        self._timeout_s = timeout_s

    @override
    async def give(self, grant: Grant, ticket: str, *, for_s: float) -> None:
        async with self._answered():
            await self._client.set(_key(ticket), grant.written(), px=int(for_s * 1000))

    @override
    async def redeem(self, ticket: str) -> Grant | None:
        async with self._answered():
            found = await self._client.getdel(_key(ticket))
        return read_grant(found.decode()) if isinstance(found, bytes) else None

    def _answered(self) -> AbstractAsyncContextManager[None]:
        return answered(self._timeout_s, TicketsUnavailable("Redis cannot be asked now"))


def _key(ticket: str) -> str:
    return f"dy:ticket:{kept_as(ticket)}"
