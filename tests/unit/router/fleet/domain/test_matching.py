"""Which record each replica of a host belongs to."""

from hypothesis import given
from hypothesis import strategies as st

from router.domain.fleet import ReplicaId
from router.fleet.domain.demand import PoolName
from router.fleet.domain.hosted import HostedReplica, HostPhase
from router.fleet.domain.matching import Change, Matched, is_awaited, matched
from router.fleet.domain.replica_record import Milestone, ReplicaRecord, ordered

POOL = PoolName("qwen")
NOW = 1000.0


def order(name: str, at: float = 900.0) -> ReplicaRecord:
    return ordered(ReplicaId(name), POOL, now=at)


def hosted(name: str, since: float = 910.0, phase: HostPhase = HostPhase.RUNNING) -> HostedReplica:
    return HostedReplica(ReplicaId(name), phase, since)


def match(records: list[ReplicaRecord], found: list[HostedReplica], *, names: bool = True, now: float = NOW) -> Matched:
    return matched({r.id: r for r in records}, found, pool=POOL, names_replicas=names, now=now)


def test_the_oldest_order_takes_the_oldest_replica() -> None:
    found = match([order("second", 902.0), order("first", 901.0)], [hosted("pod-b", 920.0), hosted("pod-a", 910.0)])
    assert [(change.record.id, change.record.ordered, change.instead_of) for change in found.changes] == [
        ("pod-a", 901.0, "first"),
        ("pod-b", 902.0, "second"),
    ]
    assert found.records.keys() == {"pod-a", "pod-b"}
    assert all(record.reached[Milestone.SCHEDULED] == NOW for record in found.records.values())


def test_an_order_waits_while_its_host_has_nothing_new() -> None:
    known = order("pod-a").at(Milestone.SCHEDULED, 950.0)
    assert match([order("first"), known], [hosted("pod-a")]).changes == ()


def test_what_nobody_ordered_is_taken_in() -> None:
    for names in (True, False):
        found = match([], [hosted("pod-a")], names=names)
        taken_in = order("pod-a", NOW).at(Milestone.SCHEDULED, NOW)
        assert found == Matched({taken_in.id: taken_in}, (Change(taken_in),))
        assert taken_in.was_taken_in


def test_a_host_that_goes_by_orders_is_never_guessed_at() -> None:
    found = match([order("first")], [hosted("stranger")], names=False)
    assert found.records.keys() == {"first", "stranger"}
    assert found.changes[0].instead_of is None


def test_what_is_going_anyway_needs_no_record() -> None:
    assert match([order("first")], [hosted("pod-a", phase=HostPhase.STOPPING)]).changes == ()


def test_what_ended_before_an_order_was_not_started_by_it() -> None:
    ended = hosted("pod-a", since=700.0, phase=HostPhase.EXITED)
    found = match([order("first")], [ended])
    assert found.records.keys() == {"first", "pod-a"}
    ended_since = hosted("pod-a", since=880.0, phase=HostPhase.EXITED)
    assert match([order("first")], [ended_since]).records.keys() == {"pod-a"}


def test_an_order_that_was_given_up_takes_no_replica() -> None:
    stopped = order("first").at(Milestone.STOPPING, 950.0)
    assert not is_awaited(stopped)
    assert match([stopped], [hosted("pod-a")]).changes[0].instead_of is None


IDS = st.lists(st.sampled_from("abcdefgh"), unique=True, max_size=6)


@given(orders=IDS, running=IDS, names=st.booleans(), moments=st.lists(st.floats(0, 999), min_size=12, max_size=12))
def test_none_is_lost_each_is_matched_once_and_asking_again_changes_nothing(
    orders: list[str], running: list[str], names: bool, moments: list[float]
) -> None:
    records = [order(f"order-{name}", at) for name, at in zip(orders, moments, strict=False)]
    replicas = [hosted(f"pod-{name}", at) for name, at in zip(running, reversed(moments), strict=False)]
    first = match(records, replicas, names=names)
    assert {replica.id for replica in replicas} <= first.records.keys()
    assert len(first.records) == (max(len(orders), len(running)) if names else len(orders) + len(running))
    taken = [change.instead_of for change in first.changes if change.instead_of is not None]
    assert len(set(taken)) == len(taken)
    assert match(list(first.records.values()), replicas, names=names, now=NOW + 5.0) == Matched(first.records, ())
