"""An `Engine` in this process that answers as it was told, and records whom it was asked for."""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from router.domain.exchange import ChatRequest, Finished, FinishReason, StreamItem, TextPiece, Usage
from router.domain.fleet import Replica, ReplicaId
from router.errors import EngineError

WHOLE_REPLY: tuple[StreamItem, ...] = (
    TextPiece("Good "),
    TextPiece("day."),
    Finished(FinishReason.STOP, Usage(9, 0, 2)),
)


class FakeEngine:
    """By default every replica gives `WHOLE_REPLY`."""

    def __init__(self) -> None:
        self.asked: list[ReplicaId] = []
        self.open = 0
        self.frozen: set[ReplicaId] = set()
        self._on_entering: dict[ReplicaId, EngineError] = {}
        self._items: dict[ReplicaId, Sequence[StreamItem | EngineError]] = defaultdict(lambda: WHOLE_REPLY)

    def refuses(self, error: EngineError) -> None:
        """Entering raises it, at the replica the error names."""
        self._on_entering[ReplicaId(error.replica)] = error

    def streams(self, replica: ReplicaId, *items: StreamItem | EngineError) -> None:
        self._items[replica] = items

    @asynccontextmanager
    async def stream(self, replica: Replica, request: ChatRequest) -> AsyncIterator[AsyncIterator[StreamItem]]:  # noqa: ARG002
        self.asked.append(replica.id)
        if replica.id in self._on_entering:
            raise self._on_entering[replica.id]
        self.open += 1
        try:
            yield self._reply(replica.id)
        finally:
            self.open -= 1

    async def _reply(self, replica: ReplicaId) -> AsyncIterator[StreamItem]:
        for item in self._items[replica]:
            if replica in self.frozen:
                await asyncio.Event().wait()
            if isinstance(item, EngineError):
                raise item
            yield item
