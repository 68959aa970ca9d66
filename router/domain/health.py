"""How a replica's health follows from what probes, canaries and turns see of it.

A replica is believed in two steps. A probe finds it fit (ACCEPTED), which says nothing of its engine: a frozen, paused
or sleeping one still lists its models. Then its canary, one generated token, finds that it works. Where canaries are
switched off, fitness is all the proof there is, and `proof_of` says so.
"""

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
    """It still answers."""
    PROBE_FAILED = "probe failed"
    TURN_LOST = "turn lost"
    """A turn's connection was refused, or reset before the answer began."""
    CONNECT_LATE = "connect late"
    """A turn got no connection in time, which a crowd causes too; a probe is to decide."""
    CANARY_PASSED = "canary passed"
    """It generated a token, or was seen generating."""
    CANARY_FAILED = "canary failed"


# DOWN is left only by way of a probe that has looked at the replica anew, since what comes back may be another model,
# and of a canary. A PROBE_PASSED or a CANARY_PASSED where none is awaited was under way while the state changed.
_AFTER: Mapping[tuple[Health, Observation], Health] = {
    (Health.UNKNOWN, Observation.ACCEPTED): Health.PROVING,
    (Health.UNKNOWN, Observation.REFUSED): Health.REFUSED,
    (Health.UNKNOWN, Observation.PROBE_PASSED): Health.UNKNOWN,
    (Health.UNKNOWN, Observation.PROBE_FAILED): Health.DOWN,
    (Health.UNKNOWN, Observation.TURN_LOST): Health.DOWN,
    (Health.UNKNOWN, Observation.CONNECT_LATE): Health.UNKNOWN,
    (Health.UNKNOWN, Observation.CANARY_PASSED): Health.UNKNOWN,
    (Health.UNKNOWN, Observation.CANARY_FAILED): Health.DOWN,
    (Health.PROVING, Observation.ACCEPTED): Health.PROVING,
    (Health.PROVING, Observation.REFUSED): Health.REFUSED,
    (Health.PROVING, Observation.PROBE_PASSED): Health.PROVING,
    (Health.PROVING, Observation.PROBE_FAILED): Health.DOWN,
    (Health.PROVING, Observation.TURN_LOST): Health.DOWN,
    (Health.PROVING, Observation.CONNECT_LATE): Health.PROVING,
    (Health.PROVING, Observation.CANARY_PASSED): Health.READY,
    (Health.PROVING, Observation.CANARY_FAILED): Health.DOWN,
    (Health.READY, Observation.ACCEPTED): Health.READY,
    (Health.READY, Observation.REFUSED): Health.REFUSED,
    (Health.READY, Observation.PROBE_PASSED): Health.READY,
    (Health.READY, Observation.PROBE_FAILED): Health.DOWN,
    (Health.READY, Observation.TURN_LOST): Health.DOWN,
    (Health.READY, Observation.CONNECT_LATE): Health.READY,
    (Health.READY, Observation.CANARY_PASSED): Health.READY,
    (Health.READY, Observation.CANARY_FAILED): Health.DOWN,
    (Health.DOWN, Observation.ACCEPTED): Health.PROVING,
    (Health.DOWN, Observation.REFUSED): Health.REFUSED,
    (Health.DOWN, Observation.PROBE_PASSED): Health.DOWN,
    (Health.DOWN, Observation.PROBE_FAILED): Health.DOWN,
    (Health.DOWN, Observation.TURN_LOST): Health.DOWN,
    (Health.DOWN, Observation.CONNECT_LATE): Health.DOWN,
    (Health.DOWN, Observation.CANARY_PASSED): Health.DOWN,
    (Health.DOWN, Observation.CANARY_FAILED): Health.DOWN,
    (Health.REFUSED, Observation.ACCEPTED): Health.PROVING,
    (Health.REFUSED, Observation.REFUSED): Health.REFUSED,
    (Health.REFUSED, Observation.PROBE_PASSED): Health.REFUSED,
    (Health.REFUSED, Observation.PROBE_FAILED): Health.DOWN,
    (Health.REFUSED, Observation.TURN_LOST): Health.DOWN,
    (Health.REFUSED, Observation.CONNECT_LATE): Health.REFUSED,
    (Health.REFUSED, Observation.CANARY_PASSED): Health.REFUSED,
    (Health.REFUSED, Observation.CANARY_FAILED): Health.DOWN,
}


# A server with one busy core answers late now and then; moving its sessions for one late answer costs their caches.
_LATE_TO_FAIL = 2


def after(health: Health, observation: Observation) -> Health:
    """Every pair is in the table."""
    return _AFTER[health, observation]


def proof_of(acceptance: Observation, *, has_canaries: bool) -> tuple[Observation, ...]:
    """What follows from a probe's verdict: without canaries an accepted replica needs no other proof."""
    if acceptance is Observation.ACCEPTED and not has_canaries:
        return (acceptance, Observation.CANARY_PASSED)
    return (acceptance,)


def when_late(health: Health, *, in_a_row: int) -> Observation:
    """What it says of a replica that a probe got no answer in time, so many times in a row."""
    if health is Health.READY and in_a_row < _LATE_TO_FAIL:
        return Observation.PROBE_PASSED
    return Observation.PROBE_FAILED


def when_canary_late(health: Health, *, in_a_row: int, has_moved: bool) -> Observation:
    """What it says that a canary got no token in time, or that the replica was too full to take it.

    `has_moved`: the engine worked on other requests meanwhile, so the canary only waited its turn. Without that sign a
    replica that serves is asked once more (PROBE_PASSED), since one long step of a busy engine looks the same.
    """
    if has_moved:
        return Observation.CANARY_PASSED
    if health is Health.READY and in_a_row < _LATE_TO_FAIL:
        return Observation.PROBE_PASSED
    return Observation.CANARY_FAILED
