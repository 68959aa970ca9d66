"""The fleet, a drain and a decision, as they stand on a terminal; what nobody knows is a question mark."""

from collections.abc import Iterable, Iterator

from rich.table import Table

from gateway.cli.fleet_wire import AttemptView, CandidateView, DecisionView, DrainView, ReplicaView
from gateway.cli.folding_table import folding_table

UNKNOWN = "?"


def fleet_table(replicas: Iterable[ReplicaView]) -> Table:
    table = folding_table("replica", "health", "sessions", "KV tokens", "in flight", "models", "remarks")
    for replica in replicas:
        table.add_row(
            replica.id,
            "draining" if replica.is_draining and replica.health == "ready" else replica.health,
            _figure(replica.sessions),
            _of(replica.kv_tokens, replica.kv_capacity_tokens),
            _figure(replica.in_flight),
            ", ".join(replica.models),
            "; ".join(_remarks(replica)),
        )
    return table


def drain_line(drain: DrainView) -> str:
    heard = f"heard by {drain.acknowledged} of {_counted(drain.acknowledged + drain.missing, 'router')}"
    left = f"{_counted(drain.sessions_left, 'session')} and {_counted(drain.in_flight, 'turn')} left"
    time = f"{drain.seconds_left:.0f} s to go" if drain.seconds_left > 0 else "past its deadline"
    return f"{heard}, {left}, {time}"


def decision_lines(decision: DecisionView) -> Iterator[str]:
    pin = f"pin {decision.pin}" + (f", generation {decision.generation}" if decision.generation else "")
    waited = f", waited {decision.waited_ms:.0f} ms for room" if decision.waited_ms >= 1 else ""
    yield f"turn {decision.turn_id}: {decision.model}, {pin}{waited}"
    for number, attempt in enumerate(decision.attempts, start=1):
        yield f"  {number}. {_attempt(attempt)}"
    if decision.candidates:
        yield "  looked at:"
        yield from (f"    {_candidate(candidate)}" for candidate in decision.candidates)


def _attempt(attempt: AttemptView) -> str:
    went_on = ", which went on with the reply" if attempt.continued else ""
    ended = f": {attempt.outcome}" if attempt.outcome else ""
    detail = f" ({attempt.detail})" if attempt.detail else ""
    return f"{attempt.replica}, because {attempt.why}{went_on}{ended}{detail}"


def _candidate(candidate: CandidateView) -> str:
    load = (
        f"{_counted(candidate.sessions, 'session')}, {_counted(candidate.kv_tokens, 'KV token')}, "
        f"{_figure(candidate.in_flight)} in flight"
    )
    refused = f": not taken, {candidate.refused}" if candidate.refused else ""
    return f"{candidate.replica}: {load}{refused}"


def _remarks(replica: ReplicaView) -> Iterator[str]:
    if replica.reason:
        yield replica.reason
    if replica.drain is not None:
        yield "may be stopped" if replica.drain.may_stop else drain_line(replica.drain)
    yield from replica.warnings


def _of(used: int | None, capacity: int | None) -> str:
    return _figure(used) if capacity is None else f"{_figure(used)} of {capacity}"


def _counted(value: int | None, what: str) -> str:
    return f"{_figure(value)} {what}" + ("" if value == 1 else "s")


def _figure(value: int | None) -> str:
    return UNKNOWN if value is None else str(value)
