"""The board: what operators have ordered of the fleet, and what each router process has made of it.

A drain is *acknowledged* by a router once it has seen the order; from then on that router gives the replica no new
session. Times are seconds since the epoch, from one clock for all routers (the board's own).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NewType

from router.domain.fleet import ReplicaId, ReplicaSpec

RouterId = NewType("RouterId", str)


@dataclass(frozen=True, slots=True)
class Drain:
    """The order to empty a replica: until `deadline` sessions move when it suits them, after it at once."""

    replica: ReplicaId
    since: float
    deadline: float


@dataclass(frozen=True, slots=True)
class RouterReport:
    """What one router process last said: that it lives, and its streams in flight at each replica whose drain it has
    seen.
    """

    router: RouterId
    at: float
    in_flight: Mapping[ReplicaId, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Board:
    """`now` is the board's clock at the time of reading."""

    now: float = 0.0
    added: tuple[ReplicaSpec, ...] = ()
    removed: frozenset[ReplicaId] = frozenset()
    drains: Mapping[ReplicaId, Drain] = field(default_factory=dict)
    routers: Mapping[RouterId, RouterReport] = field(default_factory=dict)
