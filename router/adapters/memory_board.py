"""The board in this process's memory; the definition that `redis_board` follows."""

import time
from collections.abc import Callable, Mapping
from dataclasses import replace

from typing_extensions import override

from router.domain.board import Board, Drain, RouterId, RouterReport
from router.domain.board_limits import DEAD_AFTER_S, check_in_flight, check_name, check_spec, has_place
from router.domain.fleet import ReplicaId, ReplicaSpec
from router.errors import BoardUnavailable
from router.ports import FleetBoard


class MemoryBoard(FleetBoard):
    """For one process."""

    def __init__(self, *, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._added: dict[ReplicaId, ReplicaSpec] = {}
        self._removed: set[ReplicaId] = set()
        self._drains: dict[ReplicaId, Drain] = {}
        self._routers: dict[RouterId, RouterReport] = {}

    @override
    async def read(self) -> Board:
        now = self._bury_the_dead()
        return Board(
            now=now,
            added=tuple(self._added[replica] for replica in sorted(self._added)),
            removed=frozenset(self._removed),
            drains=dict(self._drains),
            routers=dict(self._routers),
        )

    @override
    async def add(self, replica: ReplicaSpec) -> None:
        check_spec(replica)
        _want_place(self._added, replica.id)
        self._added[replica.id] = replica
        self._removed.discard(replica.id)
        self._drains.pop(replica.id, None)

    @override
    async def remove(self, replica: ReplicaId, *, keeps_out: bool = True) -> None:
        check_name(replica)
        if keeps_out:
            _want_place(dict.fromkeys(self._removed), replica)
            self._removed.add(replica)
        else:
            self._removed.discard(replica)
        self._added.pop(replica, None)
        self._drains.pop(replica, None)

    @override
    async def drain(self, replica: ReplicaId, *, within_s: float | None) -> None:
        check_name(replica)
        if within_s is None:
            self._drains.pop(replica, None)
            return
        _want_place(self._drains, replica)
        now = self._clock()
        known = self._drains.get(replica, Drain(replica, since=now, deadline=now))
        self._drains[replica] = replace(known, deadline=now + within_s)

    @override
    async def report(self, router: RouterId, in_flight: Mapping[ReplicaId, int] | None) -> None:
        check_name(router)
        now = self._bury_the_dead()
        if in_flight is None:
            self._routers.pop(router, None)
            return
        check_in_flight(in_flight)
        _want_place(self._routers, router)
        self._routers[router] = RouterReport(router, now, dict(in_flight))

    def _bury_the_dead(self) -> float:
        now = self._clock()
        self._routers = {name: said for name, said in self._routers.items() if said.at > now - DEAD_AFTER_S}
        return now


def _want_place(taken: Mapping[ReplicaId, object] | Mapping[RouterId, object], name: str) -> None:
    if name not in taken and not has_place(len(taken)):
        raise BoardUnavailable("the board is full")
