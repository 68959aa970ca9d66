"""A chat turn as text: what the gateway asks for as a request, and hears as pieces."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, suppress
from types import TracebackType

from typing_extensions import override

from router.carrying import Carried
from router.domain.engine_stream import EngineStream
from router.domain.exchange import StreamItem
from router.domain.fleet import ReplicaId
from router.domain.pin import PinDecision
from router.errors import EngineError

# After `[DONE]` only the end of the body is missing; who waits for it gets a connection that can be used again.
_END_OF_BODY_S = 0.5


class RoutedStream(AsyncIterator[StreamItem]):
    """A reply that a replica has taken. It may move on to another, so `replica` and `pin` tell where it is now.

    No generator, so there is nothing to close.
    """

    def __init__(self, carried: Carried) -> None:
        self._carried = carried
        self._stream = EngineStream(replica=carried.replica)
        self._items: deque[StreamItem] = deque()

    @property
    def replica(self) -> ReplicaId:
        return self._carried.replica

    @property
    def pin(self) -> PinDecision:
        return self._carried.pin

    @property
    def continued(self) -> int:
        """How often another replica has taken the reply over after it had begun."""
        return self._carried.continued

    @property
    def has_finished(self) -> bool:
        return self._stream.has_finished

    @override
    async def __anext__(self) -> StreamItem:
        while not self._items:
            if self.has_finished:
                raise StopAsyncIteration
            self._items.extend(self._stream.feed(await self._carried.read()))
        return self._items.popleft()


class OpeningTurn(AbstractAsyncContextManager[RoutedStream]):
    """Entering carries the call to a replica; leaving gives everything back."""

    def __init__(self, opening: Callable[[], Awaitable[Carried]]) -> None:
        self._opening = opening
        self._carried: Carried | None = None
        self._stream: RoutedStream | None = None

    @override
    async def __aenter__(self) -> RoutedStream:
        self._carried = await self._opening()
        self._stream = RoutedStream(self._carried)
        return self._stream

    @override
    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._carried is None or self._stream is None:
            return
        try:
            if self._stream.has_finished:
                await _to_the_end(self._carried)
        finally:
            self._carried.close()


async def _to_the_end(carried: Carried) -> None:
    with suppress(EngineError, TimeoutError):
        async with asyncio.timeout(_END_OF_BODY_S):
            while await carried.read():
                pass
