"""When a replica that fails one request after another is left alone, and when it is tried again.

Only what the replica is to blame for counts: a lost connection, silence, HTTP 5xx. A wrong request (4xx) and a full
replica (429) say nothing against it. Each attempt of a turn is one outcome.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from router.errors import EngineBusy, EngineError, EngineRejected, EngineTimedOut

_TOO_MANY_REQUESTS = 429


class Position(StrEnum):
    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half-open"
    """One request is trying it."""


class Outcome(StrEnum):
    """What an attempt has shown."""

    SUCCESS = "success"
    """The reply came to its end."""
    BEGUN = "begun"
    """The request that tries the replica has got its first piece."""
    FAILURE = "failure"
    NEITHER = "neither"
    """It ended without showing anything: cancelled, a wrong request, a full replica."""


@dataclass(frozen=True, slots=True)
class Rule:
    failures: int
    """So many in a row open the breaker."""
    open_s: float


@dataclass(frozen=True, slots=True)
class Breaker:
    """`failures` in a row so far; an open one lets a request try from `until` on."""

    position: Position = Position.CLOSED
    failures: int = 0
    until: float = 0.0


CLOSED = Breaker()

# Requests that began before a breaker opened end after it; they neither close it nor keep it open longer: the one that
# tries decides. One that tries and shows nothing leaves the place to the next.
_AFTER: Mapping[tuple[Position, Outcome], Position] = {
    (Position.CLOSED, Outcome.SUCCESS): Position.CLOSED,
    (Position.CLOSED, Outcome.BEGUN): Position.CLOSED,
    (Position.CLOSED, Outcome.FAILURE): Position.CLOSED,
    (Position.CLOSED, Outcome.NEITHER): Position.CLOSED,
    (Position.OPEN, Outcome.SUCCESS): Position.OPEN,
    (Position.OPEN, Outcome.BEGUN): Position.OPEN,
    (Position.OPEN, Outcome.FAILURE): Position.OPEN,
    (Position.OPEN, Outcome.NEITHER): Position.OPEN,
    (Position.HALF_OPEN, Outcome.SUCCESS): Position.CLOSED,
    (Position.HALF_OPEN, Outcome.BEGUN): Position.CLOSED,
    (Position.HALF_OPEN, Outcome.FAILURE): Position.OPEN,
    (Position.HALF_OPEN, Outcome.NEITHER): Position.OPEN,
}


def after(breaker: Breaker, outcome: Outcome, *, rule: Rule, now: float) -> Breaker:
    """The outcome of a half-open breaker is that of the request that tries; leave others' outcomes out."""
    position = _AFTER[breaker.position, outcome]
    if breaker.position is Position.CLOSED:
        return _after_closed(breaker, outcome, rule, now)
    if position is breaker.position:
        return breaker
    if position is Position.CLOSED:
        # What has only begun has not proved itself: its failure opens the breaker again at once.
        return CLOSED if outcome is Outcome.SUCCESS else Breaker(failures=rule.failures - 1)
    return Breaker(Position.OPEN, breaker.failures, now + rule.open_s if outcome is Outcome.FAILURE else now)


def _after_closed(breaker: Breaker, outcome: Outcome, rule: Rule, now: float) -> Breaker:
    if outcome is Outcome.SUCCESS:
        return CLOSED
    if outcome is not Outcome.FAILURE:
        return breaker
    failures = breaker.failures + 1
    if failures < rule.failures:
        return Breaker(failures=failures)
    return Breaker(Position.OPEN, failures, now + rule.open_s)


def may_pass(breaker: Breaker, *, now: float) -> bool:
    return breaker.position is Position.CLOSED or (breaker.position is Position.OPEN and now >= breaker.until)


def passing(breaker: Breaker) -> Breaker:
    """A request goes to the replica; of an open breaker it is the one that tries."""
    return Breaker(Position.HALF_OPEN, breaker.failures) if breaker.position is Position.OPEN else breaker


def outcome_of(error: EngineError, *, gives_way: bool = False) -> Outcome:
    """`gives_way`: a call that an engine may leave waiting behind others, so that its silence says nothing."""
    if gives_way and isinstance(error, EngineTimedOut):
        return Outcome.NEITHER
    if isinstance(error, EngineRejected):
        return Outcome.NEITHER
    if isinstance(error, EngineBusy) and error.status == _TOO_MANY_REQUESTS:
        return Outcome.NEITHER
    return Outcome.FAILURE
