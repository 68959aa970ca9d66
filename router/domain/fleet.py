"""The replicas as one router sees them at one moment."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NewType

AffinityKey = NewType("AffinityKey", str)
ReplicaId = NewType("ReplicaId", str)


class Health(StrEnum):
    """What the probes, the canaries and the turns have shown of a replica so far."""

    UNKNOWN = "unknown"
    PROVING = "proving"
    """It answers and is the one meant; whether its engine generates is not known yet."""
    READY = "ready"
    DOWN = "down"
    REFUSED = "refused"
    """It answers, but it must not serve: another model, too short a window, another tokenizer."""


@dataclass(frozen=True, slots=True)
class ReplicaSpec:
    """A replica as its operator names it."""

    id: ReplicaId
    url: str
    models: frozenset[str] = frozenset()
    """What it serves; empty: whatever it lists itself."""
    is_closed: bool = False
    """It runs the turns it has and gets no new sessions, because it is about to end or says that it is not ready."""


@dataclass(frozen=True, slots=True)
class Replica:
    """One engine: where it is, and whether it may be used."""

    id: ReplicaId
    url: str
    health: Health = Health.UNKNOWN
    reason: str = ""
    models: frozenset[str] = frozenset()
    """As it lists them, once it has been asked."""
    is_draining: bool = False
    warnings: tuple[str, ...] = ()
    """What its registration found amiss without refusing it."""
    kv_capacity_tokens: int | None = None
    """The size of its KV cache; None: it does not tell."""
    window_tokens: int | None = None
    """What one turn can hold at most; None: it does not tell."""
    lives: int = field(default=0, compare=False)
    """How often it has become ready."""

    @property
    def is_ready(self) -> bool:
        return self.health is Health.READY

    @property
    def is_open(self) -> bool:
        """Whether it may be given new sessions."""
        return self.health is Health.READY and not self.is_draining


@dataclass(frozen=True, slots=True)
class Fleet:
    """All replicas of all pools, in a fixed order. A pool is the replicas that serve one model."""

    replicas: tuple[Replica, ...] = ()
    _by_id: Mapping[ReplicaId, Replica] = field(init=False, repr=False, compare=False)
    _open: dict[str, tuple[ReplicaId, ...]] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_by_id", {replica.id: replica for replica in self.replicas})

    @property
    def ready(self) -> tuple[Replica, ...]:
        return tuple(replica for replica in self.replicas if replica.is_ready)

    @property
    def models(self) -> frozenset[str]:
        return frozenset(model for replica in self.replicas for model in replica.models)

    @property
    def is_unfit(self) -> bool:
        """Whether every replica answers and none may serve: then waiting will not do."""
        return bool(self.replicas) and all(replica.health is Health.REFUSED for replica in self.replicas)

    def get(self, replica: ReplicaId) -> Replica | None:
        return self._by_id.get(replica)

    def pool(self, model: str) -> tuple[Replica, ...]:
        return tuple(replica for replica in self.replicas if model in replica.models)

    def open_to(self, model: str) -> tuple[ReplicaId, ...]:
        """The replicas of the model's pool that take new sessions; worked out once per fleet."""
        known = self._open.get(model)
        if known is None:
            known = self._open[model] = tuple(replica.id for replica in self.pool(model) if replica.is_open)
        return known
