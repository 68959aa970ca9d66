"""The replicas as one router sees them at one moment."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import NewType

AffinityKey = NewType("AffinityKey", str)
ReplicaId = NewType("ReplicaId", str)


class Health(StrEnum):
    """What the probes and the turns have shown of a replica so far."""

    UNKNOWN = "unknown"
    READY = "ready"
    DOWN = "down"
    REFUSED = "refused"
    """It answers, but it must not serve: another model, too short a window, another tokenizer."""


@dataclass(frozen=True, slots=True)
class Replica:
    """One vLLM server: where it is, and whether it may be used."""

    id: ReplicaId
    url: str
    health: Health = Health.UNKNOWN
    reason: str = ""

    @property
    def is_ready(self) -> bool:
        return self.health is Health.READY


@dataclass(frozen=True, slots=True)
class Fleet:
    """All replicas of one pool, in a fixed order."""

    replicas: tuple[Replica, ...] = ()

    @property
    def ready(self) -> tuple[Replica, ...]:
        return tuple(replica for replica in self.replicas if replica.is_ready)

    @property
    def is_unfit(self) -> bool:
        """Whether every replica answers and none may serve: then waiting will not do."""
        return bool(self.replicas) and all(replica.health is Health.REFUSED for replica in self.replicas)

    def get(self, replica: ReplicaId) -> Replica | None:
        return next((known for known in self.replicas if known.id == replica), None)

    def without(self, replicas: Iterable[ReplicaId]) -> "Fleet":
        gone = frozenset(replicas)
        return Fleet(tuple(replica for replica in self.replicas if replica.id not in gone))
