"""The policy for a spool whose store is away, too: another one takes its place, and both are read."""

from collections.abc import Sequence

from typing_extensions import override

from sessions.domain.session import SessionId
from sessions.domain.spooled import SpooledTurn
from sessions.errors import RecordsUnavailable
from sessions.spool_ports import TurnSpool


class SecondTurnSpool(TurnSpool):
    def __init__(self, first: TurnSpool, second: TurnSpool) -> None:
        self._first = first
        self._second = second

    @override
    async def put(self, spooled: SpooledTurn) -> None:
        try:
            await self._first.put(spooled)
        except RecordsUnavailable:
            await self._second.put(spooled)

    @override
    async def of(self, session: SessionId) -> Sequence[SpooledTurn]:
        # The same turn stands in both where the first one's answer was lost.
        both = [*await self._second.of(session), *await self._first.of(session)]
        return [found[1] for found in sorted({one.turn.number: one for one in both}.items())]

    @override
    async def waiting(self, *, limit: int) -> Sequence[SessionId]:
        both = [*await self._first.waiting(limit=limit), *await self._second.waiting(limit=limit)]
        return list(dict.fromkeys(both))[:limit]

    @override
    async def remove(self, spooled: SpooledTurn) -> None:
        await self._first.remove(spooled)
        await self._second.remove(spooled)

    @override
    async def set_aside(self, spooled: SpooledTurn) -> None:
        await self._first.set_aside(spooled)
        await self._second.set_aside(spooled)
