"""Which replicas make up the fleet: those of the source, and what operators have ordered."""

from collections.abc import Sequence
from dataclasses import replace

from router.domain.board import Board
from router.domain.fleet import ReplicaSpec


def members(listed: Sequence[ReplicaSpec], board: Board) -> tuple[ReplicaSpec, ...]:
    """Those of the source in its order, then those added to them; less those removed. Drained ones are closed.

    Where both name a replica the source is right: it follows a replica that moves.
    """
    known = {spec.id: spec for spec in (*board.added, *listed)}
    order = dict.fromkeys(spec.id for spec in (*listed, *board.added))
    return tuple(
        replace(known[replica], is_closed=known[replica].is_closed or replica in board.drains)
        for replica in order
        if replica not in board.removed
    )
