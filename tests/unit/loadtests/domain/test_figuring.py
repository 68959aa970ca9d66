"""The figures of a whole run, from its rows and from what was seen around them."""

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadtests.domain.drill import Drill, Shape
from loadtests.domain.figures import ColdReason, Figures
from loadtests.domain.figuring import figures_of
from loadtests.domain.limits import Limits
from loadtests.domain.rows import Kind, Row
from loadtests.domain.server import Event, EventKind, LagSample, ProcessSample, ReplicaSample
from tests.support.load_rows import a_failed_turn, a_session, a_turn

DRILL = Drill(trainees=3, turns=(4, 4))
CLASS = [turn for trainee in range(3) for turn in a_session(4, trainee=trainee, from_s=trainee / 10)]


def figures(rows: list[Row], **around: object) -> Figures:
    return figures_of(rows, drill=DRILL, **around)  # type: ignore[arg-type]


def test_a_run_without_requests_has_no_figures() -> None:
    assert figures([]) == Figures()


def test_a_clean_class_is_counted_whole() -> None:
    found = figures(CLASS)
    assert (found.turns, found.failed, found.sessions, found.completed) == (12, 0, 3, 3)
    assert found.failures == {}
    assert found.duration_s == pytest.approx(0.2 + 30 + 2.6)
    assert found.turns_per_s == pytest.approx(12 / 32.8)
    assert found.output_tokens_per_s == pytest.approx(12 * 11 / 32.8)
    assert (found.prompt_tokens, found.cached_tokens) == (3 * 4600, 3 * 3300)
    assert found.completion_tokens == 132
    assert (found.warm_turns, found.cold) == (9, {})
    assert (found.affinity_broken, found.affinity_moved) == (0, 0)
    assert found.ttft.count == 12
    assert found.ttft.p95 == pytest.approx(0.5)
    assert found.bell_ttft.count == 3
    assert found.e2e.p50 == pytest.approx(2.5)
    assert found.tpot.p50 == pytest.approx(0.2)
    assert found.longest_gap.worst == 0.4
    assert [part.turns for part in found.by_turn] == [3, 3, 3, 3]
    assert sum(part.turns for part in found.over_time) == 12
    assert [part.key for part in found.by_replica] == ["replica-1"]
    assert found.knee is None


def test_a_stall_shows_from_the_plan_of_every_turn_that_had_to_wait() -> None:
    """The turn that stalls is late once; those behind it were kept from being sent, and only the plan knows."""
    stalled = a_turn(1, first_s=9.5, last_s=11.5, ended_s=11.6)
    behind = [a_turn(2, at_s=4.0, late_s=7.6, free_s=11.6), a_turn(3, at_s=8.0, late_s=6.2, free_s=14.2)]
    found = figures([stalled, *behind])
    assert [found.ttft.p50, found.ttft.worst] == pytest.approx([0.5, 9.5])
    assert [found.ttft_planned.p50, found.ttft_planned.worst] == pytest.approx([8.1, 9.5])
    assert found.e2e_planned.p50 == pytest.approx(10.1)
    assert found.client_lag.worst == pytest.approx(0.0)


def test_failures_are_counted_by_kind_and_are_infinitely_late() -> None:
    found = figures([*CLASS[:8], a_failed_turn(5), a_failed_turn(6), a_failed_turn(7, failure="moderated")])
    assert (found.turns, found.failed) == (11, 3)
    assert found.failures == {"http_503": 2, "moderated": 1}
    assert found.false_blocks == 1
    assert found.ttft.p50 == 0.5
    assert found.ttft.p90 == found.e2e.p90 == found.tpot.p90 == math.inf
    assert found.turns_per_s * found.duration_s == pytest.approx(8)


def test_a_session_that_could_not_be_opened_is_a_failed_first_turn() -> None:
    shut = replace(a_failed_turn(), kind=Kind.OPEN, session="", turn=None, trainee=2)
    found = figures([*CLASS[:8], shut])
    assert (found.turns, found.failures, found.sessions) == (9, {"not_opened": 1}, 2)
    assert found.other_failures == {"open: http_503": 1}
    assert found.bell_ttft.worst == math.inf
    assert found.by_turn[0].failed == 1


