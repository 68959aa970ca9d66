"""Why a run went as it did: the likely reasons, each with the figures that say so, the weightiest first.

A reason weighs as much as the share of all turns that it touches. What is mostly a consequence of others (a queue, a
full memory, a busy gateway) weighs a tenth of that, so that it comes first only where nothing explains it.
"""

from loadtests.domain.causes import (
    affinity_missing,
    client_late,
    failed_otherwise,
    history_folded,
    let_in,
    record_differs,
    window_overflowed,
    wrongly_blocked,
)
from loadtests.domain.reason import Cause, Reason, Seen
from loadtests.domain.server_causes import (
    faults_felt,
    gateway_busy,
    memory_full,
    one_replica_worse,
    queued,
    replicas_short,
    written_slowly,
)

__all__ = ["Cause", "Reason", "Seen", "likely_reasons"]

_LOOKS = (
    client_late,
    replicas_short,
    window_overflowed,
    affinity_missing,
    faults_felt,
    one_replica_worse,
    history_folded,
    wrongly_blocked,
    record_differs,
    let_in,
    failed_otherwise,
    queued,
    memory_full,
    gateway_busy,
    written_slowly,
)


def likely_reasons(seen: Seen) -> tuple[Reason, ...]:
    """None of a run in which nothing went wrong."""
    if not seen.figures.turns:
        return (Reason(cause=Cause.NOTHING, says="Not one turn was asked, so nothing can be said of the system."),)
    found = [reason for look in _LOOKS for reason in look(seen)]
    return tuple(sorted(found, key=lambda reason: -reason.weight))
