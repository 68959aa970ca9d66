"""A pin: which replica holds a session's cache, and how often that has changed."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from router.domain.fleet import ReplicaId


class PinDecision(StrEnum):
    """How a turn came to its replica; the value of the `X-Session-Pin` header."""

    NEW = "new"
    KEPT = "kept"
    MOVED = "moved"
    NONE = "none"
    """Placed without a pin: the caller named no session, or the pin store is away."""


class PinMode(StrEnum):
    """What a pin is worth while its replica lives but is full."""

    SOFT = "soft"
    """The session moves to a replica that has room."""
    HARD = "hard"
    """The session stays and waits."""


@dataclass(frozen=True, slots=True)
class Pin:
    """`generation` starts at 1 and grows by one with every move; the highest one is true."""

    replica: ReplicaId
    generation: int
    is_won: bool = field(default=False, compare=False)
    """Told with what a claim returns: whether that claim has written it."""


@dataclass(frozen=True, slots=True)
class Demand:
    """What a session asks of the replica it is placed on."""

    kv_tokens: int = 1
    """KV it is expected to hold; with the default every session counts the same."""
    cohort: str = ""
    """Names the prefix it shares with others, such as its tenant's scenario; empty: none."""


@dataclass(frozen=True, slots=True)
class InUse:
    """Sessions that were used lately."""

    sessions: Mapping[ReplicaId, int]
    contents: str = ""
    """Names what the store holds as a whole; another name means that it was emptied meanwhile."""


@dataclass(frozen=True, slots=True)
class PinnedLoad:
    """What is pinned to one replica over all routers."""

    sessions: int = 0
    kv_tokens: int = 0
