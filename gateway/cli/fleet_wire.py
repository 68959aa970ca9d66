"""What the public API answers operators about the fleet; members that are not named here are left alone."""

from gateway.cli.wire import Answer


class DrainView(Answer):
    acknowledged: int
    missing: int
    in_flight: int
    sessions_left: int | None = None
    seconds_left: float
    may_stop: bool


class ReplicaView(Answer):
    id: str
    models: tuple[str, ...] = ()
    health: str
    reason: str = ""
    warnings: tuple[str, ...] = ()
    is_draining: bool = False
    sessions: int | None = None
    kv_tokens: int | None = None
    kv_capacity_tokens: int | None = None
    in_flight: int | None = None
    drain: DrainView | None = None


class FleetView(Answer):
    replicas: tuple[ReplicaView, ...]


class CandidateView(Answer):
    replica: str
    sessions: int | None = None
    kv_tokens: int | None = None
    in_flight: int | None = None
    refused: str = ""


class AttemptView(Answer):
    replica: str
    why: str
    outcome: str = ""
    detail: str = ""
    continued: bool = False


class DecisionView(Answer):
    turn_id: str
    model: str
    pin: str
    generation: int = 0
    waited_ms: float = 0.0
    candidates: tuple[CandidateView, ...] = ()
    attempts: tuple[AttemptView, ...] = ()
