"""What a router makes of a board that was emptied, as when Redis came back without its data.

Replicas that were added by order are gone from it then, until whoever added them sees that and adds them again. They
run, and hold the sessions they held: for a while the router goes on with them. A replica that has been added again is
the board's alone from then on.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from router.domain.board import Board, RouterId
from router.domain.fleet import ReplicaId, ReplicaSpec

REMEMBERED_S = 60.0
"""Longer than any pause between two rounds of the controller that adds them again."""


@dataclass(frozen=True, slots=True)
class Memory:
    """Replicas that were added before the board was emptied, and until when they are gone on with."""

    added: Mapping[ReplicaId, ReplicaSpec] = field(default_factory=dict)
    until: float = 0.0
    """By the board's clock."""


NOTHING = Memory()


def is_emptied(board: Board, before: Board, router: RouterId) -> bool:
    """`before` is what this router read last, and reported upon: its own report would be there otherwise."""
    return bool(before.added) and not board.added and router not in board.routers


def recalled(board: Board, memory: Memory) -> tuple[Board, Memory]:
    """The board with what is remembered, and what is to be remembered further."""
    known = {spec.id for spec in board.added} | board.removed
    left = {name: spec for name, spec in memory.added.items() if name not in known and board.now < memory.until}
    return replace(board, added=(*board.added, *left.values())), replace(memory, added=left)


def remembered(before: Board, *, now: float) -> Memory:
    return Memory({spec.id: spec for spec in before.added}, now + REMEMBERED_S)
