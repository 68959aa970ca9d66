"""The fleet as operators of this process see and order it; their words for what the router knows."""

from collections.abc import Awaitable, Callable, Sequence

from typing_extensions import override

from gateway.domain.replica_state import DrainState, ReplicaState
from gateway.ports import FleetDesk
from router.domain.decision import Decision
from router.domain.drain import DrainProgress
from router.domain.fleet import ReplicaId
from router.orders import FleetOrders, ReplicaStatus

Decisions = Callable[[str], Awaitable[Decision | None]]


class LocalFleetDesk(FleetDesk):
    """Of a process that routes by itself; `decisions` finds those of the other processes too."""

    def __init__(self, *, orders: FleetOrders, decisions: Decisions) -> None:
        self._orders = orders
        self._decisions = decisions

    @override
    async def replicas(self) -> Sequence[ReplicaState]:
        return [_state(status) for status in await self._orders.list()]

    @override
    async def replica(self, replica: ReplicaId) -> ReplicaState:
        return _state(await self._orders.get(replica))

    @override
    async def drain(self, replica: ReplicaId, *, within_s: float | None) -> None:
        await self._orders.drain(replica, within_s=within_s)

    @override
    async def undo_drain(self, replica: ReplicaId) -> None:
        await self._orders.undo(replica)

    @override
    async def decision(self, request_id: str) -> Decision | None:
        return await self._decisions(request_id)


def _state(status: ReplicaStatus) -> ReplicaState:
    replica, pinned = status.replica, status.pinned
    return ReplicaState(
        id=replica.id,
        url=replica.url,
        models=tuple(sorted(replica.models)),
        health=replica.health,
        reason=replica.reason,
        warnings=replica.warnings,
        is_draining=replica.is_draining,
        sessions=None if pinned is None else pinned.sessions,
        kv_tokens=None if pinned is None else pinned.kv_tokens,
        kv_capacity_tokens=replica.kv_capacity_tokens,
        in_flight=status.in_flight,
        drain=None if status.drain is None else _drain(status.drain),
    )


def _drain(drain: DrainProgress) -> DrainState:
    return DrainState(
        acknowledged=len(drain.acknowledged),
        missing=len(drain.missing),
        in_flight=drain.in_flight,
        sessions_left=drain.sessions_left,
        seconds_left=round(drain.seconds_left, 3),
        may_stop=drain.may_stop,
    )
