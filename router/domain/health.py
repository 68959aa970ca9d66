"""How a replica's health follows from what the probes and the turns see of it."""

from collections.abc import Mapping
from enum import StrEnum

from router.domain.fleet import Health


class Observation(StrEnum):
    """One thing seen of one replica."""

    ACCEPTED = "accepted"
    """A probe found it alive and fit to serve: right model, window and tokenizer."""
    REFUSED = "refused"
    """A probe found it alive and unfit."""
    PROBE_PASSED = "probe passed"
    """A replica that was accepted before still answers."""
    PROBE_FAILED = "probe failed"
    TURN_LOST = "turn lost"
    """A turn could not connect."""


# DOWN is left only when a probe has looked at the replica anew: what comes back may be another model. A PROBE_PASSED
# in another state than READY was under way while that state changed, and says nothing about fitness.
_AFTER: Mapping[tuple[Health, Observation], Health] = {
    (Health.UNKNOWN, Observation.ACCEPTED): Health.READY,
    (Health.UNKNOWN, Observation.REFUSED): Health.REFUSED,
    (Health.UNKNOWN, Observation.PROBE_PASSED): Health.UNKNOWN,
    (Health.UNKNOWN, Observation.PROBE_FAILED): Health.DOWN,
    (Health.UNKNOWN, Observation.TURN_LOST): Health.DOWN,
    (Health.READY, Observation.ACCEPTED): Health.READY,
    (Health.READY, Observation.REFUSED): Health.REFUSED,
    (Health.READY, Observation.PROBE_PASSED): Health.READY,
    (Health.READY, Observation.PROBE_FAILED): Health.DOWN,
    (Health.READY, Observation.TURN_LOST): Health.DOWN,
    (Health.DOWN, Observation.ACCEPTED): Health.READY,
    (Health.DOWN, Observation.REFUSED): Health.REFUSED,
    (Health.DOWN, Observation.PROBE_PASSED): Health.DOWN,
    (Health.DOWN, Observation.PROBE_FAILED): Health.DOWN,
    (Health.DOWN, Observation.TURN_LOST): Health.DOWN,
    (Health.REFUSED, Observation.ACCEPTED): Health.READY,
    (Health.REFUSED, Observation.REFUSED): Health.REFUSED,
    (Health.REFUSED, Observation.PROBE_PASSED): Health.REFUSED,
    (Health.REFUSED, Observation.PROBE_FAILED): Health.DOWN,
    (Health.REFUSED, Observation.TURN_LOST): Health.DOWN,
}


# A server with one busy core answers late now and then; moving its sessions for one late answer costs their caches.
_LATE_TO_FAIL = 2


def after(health: Health, observation: Observation) -> Health:
    """Every pair is in the table."""
    return _AFTER[health, observation]


def when_late(health: Health, *, in_a_row: int) -> Observation:
    """What it says of a replica that a probe got no answer in time, so many times in a row."""
    if health is Health.READY and in_a_row < _LATE_TO_FAIL:
        return Observation.PROBE_PASSED
    return Observation.PROBE_FAILED