def test_goodput_is_what_met_every_limit() -> None:
    slow = a_turn(5, at_s=20.0, first_s=22.0)
    found = figures([*CLASS, slow, a_failed_turn(6, at_s=20.0)])
    assert (found.good_turns, found.goodput_share) == (12, 12 / 14)
    assert found.goodput_per_s == pytest.approx(12 / found.duration_s)
    assert figures([*CLASS, slow], targets=Limits(ttft_s=2.0)).good_turns == 13
    assert figures([*CLASS, slow], targets=Limits(e2e_s=2.0)).good_turns == 0


def test_other_requests_are_no_turns() -> None:
    others = [
        a_turn(kind=Kind.OPEN),
        a_turn(kind=Kind.RESUME, failure="altered"),
        *[a_turn(kind=Kind.HOSTILE, failure="let_in")] * 3,
        a_turn(kind=Kind.HOSTILE, failure="http_500"),
        a_turn(kind=Kind.HOSTILE, status=403),
        a_turn(kind=Kind.CLOSE),
    ]
    found = figures([*CLASS, *others])
    assert (found.turns, found.failed, found.let_in, found.refused) == (12, 0, 3, 1)
    assert found.other_failures == {"hostile: http_500": 1, "hostile: let_in": 3, "resume: altered": 1}


def test_a_run_lasts_from_the_first_planned_start_to_the_last_end() -> None:
    found = figures([a_turn(at_s=5.0, late_s=1.0), a_turn(2, at_s=15.0)])
    assert found.duration_s == pytest.approx(12.6)
    assert found.turns_per_s == pytest.approx(2 / 12.6)
    assert figures([]).duration_s == 0.0


def test_the_record_is_held_against_what_was_heard() -> None:
    def audit(trainee: int, *stored: tuple[int, str], failure: str | None = None) -> Row:
        return a_turn(kind=Kind.AUDIT, trainee=trainee, session=f"s-{trainee}", stored=stored, failure=failure)

    whole = [(n, f"d-{n}") for n in range(1, 5)]
    found = figures([*CLASS, audit(0, *whole[:3]), audit(1, *whole, (5, "d-4")), audit(2, failure="http_500")])
    assert (found.audited, found.lost_turns, found.doubled_turns, found.altered_turns) == (2, 1, 1, 0)
    assert found.other_failures == {"audit: http_500": 1}
    assert figures([*CLASS, audit(7)]).lost_turns == 0


@pytest.mark.parametrize(("status", "doubled"), [(200, 0), (399, 0), (None, 0), (400, 1), (409, 1)])
def test_what_the_hostile_were_let_in_with_is_no_doubled_turn(status: int | None, doubled: int) -> None:
    deed = replace(a_turn(kind=Kind.HOSTILE), session="s-9", trainee=9, status=status)
    audit = replace(deed, kind=Kind.AUDIT, stored=((1, "x"),))
    assert figures([deed, audit]).doubled_turns == doubled


def test_cold_turns_and_moves_have_their_reasons() -> None:
    moved = a_session(4, trainee=1)
    moved[2:] = [replace(turn, replica="replica-2") for turn in moved[2:]]
    moved[2] = replace(moved[2], cached_tokens=0)
    rows = [*a_session(4), *moved]
    found = figures(rows)
    assert (found.warm_turns, found.cold, found.cold_share) == (6, {ColdReason.MOVED: 1}, 1 / 6)
    assert (found.affinity_broken, found.affinity_moved) == (1, 0)
    fault = Event(at_s=15.0, kind=EventKind.FAULT, target="replica-1", note="kill")
    explained = figures(rows, events=[fault])
    assert (explained.affinity_broken, explained.affinity_moved) == (0, 1)
    down = [ReplicaSample(at_s=15.0, replica="replica-1", up=False)]
    assert figures(rows, replicas=down).affinity_moved == 1


def test_where_no_cache_is_told_nobody_is_cold() -> None:
    found = figures([replace(turn, cached_tokens=None) for turn in CLASS])
    assert (found.cached_tokens, found.cached_share) == (None, None)
    assert (found.warm_turns, found.cold, found.cold_share) == (0, {}, None)


