"""A host whose replicas wait for their weights: these are fetched first, once for all of them, in the background.

A host that names its replicas itself cannot show one before it has one: there an order is refused while the weights are
on their way, and given again at the next round.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Self

import structlog
from structlog.typing import FilteringBoundLogger
from typing_extensions import override

from router.domain.fleet import ReplicaId
from router.fleet.adapters.weights_cache import WeightsCache
from router.fleet.domain.hosted import HostedReplica, HostPhase, Mark
from router.fleet.domain.weights_list import in_words
from router.fleet.errors import HostUnavailable, WeightsUnusable
from router.fleet.ports import ReplicaHost

_log: FilteringBoundLogger = structlog.get_logger(__name__)


class _Leaving(Exception):
    """The host is left while the weights are on their way."""


@dataclass(frozen=True, slots=True)
class _Order:
    """A replica that waits for its weights, or did so in vain."""

    since: float
    among: int
    failure: str = ""


class FetchingHost(ReplicaHost):
    """Fetches from when it is entered on, and again with an order after what went wrong. Leaving it ends the fetch; the
    next one goes on with what is there.
    """

    def __init__(self, *, host: ReplicaHost, weights: WeightsCache, clock: Callable[[], float]) -> None:
        self._host = host
        self._weights = weights
        self._clock = clock
        self._orders: dict[ReplicaId, _Order] = {}
        self._group = asyncio.TaskGroup()
        self._fetch: asyncio.Task[None] | None = None
        self._progress = ""
        self._failure = ""
        self._is_leaving = False

    async def __aenter__(self) -> Self:
        await self._group.__aenter__()
        self._begin()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._is_leaving = True
        await self._group.__aexit__(kind, error, trace)

    @property
    @override
    def names_replicas(self) -> bool:
        return self._host.names_replicas

    @override
    async def list(self) -> Sequence[HostedReplica]:
        hosted = list(await self._host.list())
        known = {each.id for each in hosted}
        waiting = [_shown(id_, order, self._progress) for id_, order in self._orders.items() if id_ not in known]
        return [*hosted, *waiting]

    @override
    async def start(self, replica: ReplicaId, *, among: int) -> None:
        if replica in self._orders:
            return
        if await asyncio.to_thread(self._weights.is_there):
            await self._host.start(replica, among=among)
        elif self.names_replicas:
            failure = self._failure
            self._begin()
            raise HostUnavailable(failure or f"the weights are on their way: {self._progress}")
        else:
            self._begin()
            self._orders[replica] = _Order(self._clock(), among)

    @override
    async def mark(self, replica: ReplicaId, mark: Mark) -> None:
        if replica not in self._orders:
            await self._host.mark(replica, mark)

    @override
    async def stop(self, replica: ReplicaId, *, among: int) -> None:
        if self._orders.pop(replica, None) is None:
            await self._host.stop(replica, among=among)

    def _begin(self) -> None:
        if self._fetch is None or self._fetch.done():
            self._progress, self._failure = "0 bytes so far", ""
            self._fetch = self._group.create_task(self._fetched(), name="fetch weights")

    async def _fetched(self) -> None:
        try:
            await asyncio.to_thread(self._weights.ensure, told=self._told)
        except _Leaving:
            return
        except WeightsUnusable as error:
            _log.error("the weights cannot be had", reason=str(error))
            self._failure = str(error)
            self._orders = {each: replace(order, failure=str(error)) for each, order in self._orders.items()}
        else:
            await self._start_all()

    async def _start_all(self) -> None:
        """One that its host does not take now is ordered again by whoever ordered it."""
        for replica, order in tuple(self._orders.items()):
            if order.failure:
                continue
            try:
                await self._take(replica, order)
            except HostUnavailable as error:
                _log.warning("a replica was not started", replica=replica, reason=str(error))
                self._orders.pop(replica, None)

    async def _take(self, replica: ReplicaId, order: _Order) -> None:
        await self._host.start(replica, among=order.among)
        if self._orders.pop(replica, None) is None:  # it was to be stopped just as it started
            await self._host.stop(replica, among=max(0, order.among - 1))

    def _told(self, done: int, total: int) -> None:
        """From the thread that fetches."""
        if self._is_leaving:
            raise _Leaving
        self._progress = in_words(done, total) if total else "another process fetches them"


def _shown(replica: ReplicaId, order: _Order, progress: str) -> HostedReplica:
    phase = HostPhase.EXITED if order.failure else HostPhase.FETCHING
    return HostedReplica(replica, phase, order.since, detail=order.failure or progress)
