"""The routers as the controller sees them, in this process alone: for tests, and for weeks that are simulated."""

from collections.abc import Sequence

from typing_extensions import override

from router.domain.drain import unhurried
from router.domain.fleet import ReplicaId, ReplicaSpec
from router.fleet.errors import RoutersUnavailable
from router.fleet.ports import Routers, RoutersState


class MemoryRouters(Routers):
    """They heed every order at once; their sessions are set from outside."""

    def __init__(self) -> None:
        self.joined: dict[ReplicaId, ReplicaSpec] = {}
        self.draining: set[ReplicaId] = set()
        self.sessions: dict[ReplicaId, int] = {}
        self.is_away = False

    @override
    async def state(self, replicas: Sequence[ReplicaId]) -> RoutersState:
        self._check()
        return RoutersState(
            joined=dict(self.joined),
            drains={each: unhurried(each, pinned=self.sessions.get(each, 0)) for each in self.draining},
            live_sessions={replica: self.sessions.get(replica, 0) for replica in replicas},
        )

    @override
    async def join(self, replica: ReplicaSpec) -> None:
        self._check()
        self.joined[replica.id] = replica
        self.draining.discard(replica.id)

    @override
    async def drain(self, replica: ReplicaId) -> None:
        self._check()
        self.draining.add(replica)

    @override
    async def keep(self, replica: ReplicaId) -> None:
        self._check()
        self.draining.discard(replica)

    @override
    async def leave(self, replica: ReplicaId) -> None:
        self._check()
        self.joined.pop(replica, None)
        self.draining.discard(replica)
        self.sessions.pop(replica, None)

    def _check(self) -> None:
        if self.is_away:
            raise RoutersUnavailable("the routers cannot be reached")
