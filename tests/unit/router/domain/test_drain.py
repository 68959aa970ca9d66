"""What a drain allows when, and when it is over."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from router.domain.board import Board, Drain, RouterId, RouterReport
from router.domain.drain import Stage, moves_it, progress, stage, unhurried
from router.domain.fleet import AffinityKey, ReplicaId

A = ReplicaId("a")
R1, R2, R3 = RouterId("r1"), RouterId("r2"), RouterId("r3")
DRAIN = Drain(A, since=100.0, deadline=200.0)


def board(*reports: RouterReport, now: float = 110.0) -> Board:
    return Board(now=now, drains={A: DRAIN}, routers={report.router: report for report in reports})


def seen(router: RouterId, in_flight: int = 0, at: float = 105.0) -> RouterReport:
    return RouterReport(router, at, {A: in_flight})


@pytest.mark.parametrize(
    ("now", "expected"),
    [
        (100.0, Stage.COURTEOUS),
        (149.9, Stage.COURTEOUS),
        (150.0, Stage.HURRIED),
        (199.9, Stage.HURRIED),
        (200.0, Stage.OVERDUE),
        (900.0, Stage.OVERDUE),
    ],
)
def test_half_of_the_time_is_for_courtesy(now: float, expected: Stage) -> None:
    assert stage(DRAIN, now=now) is expected


def test_a_replica_may_stop_once_all_have_seen_the_order_and_nothing_is_left() -> None:
    so_far = progress(board(seen(R2), seen(R1)), DRAIN, pinned=0)
    assert (so_far.replica, so_far.acknowledged, so_far.missing) == (A, (R1, R2), ())
    assert (so_far.in_flight, so_far.sessions_left, so_far.seconds_left) == (0, 0, 90.0)
    assert so_far.may_stop
    assert so_far.seconds_left > 0


@pytest.mark.parametrize(
    ("reports", "pinned"),
    [
        ((seen(R1), RouterReport(R2, 109.0)), 0),
        ((seen(R1), seen(R2, in_flight=1)), 0),
        ((seen(R1), seen(R2)), 1),
        ((seen(R1), seen(R2)), None),
    ],
    ids=["not acknowledged", "a turn runs", "a session is pinned", "pins unknown"],
)
def test_a_replica_may_not_stop_while_something_may_still_go_there(
    reports: tuple[RouterReport, ...], pinned: int | None
) -> None:
    assert not progress(board(*reports), DRAIN, pinned=pinned).may_stop


def test_a_report_from_before_the_order_acknowledges_an_earlier_one() -> None:
    so_far = progress(board(seen(R1, in_flight=3, at=99.0)), DRAIN, pinned=0)
    assert (so_far.missing, so_far.in_flight, so_far.may_stop) == ((R1,), 0, False)


def test_turns_of_all_routers_are_added_up() -> None:
    assert progress(board(seen(R1, 2), seen(R2, 3)), DRAIN, pinned=9).in_flight == 5


@pytest.mark.parametrize("pinned", [7, None])
def test_past_the_deadline_pins_do_not_keep_a_replica_alive_but_turns_do(pinned: int | None) -> None:
    late = progress(board(seen(R1), now=201.0), DRAIN, pinned=pinned)
    assert (late.seconds_left <= 0, late.may_stop) == (True, True)
    assert not progress(board(seen(R1, in_flight=1), now=201.0), DRAIN, pinned=0).may_stop
    assert not progress(board(RouterReport(R1, 200.0), now=201.0), DRAIN, pinned=0).may_stop


@pytest.mark.parametrize(("pinned", "may_stop"), [(0, True), (1, False), (None, False)])
def test_without_routers_a_drain_is_over_with_its_last_session(pinned: int | None, may_stop: bool) -> None:
    so_far = unhurried(A, pinned=pinned)
    assert (so_far.replica, so_far.sessions_left, so_far.may_stop) == (A, pinned, may_stop)


keys = st.text(max_size=20).map(AffinityKey)


@given(keys, st.sampled_from([R1, R2]))
def test_a_router_moves_what_it_remembers(key: AffinityKey, router: RouterId) -> None:
    for at in Stage:
        assert moves_it(key, at=at, is_remembered=True, router=router, routers=(R1, R2))


@given(keys)
def test_what_nobody_remembers_waits_until_half_of_the_time_is_over_and_then_has_one_mover(key: AffinityKey) -> None:
    routers = (R1, R2, R3)

    def movers(at: Stage) -> int:
        return sum(moves_it(key, at=at, is_remembered=False, router=each, routers=routers) for each in routers)

    assert [movers(at) for at in Stage] == [0, 1, 3]


def test_without_a_living_router_nobody_is_chosen() -> None:
    assert not moves_it(AffinityKey("k"), at=Stage.HURRIED, is_remembered=False, router=R1, routers=())
