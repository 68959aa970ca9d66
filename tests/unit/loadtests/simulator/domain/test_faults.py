"""Which faults are on, whom they hit, and how often."""

import pytest

from loadtests.simulator.domain.faults import ONCE, Asked, Condition, Fault, FaultKind, Faults

ASKED = Asked(request="r1", session="s1", salt="salt-1", last="What is the price?")


def hits(faults: Faults, asked: Asked = ASKED, *, now_s: float = 0.0) -> list[FaultKind]:
    return [fault.kind for fault in faults.for_request(asked, now_s=now_s)]


def test_a_fault_hits_every_request_unless_it_says_otherwise() -> None:
    faults = Faults([Fault(kind=FaultKind.CUT)])
    assert [hits(faults) for _ in range(3)] == [[FaultKind.CUT]] * 3


def test_a_fault_hits_as_many_requests_as_it_may() -> None:
    faults = Faults([Fault(kind=FaultKind.CUT, times=2)])
    assert [hits(faults) for _ in range(3)] == [[FaultKind.CUT], [FaultKind.CUT], []]


def test_a_fault_spares_the_first_requests() -> None:
    faults = Faults([Fault(kind=FaultKind.CUT, after_requests=2, times=1)])
    assert [hits(faults) for _ in range(4)] == [[], [], [FaultKind.CUT], []]


@pytest.mark.parametrize(
    ("fault", "is_hit"),
    [
        (Fault(kind=FaultKind.STALL, session="s1"), True),
        (Fault(kind=FaultKind.STALL, session="salt-1"), True),
        (Fault(kind=FaultKind.STALL, session="s2"), False),
        (Fault(kind=FaultKind.STALL, last="price"), True),
        (Fault(kind=FaultKind.STALL, last="weather"), False),
    ],
)
def test_a_fault_hits_whom_it_names(fault: Fault, is_hit: bool) -> None:
    assert bool(hits(Faults([fault]))) is is_hit


@pytest.mark.parametrize(("now_s", "is_on"), [(0.9, False), (1.0, True), (2.9, True), (3.0, False)])
def test_a_fault_is_on_from_its_time_for_its_time(now_s: float, is_on: bool) -> None:
    faults = Faults([Fault(kind=FaultKind.CUT, from_s=1.0, for_s=2.0)])
    assert bool(hits(faults, now_s=now_s)) is is_on


def test_faults_of_the_replica_hit_no_single_request() -> None:
    assert hits(Faults([Fault(kind=FaultKind.FREEZE)])) == []


def test_a_fault_gets_an_id_and_the_same_id_replaces_it() -> None:
    faults = Faults()
    assert faults.add(Fault(kind=FaultKind.CUT)).id == "fault-1"
    faults.add(Fault(kind=FaultKind.STALL, id="fault-1"))
    assert [fault.kind for fault in faults.all] == [FaultKind.STALL]


def test_one_fault_or_all_can_be_cleared() -> None:
    faults = Faults([Fault(kind=FaultKind.CUT, id="a"), Fault(kind=FaultKind.STALL, id="b")])
    faults.clear("a")
    faults.clear("unknown")
    assert [fault.id for fault in faults.all] == ["b"]
    faults.clear()
    assert faults.all == ()


def test_without_faults_the_condition_is_good() -> None:
    assert Faults().condition(now_s=0) == Condition()


def test_the_condition_is_that_of_all_faults_together() -> None:
    faults = Faults(
        [
            Fault(kind=FaultKind.FREEZE),
            Fault(kind=FaultKind.SLOW, factor=2),
            Fault(kind=FaultKind.SLOW, factor=3),
            Fault(kind=FaultKind.PARTITION),
            Fault(kind=FaultKind.REFUSE_CONNECTIONS),
            Fault(kind=FaultKind.UNHEALTHY, status=500),
            Fault(kind=FaultKind.UNHEALTHY, from_s=5),
        ]
    )
    expected = Condition(frozen=True, slowness=6, port_closed=True, partitioned=True, health_status=500)
    assert faults.condition(now_s=1) == expected


def test_a_flapping_port_closes_first_and_then_opens_and_closes() -> None:
    faults = Faults([Fault(kind=FaultKind.FLAP, from_s=10, period_s=2, for_s=6)])
    closed = [faults.condition(now_s=now_s).port_closed for now_s in (9, 10, 11.9, 12, 13.9, 14, 15.9, 16)]
    assert closed == [False, True, True, False, False, True, True, False]


def test_a_port_that_is_to_be_refused_later_is_open_now() -> None:
    assert not Fault(kind=FaultKind.REFUSE_CONNECTIONS, from_s=5).closes_port(1)


@pytest.mark.parametrize("kind", sorted(ONCE))
def test_what_happens_once_is_taken_when_its_time_has_come(kind: FaultKind) -> None:
    faults = Faults([Fault(kind=kind, from_s=5)])
    assert faults.take_due(now_s=4) == ()
    assert [fault.kind for fault in faults.take_due(now_s=5)] == [kind]
    assert faults.all == ()


def test_the_next_change_is_the_soonest_beginning_end_or_flap() -> None:
    faults = Faults(
        [
            Fault(kind=FaultKind.CUT, from_s=1),
            Fault(kind=FaultKind.FREEZE, from_s=4, for_s=2),
            Fault(kind=FaultKind.FLAP, from_s=5, period_s=3),
        ]
    )
    moments = []
    now_s: float | None = 0.0
    while now_s is not None and now_s < 12:
        now_s = faults.next_change_s(now_s=now_s)
        moments.append(now_s)
    assert moments == [4, 5, 6, 8, 11, 14]


def test_where_nothing_changes_by_itself_there_is_no_next_change() -> None:
    assert Faults([Fault(kind=FaultKind.FREEZE)]).next_change_s(now_s=0) is None
