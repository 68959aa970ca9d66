"""A fleet desk on memory, which does at once what it is told."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from typing_extensions import override

from gateway.domain.replica_state import DrainState, ReplicaState
from gateway.ports import FleetDesk
from router.domain.decision import Decision
from router.domain.fleet import ReplicaId
from router.errors import ReplicaUnknown


def state(replica: str, **changes: object) -> ReplicaState:
    one = ReplicaState(
        id=ReplicaId(replica),
        url=f"http://{replica}:8000",
        models=("smollm2",),
        health="ready",
        reason="",
        warnings=(),
        is_draining=False,
        sessions=3,
        kv_tokens=12_288,
        kv_capacity_tokens=100_000,
        in_flight=1,
    )
    return replace(one, **changes)  # type: ignore[arg-type]  # tests name the fields they change


@dataclass
class ScriptedDesk(FleetDesk):
    known: list[ReplicaState] = field(default_factory=lambda: [state("replica-1"), state("replica-2")])
    decisions: dict[str, Decision] = field(default_factory=dict)
    away: Exception | None = None
    within_s: float | None = None

    @override
    async def replicas(self) -> Sequence[ReplicaState]:
        if self.away is not None:
            raise self.away
        return self.known

    @override
    async def replica(self, replica: ReplicaId) -> ReplicaState:
        found = next((each for each in await self.replicas() if each.id == replica), None)
        if found is None:
            raise ReplicaUnknown(replica)
        return found

    @override
    async def drain(self, replica: ReplicaId, *, within_s: float | None) -> None:
        found = await self.replica(replica)
        self.within_s = within_s
        drain = DrainState(
            acknowledged=1,
            missing=0,
            in_flight=1,
            sessions_left=3,
            seconds_left=within_s or 120.0,
            may_stop=False,
        )
        self.put(replace(found, is_draining=True, drain=drain))

    @override
    async def undo_drain(self, replica: ReplicaId) -> None:
        self.put(replace(await self.replica(replica), is_draining=False, drain=None))

    @override
    async def decision(self, request_id: str) -> Decision | None:
        return self.decisions.get(request_id)

    def put(self, changed: ReplicaState) -> None:
        self.known = [changed if each.id == changed.id else each for each in self.known]
