"""Makes the figures of a run from what was kept of it, whoever played it and in whatever order it was read."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from loadtests.domain import slices, spread
from loadtests.domain.affinity import Trouble, moves_of, troubles
from loadtests.domain.audit import audited
from loadtests.domain.client_lag import client_lag
from loadtests.domain.completion import completed
from loadtests.domain.drill import Drill, Shape
from loadtests.domain.figures import ColdReason, Figures
from loadtests.domain.fleet_use import fleet_use, process_use
from loadtests.domain.limits import Limits
from loadtests.domain.presence import Presence
from loadtests.domain.rows import Kind, Row
from loadtests.domain.server import Event, LagSample, ProcessSample, ReplicaSample
from loadtests.domain.warmth import cold_reasons

_REFUSED = 400

Sessions = Mapping[tuple[int, str], Sequence[Row]]
"""The turns of each session in their order, by trainee and id."""


def figures_of(  # noqa: PLR0913  a run is kept in so many files
    rows: Iterable[Row],
    *,
    drill: Drill,
    targets: Limits | None = None,
    replicas: Sequence[ReplicaSample] = (),
    processes: Sequence[ProcessSample] = (),
    events: Sequence[Event] = (),
    lag: Sequence[LagSample] = (),
) -> Figures:
    """Without `targets` a turn is good within the usual limits."""
    kept = sorted(rows, key=_place)
    turns = sorted(turns_of(kept), key=_place)
    scene = slices.Scene(turns=turns, presence=Presence(kept), fleet=fleet_use(replicas))
    concurrency = slices.by_concurrency(scene, drill=drill)
    cpu_s, memory_mb = process_use(processes)
    sessions = _by_session(turns)
    known = troubles(events, replicas)
    figures = _of_sessions(_of_turns(turns, targets or Limits()), sessions, drill, known)
    return replace(
        _of_other_rows(figures, kept, sessions),
        preemptions=scene.fleet.preemptions(),
        kv_usage_most=scene.fleet.kv_usage_most(),
        replica_seconds=scene.fleet.replica_seconds,
        cpu_s=cpu_s,
        memory_mb_most=memory_mb,
        client_lag=client_lag(turns, lag, speed_up=drill.speed_up),
        over_time=slices.over_time(scene),
        by_turn=slices.by_turn(scene),
        by_concurrency=concurrency,
        by_replica=slices.by_replica(scene),
        knee=slices.knee(concurrency) if drill.shape is Shape.STAIRCASE else None,
    )


def _of_turns(turns: Sequence[Row], limits: Limits) -> Figures:
    begin = min((turn.planned_s for turn in turns), default=0.0)
    duration_s = max((turn.ended_s for turn in turns), default=0.0) - begin
    failures = _counted(turn.failure for turn in turns if turn.failure is not None)
    failed = sum(failures.values())
    good = sum(1 for turn in turns if limits.are_met_by(turn))
    told = [turn.cached_tokens for turn in turns if turn.cached_tokens is not None]
    completion_tokens = sum(turn.completion_tokens for turn in turns)
    return Figures(
        turns=len(turns),
        failed=failed,
        failures=failures,
        duration_s=duration_s,
        ttft=spread.of("ttft", turns),
        ttft_planned=spread.of("ttft_planned", turns),
        bell_ttft=spread.of("ttft", (turn for turn in turns if turn.turn == 1)),
        e2e=spread.of("e2e", turns),
        e2e_planned=spread.of("e2e_planned", turns),
        tpot=spread.of("tpot", turns),
        longest_gap=spread.of("longest_gap", turns),
        turns_per_s=_per_s(len(turns) - failed, duration_s),
        goodput_per_s=_per_s(good, duration_s),
        good_turns=good,
        output_tokens_per_s=_per_s(completion_tokens, duration_s) if turns and all(map(_tells_tokens, turns)) else None,
        prompt_tokens=sum(turn.prompt_tokens for turn in turns),
        cached_tokens=sum(told) if told else None,
        completion_tokens=completion_tokens,
        false_blocks=failures.get("moderated", 0),
    )


def _of_sessions(figures: Figures, sessions: Sessions, drill: Drill, known: Sequence[Trouble]) -> Figures:
    reasons = [
        reason for turns in sessions.values() for reason in cold_reasons(turns, history=drill.history, known=known)
    ]
    told = [reason for reason in reasons if reason is not ColdReason.UNTOLD]
    moves = [moves_of(turns, known) for turns in sessions.values()]
    return replace(
        figures,
        sessions=len(sessions),
        completed=completed(sessions.values(), drill),
        warm_turns=len(told),
        cold=_counted(reason for reason in told if reason is not None),
        affinity_broken=sum(each.broken for each in moves),
        affinity_moved=sum(each.moved for each in moves),
    )


def _of_other_rows(figures: Figures, kept: Sequence[Row], sessions: Sessions) -> Figures:
    read = {(row.trainee, row.session): row.stored for row in kept if row.kind is Kind.AUDIT and row.failure is None}
    beside = Counter((row.trainee, row.session) for row in kept if row.kind is Kind.HOSTILE and _may_be_in(row.status))
    audits = [audited(sessions.get(key, ()), stored, beside=beside[key]) for key, stored in read.items()]
    others = (f"{row.kind}: {row.failure}" for row in kept if row.kind is not Kind.TURN and row.failure is not None)
    return replace(
        figures,
        other_failures=_counted(others),
        audited=len(audits),
        lost_turns=sum(each.lost for each in audits),
        doubled_turns=sum(each.doubled for each in audits),
        altered_turns=sum(each.altered for each in audits),
        let_in=sum(1 for row in kept if row.kind is Kind.HOSTILE and row.failure == "let_in"),
        refused=sum(1 for row in kept if row.was_refused),
    )


def _tells_tokens(turn: Row) -> bool:
    """Nobody can tell those of a reply that did not come to its end."""
    return turn.failure is not None or turn.was_cancelled or turn.completion_tokens > 0


def turns_of(kept: Iterable[Row]) -> list[Row]:
    """With a failed first turn for each session that could not be opened."""
    turns = []
    for row in kept:
        if row.kind is Kind.TURN:
            turns.append(row)
        elif row.kind is Kind.OPEN and row.failure is not None:
            turns.append(replace(row, kind=Kind.TURN, turn=1, failure="not_opened"))
    return turns


def _may_be_in(status: int | None) -> bool:
    """Whether what was asked so may stand in the record: it was let in, or nobody knows."""
    return status is None or status < _REFUSED


def _by_session(turns: Iterable[Row]) -> Sessions:
    sessions: dict[tuple[int, str], list[Row]] = {}
    for turn in turns:
        if turn.session and turn.failure != "not_opened":
            sessions.setdefault((turn.trainee, turn.session), []).append(turn)
    return sessions


def _per_s(count: int, duration_s: float) -> float:
    return count / duration_s if duration_s > 0 else 0.0


def _counted(names: Iterable[str]) -> dict[str, int]:
    return {str(name): count for name, count in sorted(Counter(names).items())}


def _place(row: Row) -> tuple[object, ...]:
    """The same order whoever wrote the rows."""
    return (row.started_s, row.ended_s, row.trainee, row.session, row.kind, row.turn or 0, row.planned_s)
