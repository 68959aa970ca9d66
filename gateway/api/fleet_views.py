"""What operators get to see of the fleet and of the way of a turn; a figure that nobody can tell is null."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Self

from gateway.api.views import View
from gateway.domain.replica_state import ReplicaState
from router.domain.decision import Decision
from router.domain.fleet import Health


class DrainView(View):
    acknowledged: int
    missing: int
    in_flight: int
    sessions_left: int | None
    seconds_left: float
    may_stop: bool


class ReplicaView(View):
    id: str
    url: str
    models: tuple[str, ...]
    health: str
    reason: str
    warnings: tuple[str, ...]
    is_draining: bool
    sessions: int | None
    kv_tokens: int | None
    kv_capacity_tokens: int | None
    in_flight: int | None
    drain: DrainView | None


class PoolView(View):
    """The replicas that serve one model; those that are ready and not draining take new sessions."""

    model: str
    replicas: tuple[str, ...]
    open: int
    sessions: int | None


class FleetView(View):
    pools: tuple[PoolView, ...]
    replicas: tuple[ReplicaView, ...]

    @classmethod
    def of(cls, replicas: Sequence[ReplicaState]) -> Self:
        models = sorted({model for replica in replicas for model in replica.models})
        return cls(
            pools=tuple(_pool(model, [r for r in replicas if model in r.models]) for model in models),
            replicas=tuple(ReplicaView.model_validate(replica) for replica in replicas),
        )


class CandidateView(View):
    replica: str
    sessions: int | None
    kv_tokens: int | None
    in_flight: int | None
    refused: str


class AttemptView(View):
    replica: str
    why: str
    outcome: str
    detail: str
    continued: bool


class DecisionView(View):
    turn_id: str
    model: str
    at: datetime
    pin: str
    generation: int
    waited_ms: float
    candidates: tuple[CandidateView, ...]
    attempts: tuple[AttemptView, ...]

    @classmethod
    def of(cls, decision: Decision) -> Self:
        return cls(
            turn_id=decision.request_id,
            model=decision.model,
            at=datetime.fromtimestamp(decision.at, UTC),
            pin=decision.pin,
            generation=decision.generation,
            waited_ms=decision.waited_ms,
            candidates=tuple(CandidateView.model_validate(each) for each in decision.candidates),
            attempts=tuple(AttemptView.model_validate(each) for each in decision.attempts),
        )


def _pool(model: str, replicas: Sequence[ReplicaState]) -> PoolView:
    counted = [replica.sessions for replica in replicas if replica.sessions is not None]
    return PoolView(
        model=model,
        replicas=tuple(replica.id for replica in replicas),
        open=sum(replica.health == Health.READY and not replica.is_draining for replica in replicas),
        sessions=sum(counted) if len(counted) == len(replicas) else None,
    )
