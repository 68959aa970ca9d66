"""Why a run went as it did: the likely reasons, each with the figures that say so, the weightiest first.

A reason weighs as much as the share of all turns that it touches. What is mostly a consequence of others (a queue, a
full memory, a busy gateway) weighs a tenth of that, so that it comes first only where nothing explains it.
"""

from collections.abc import Collection, Mapping
from dataclasses import replace

from loadtests.domain.causes import (
    affinity_missing,
    client_late,
    failed_otherwise,
    history_folded,
    let_in,
    record_differs,
    refused_at_first,
    window_overflowed,
    wrongly_blocked,
)
from loadtests.domain.reason import Cause, Reason, Seen
from loadtests.domain.server_causes import (
    caches_lost,
    faults_felt,
    gateway_busy,
    machine_busy,
    memory_full,
    one_replica_worse,
    queued,
    replicas_short,
    written_slowly,
)

_LOOKS = (
    client_late,
    replicas_short,
    window_overflowed,
    affinity_missing,
    faults_felt,
    caches_lost,
    one_replica_worse,
    history_folded,
    wrongly_blocked,
    record_differs,
    let_in,
    refused_at_first,
    failed_otherwise,
    queued,
    memory_full,
    gateway_busy,
    written_slowly,
    machine_busy,
)


_OF_TIMES = frozenset(Cause) - {Cause.NOTHING, Cause.RECORD, Cause.LET_IN}
_OF_FAILURES = frozenset(
    {
        Cause.CLIENT,
        Cause.REPLICAS_SHORT,
        Cause.WINDOW,
        Cause.FAULT,
        Cause.ONE_REPLICA,
        Cause.BLOCKED,
        Cause.FAILURES,
    }
)
_TIMES = ("ttft_p95_s", "ttft_planned_p95_s", "bell_ttft_p95_s", "tpot_p95_s", "e2e_p95_s", "goodput_share")
_EXPLAINED_BY: Mapping[str, frozenset[Cause]] = {
    **dict.fromkeys(_TIMES, _OF_TIMES),
    "failure_share": _OF_FAILURES,
    "cold_share": frozenset({Cause.AFFINITY, Cause.FAULT, Cause.FOLDED, Cause.MEMORY}),
    "cold_moved_share": frozenset({Cause.AFFINITY, Cause.FAULT}),
    "cold_folded_share": frozenset({Cause.FOLDED}),
    "cold_evicted_share": frozenset({Cause.AFFINITY, Cause.MEMORY}),
    "cold_lost_share": frozenset({Cause.FAULT}),
    "affinity_broken": frozenset({Cause.AFFINITY}),
    **dict.fromkeys(("lost_turns", "doubled_turns", "altered_turns"), frozenset({Cause.RECORD})),
    "false_blocks": frozenset({Cause.BLOCKED}),
    "let_in": frozenset({Cause.LET_IN}),
}
_FELT_SHARE = 0.01
"""What touches fewer turns moves no 95th percentile."""


def likely_reasons(seen: Seen, *, missed: Collection[str] = ()) -> tuple[Reason, ...]:
    """None of a run in which nothing went wrong. With the names of the targets that were missed: only reasons that can
    explain one of them; of first turns alone, when nothing else was late."""
    if not seen.figures.turns:
        return (Reason(cause=Cause.NOTHING, says="Not one turn was asked, so nothing can be said of the system."),)
    if [target for target in _TIMES if target in missed] == ["bell_ttft_p95_s"]:
        seen = _of_first_turns(seen)
    found = [reason for look in _LOOKS for reason in look(seen)]
    weighed = sorted(found, key=lambda reason: -reason.weight)
    return tuple(reason for reason in weighed if not missed or any(_explains(reason, target) for target in missed))


def _of_first_turns(seen: Seen) -> Seen:
    first = [row for row in seen.turns if row.turn in (None, 1)]
    figures = replace(seen.figures, turns=len(first), cold={}, affinity_broken=0, preemptions=None)
    return replace(seen, rows=first, figures=figures)


def _explains(reason: Reason, target: str) -> bool:
    is_felt = target not in _TIMES or reason.share >= _FELT_SHARE
    return is_felt and reason.cause in _EXPLAINED_BY.get(target, frozenset())
