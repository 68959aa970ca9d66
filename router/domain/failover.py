"""What is done after a replica has failed a turn. Where it goes next is the business of placement.

A call's first move away from a replica that is *lost* is free of the retry budget: the work there has ended, so the
pool gets no more of it than before, and a class whose replica dies moves as a whole, be its replies begun or not. A
replica that stays silent or refuses while it lives may be one of many that are overloaded; what is asked again because
of it is paid for, and so is every further move of the same call. A reply that has begun is worth more than one that
has not: its first continuation is free whatever the reason.
"""

from dataclasses import dataclass
from enum import StrEnum

from router.errors import EngineBroke, EngineError, EngineRejected, EngineUnreachable


class Why(StrEnum):
    """Why nobody else is asked."""

    WRONG_REQUEST = "the request itself is wrong"
    NO_MORE_ATTEMPTS = "as many replicas were asked as may be"
    NOT_ALLOWED = "a reply that has begun may not be continued"
    NO_TIME = "the time of the whole reply is over"


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """Ask another replica, at once."""

    is_free: bool


@dataclass(frozen=True, slots=True)
class GiveUp:
    why: Why


@dataclass(frozen=True, slots=True)
class Failure:
    """`attempts` counts the failed one too; `is_replica_down` is what is known of it by now."""

    error: EngineError
    attempts: int
    has_begun: bool = False
    is_replica_down: bool = False
    is_late: bool = False


def after_failure(failure: Failure, *, most: int, may_continue: bool) -> Elsewhere | GiveUp:
    """What one replica finds wrong with a request, every other one would."""
    if isinstance(failure.error, EngineRejected):
        return GiveUp(Why.WRONG_REQUEST)
    if failure.has_begun and not may_continue:
        return GiveUp(Why.NOT_ALLOWED)
    if failure.is_late:
        return GiveUp(Why.NO_TIME)
    if failure.attempts >= most:
        return GiveUp(Why.NO_MORE_ATTEMPTS)
    is_lost = failure.is_replica_down or isinstance(failure.error, EngineUnreachable | EngineBroke)
    return Elsewhere(is_free=failure.attempts == 1 and (is_lost or failure.has_begun))
