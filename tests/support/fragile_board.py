"""A board in memory that can be taken away."""

from collections.abc import Callable, Mapping

from typing_extensions import override

from router.adapters.memory_board import MemoryBoard
from router.domain.board import Board, RouterId
from router.domain.fleet import ReplicaId
from router.errors import BoardUnavailable


class FragileBoard(MemoryBoard):
    """While `broken`, it can be neither read nor told anything."""

    def __init__(self, *, clock: Callable[[], float]) -> None:
        super().__init__(clock=clock)
        self.broken = False

    @override
    async def read(self) -> Board:
        self._check()
        return await super().read()

    @override
    async def report(self, router: RouterId, in_flight: Mapping[ReplicaId, int] | None) -> None:
        self._check()
        await super().report(router, in_flight)

    def _check(self) -> None:
        if self.broken:
            raise BoardUnavailable("switched off")
