"""Stream tickets on a dictionary, with the same promises; for tests and for trying things out."""

from collections.abc import Callable

from typing_extensions import override

from gateway.access_ports import Tickets
from gateway.domain.tickets import Grant, kept_as


class MemoryTickets(Tickets):
    def __init__(self, *, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._kept: dict[str, tuple[float, Grant]] = {}

    @override
    async def give(self, grant: Grant, ticket: str, *, for_s: float) -> None:
        self._kept[kept_as(ticket)] = self._clock() + for_s, grant

    @override
    async def redeem(self, ticket: str) -> Grant | None:
        until, grant = self._kept.pop(kept_as(ticket), (0.0, None))
        return grant if self._clock() < until else None
