"""How a replica is emptied: what may be done when, by which router, and when it may be stopped.

A drain goes through three stages. While there is time a session moves only when it suits its trainee: between two
turns, by the router that knows its last prompt, with the prompt computed at the target beforehand. In the second half
of the time sessions move that no router remembers, because the one that served them died or has forgotten them; which
router moves which is a matter of hashing, so that they do not all do the same work. Past the deadline every router
moves whatever is left, and running replies go on elsewhere. Two routers may always try to move the same session: a pin
is moved by compare-and-set, so the second finds it moved.
"""

from dataclasses import dataclass
from enum import StrEnum
from math import inf
from typing import assert_never

from router.domain.board import Board, Drain, RouterId, RouterReport
from router.domain.fleet import AffinityKey, ReplicaId
from router.domain.rendezvous import favourite


class Stage(StrEnum):
    COURTEOUS = "courteous"
    HURRIED = "hurried"
    OVERDUE = "overdue"


@dataclass(frozen=True, slots=True)
class DrainProgress:
    """How far a drain has come, over all routers."""

    replica: ReplicaId
    acknowledged: tuple[RouterId, ...]
    """They have seen the order, and give the replica no new session."""
    missing: tuple[RouterId, ...]
    """They live, and have not seen it."""
    in_flight: int
    """Turns there, of the routers that have seen the order."""
    sessions_left: int | None
    """Sessions still pinned to it; None while the pin store is away."""
    seconds_left: float
    """Until the deadline; negative past it."""
    may_stop: bool
    """Whether the replica can be stopped without a turn noticing."""


def stage(drain: Drain, *, now: float) -> Stage:
    if now >= drain.deadline:
        return Stage.OVERDUE
    return Stage.COURTEOUS if now < (drain.since + drain.deadline) / 2 else Stage.HURRIED


def progress(board: Board, drain: Drain, *, pinned: int | None) -> DrainProgress:
    """`pinned` must have been read after the board: a session that was placed before its router saw the order then
    counts.

    Past the deadline sessions that are still pinned, because no other replica takes them, do not keep the replica from
    being stopped: their next turn is placed anew.
    """
    reports = {report.router: _streams(report, drain) for report in board.routers.values()}
    missing = tuple(sorted(router for router, streams in reports.items() if streams is None))
    in_flight = sum(streams or 0 for streams in reports.values())
    seconds_left = drain.deadline - board.now
    return DrainProgress(
        replica=drain.replica,
        acknowledged=tuple(sorted(router for router, streams in reports.items() if streams is not None)),
        missing=missing,
        in_flight=in_flight,
        sessions_left=pinned,
        seconds_left=seconds_left,
        may_stop=not missing and in_flight == 0 and (pinned == 0 or seconds_left <= 0),
    )


def unhurried(replica: ReplicaId, *, pinned: int | None) -> DrainProgress:
    """Of a drain that no router takes part in: it is over once the last session has ended by itself."""
    return progress(Board(), Drain(replica, since=0.0, deadline=inf), pinned=pinned)


def moves_it(
    key: AffinityKey, *, at: Stage, is_remembered: bool, router: RouterId, routers: tuple[RouterId, ...]
) -> bool:
    """Whether it is for this router to move the session now; `routers` are those that live, this one among them."""
    match at:
        case Stage.OVERDUE:
            return True
        case Stage.COURTEOUS:
            return is_remembered
        case Stage.HURRIED:
            return is_remembered or _chosen(key, routers) == router
        case never:
            assert_never(never)


def _chosen(key: AffinityKey, routers: tuple[RouterId, ...]) -> str:
    return favourite(key, tuple(ReplicaId(router) for router in routers)) if routers else ""


def _streams(report: RouterReport, drain: Drain) -> int | None:
    """None: it has not seen this order. What it said before the order was given is about an earlier one."""
    return report.in_flight.get(drain.replica) if report.at >= drain.since else None
