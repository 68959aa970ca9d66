"""Runs the replicas of a pool as processes of this machine, one to a slot.

Every look does what is still to be done, so a controller that was killed between any two steps leaves nothing that the
next one does not finish: an order that waits gets the slot that became free, and one that is to go is asked again.
"""

import asyncio
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import structlog
from structlog.typing import FilteringBoundLogger
from typing_extensions import override

from router.domain.fleet import ReplicaId
from router.domain.replica_spec import checked_spec
from router.errors import ReplicaInvalid
from router.fleet.adapters.processes.ending import end
from router.fleet.adapters.processes.last_words import last_words
from router.fleet.adapters.processes.launch import HOST, NotLaunched, launch
from router.fleet.adapters.processes.remains import is_alive
from router.fleet.adapters.processes.replica_shim import Run
from router.fleet.adapters.processes.shelf import Order, Shelf, Shelved
from router.fleet.domain.hosted import HostedReplica, HostPhase, Mark
from router.fleet.errors import HostUnavailable
from router.fleet.ports import ReplicaHost
from router.fleet.settings import ProcessHostSettings

_log: FilteringBoundLogger = structlog.get_logger(__name__)


class ProcessHost(ReplicaHost):
    """`weights` is the folder that stands for `{weights}`. A shim that does not end its engine in time is killed, and
    the engine with it.
    """

    def __init__(
        self,
        *,
        settings: ProcessHostSettings,
        weights: Path | None = None,
        lock_within_s: float = 5.0,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._settings = settings
        self._weights = "" if weights is None else str(weights)
        self._lock_within_s = lock_within_s
        self._clock = clock
        self._shelf = Shelf(settings.folder)
        self._refused: dict[ReplicaId, str] = {}
        """Why an order was not carried out at its last try."""

    @property
    @override
    def names_replicas(self) -> bool:
        return False

    @override
    async def list(self) -> Sequence[HostedReplica]:
        return await asyncio.to_thread(self._list)

    @override
    async def start(self, replica: ReplicaId, *, among: int) -> None:
        await asyncio.to_thread(self._start, replica)

    @override
    async def mark(self, replica: ReplicaId, mark: Mark) -> None:
        """A process knows nothing of it: it is stopped by name."""

    @override
    async def stop(self, replica: ReplicaId, *, among: int) -> None:
        await asyncio.to_thread(self._stop, replica)

    def _list(self) -> Sequence[HostedReplica]:
        with self._at_work():
            return [self._seen(one) for one in self._tended()]

    def _start(self, replica: ReplicaId) -> None:
        try:
            checked_spec(replica, f"http://{HOST}")  # it names a file
        except ReplicaInvalid as error:
            raise HostUnavailable(f"{replica!r} is no id of a replica: {error}") from error
        with self._at_work():
            if self._shelf.one(replica) is None:
                self._shelf.put(Order(replica, self._clock()))
            self._tended()

    def _stop(self, replica: ReplicaId) -> None:
        with self._at_work():
            found = self._shelf.one(replica)
            if found is not None and found.order.stopping is None:
                order = replace(found.order, stopping=self._clock())
                if not self._is_gone(replace(found, order=order)):  # first asked: a full disk must keep nobody
                    self._shelf.put(order)
            self._tended()

    @contextmanager
    def _at_work(self) -> Iterator[None]:
        try:
            with self._shelf.locked(within_s=self._lock_within_s):
                yield
        except OSError as error:
            raise HostUnavailable(f"processes of this machine: {error}") from error

    def _tended(self) -> Sequence[Shelved]:
        """What is on the shelf, once all was done that can be done now."""
        kept = [one for one in self._shelf.read() if not self._is_gone(one)]
        taken = Counter(one.order.slot for one in kept if one.order.slot is not None)
        free = deque((Counter(self._settings.slots) - taken).elements())
        return [self._launched(one, free) if self._waits(one) else one for one in kept]

    def _is_gone(self, one: Shelved) -> bool:
        if not end(one, grace_s=self._settings.grace_s, now=self._clock()):
            return False
        self._shelf.remove(one.order.id)
        self._refused.pop(one.order.id, None)
        return True

    @staticmethod
    def _waits(one: Shelved) -> bool:
        return one.run is None and one.order.stopping is None

    def _launched(self, one: Shelved, free: deque[str]) -> Shelved:
        slot = one.order.slot or (free.popleft() if free else None)
        if slot is None:
            return one
        order = replace(one.order, slot=slot)
        place, log = self._shelf.place(order.id), self._shelf.log(order.id)
        try:
            self._shelf.put(order)  # first the note: a slot is given once, whatever happens next
            launch(order.id, slot=slot, place=place, log=log, told=self._settings, weights=self._weights)
        except (NotLaunched, OSError) as error:
            self._refused[order.id] = str(error)
            _log.warning("replica not started", replica=order.id, detail=str(error))
            return Shelved(order, None)
        self._refused.pop(order.id, None)
        return self._shelf.one(order.id) or one

    def _seen(self, one: Shelved) -> HostedReplica:
        order, run = one.order, one.run
        if run is None:
            phase = HostPhase.PENDING if order.stopping is None else HostPhase.STOPPING
            return HostedReplica(order.id, phase, order.since, detail=self._why_it_waits(order))
        url = f"http://{HOST}:{run.port}"
        if order.stopping is not None:
            return HostedReplica(order.id, HostPhase.STOPPING, order.since, url)
        if is_alive(run) and not run.ended:
            return HostedReplica(order.id, HostPhase.RUNNING, order.since, url)
        return HostedReplica(order.id, HostPhase.EXITED, order.since, url, self._how_it_ended(order, run))

    def _why_it_waits(self, order: Order) -> str:
        if order.slot is None:
            return f"no slot is free: {len(self._settings.slots)} are in use"
        return f"it could not be started yet: {self._refused.get(order.id, 'its process has not begun')}"

    def _how_it_ended(self, order: Order, run: Run) -> str:
        if run.fault:
            return run.fault
        how = f"exit code {run.code}" if run.code >= 0 else f"signal {-run.code}"
        if not run.ended:
            how = "it was killed together with what watches over it, or the machine was started anew"
        return f"{how}: {last_words(self._shelf.log(order.id), since=run.log_began)}"