def test_what_was_seen_of_servers_is_added_up() -> None:
    looks = [
        ReplicaSample(at_s=at_s, replica="replica-1", up=True, preemptions=n, kv_usage=n / 10)
        for n, at_s in enumerate((0.0, 10.0, 20.0))
    ]
    processes = [ProcessSample(at_s=at_s, name="gateway", cpu_s=at_s, memory_mb=90.0) for at_s in (1.0, 4.0)]
    found = figures(CLASS, replicas=looks, processes=processes)
    assert (found.preemptions, found.kv_usage_most, found.replica_seconds) == (2, 0.2, 20.0)
    assert (found.cpu_s, found.memory_mb_most) == ({"gateway": 3.0}, {"gateway": 90.0})


def test_client_lag_is_in_real_seconds_whatever_the_speed() -> None:
    late = [replace(turn, started_s=turn.started_s + 0.4) for turn in CLASS]
    fast = replace(DRILL, speed_up=4.0)
    assert figures_of(late, drill=fast).client_lag.p50 == pytest.approx(0.1)
    assert figures(late).client_lag.p50 == pytest.approx(0.4)


@pytest.mark.parametrize("free_s", [None, 0.0, 4.0])
def test_who_could_not_send_yet_is_not_late(free_s: float | None) -> None:
    (turn,) = a_session(1, from_s=-1.0, late_s=6.0, free_s=free_s)
    assert figures([turn]).client_lag.worst == pytest.approx(5.0 - (free_s or (-1.0 if free_s is None else 0.0)))


def test_a_loop_that_stood_still_missed_its_looks() -> None:
    """Twenty looks fall into a second: so many turns could have met some of it."""
    looks = [LagSample(at_s=0.0, worker=0, lag_s=0.0)] * 980 + [LagSample(at_s=900.0, worker=0, lag_s=1.0)]
    found = figures(CLASS, lag=looks)
    assert found.client_lag.count == 980 + 21
    assert found.client_lag.p99 == pytest.approx(0.5)


def test_looks_of_the_loop_do_not_hide_turns_that_were_sent_late() -> None:
    looks = [LagSample(at_s=0.0, worker=0, lag_s=0.001)] * 5000
    late = [replace(CLASS[0], started_s=0.3), *CLASS[1:]]
    assert figures(late, lag=looks).client_lag.p99 == pytest.approx(0.3)


def test_a_staircase_has_its_knee() -> None:
    drill = Drill(shape=Shape.STAIRCASE, stairs=(10, 20, 40), stair_s=80.0, turns=(1, 1))
    rows = [
        a_turn(at_s=80.0 * stair + 20 + n * 2 / (stair + 1), trainee=n, session=f"{stair}-{n}", late_s=0.0)
        for stair in range(3)
        for n in range(25 * (stair + 1))
    ]
    slow = [replace(row, first_s=row.started_s + 5.0) if row.started_s > 160 else row for row in rows]
    assert figures_of(rows, drill=drill).knee is None
    assert figures_of(slow, drill=drill).knee == 20
    assert figures(slow).knee is None


ROWS = [
    *CLASS,
    a_failed_turn(5, at_s=3.1),
    a_turn(6, at_s=4.2, trainee=8, session="s-8", replica="replica-2", completion_tokens=1),
    a_turn(kind=Kind.AUDIT, stored=((1, "d-1"),)),
    a_turn(kind=Kind.HOSTILE, failure="let_in", trainee=9),
]


@given(st.permutations(ROWS), st.lists(st.integers(0, 3), min_size=len(ROWS), max_size=len(ROWS)))
def test_neither_the_workers_nor_the_order_of_their_rows_change_a_figure(rows: list[Row], workers: list[int]) -> None:
    told = [replace(row, worker=worker) for row, worker in zip(rows, workers, strict=True)]
    assert figures(told) == figures(ROWS)


def test_replies_that_tell_no_tokens_are_not_taken_to_have_none() -> None:
    told = [a_turn(1), a_failed_turn(2), a_turn(3, finish="cancelled", completion_tokens=0)]
    assert figures(told).output_tokens_per_s == pytest.approx(11 / figures(told).duration_s)
    assert figures([*told, a_turn(4, completion_tokens=0)]).output_tokens_per_s is None
