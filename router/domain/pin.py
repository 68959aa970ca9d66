"""A pin: which replica holds a session's cache, and how often that has changed."""

from dataclasses import dataclass
from enum import StrEnum

from router.domain.fleet import ReplicaId


class PinDecision(StrEnum):
    """How a turn came to its replica; the value of the `X-Session-Pin` header."""

    NEW = "new"
    KEPT = "kept"
    MOVED = "moved"
    NONE = "none"
    """Placed without the pin store, by rendezvous alone."""


@dataclass(frozen=True, slots=True)
class Pin:
    """`generation` starts at 1 and grows by one with every move; the highest one is true."""

    replica: ReplicaId
    generation: int
