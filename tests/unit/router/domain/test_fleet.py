"""The fleet at one moment."""

from router.domain.fleet import Fleet, Health, Replica, ReplicaId

A = Replica(ReplicaId("a"), "http://a", Health.READY)
B = Replica(ReplicaId("b"), "http://b", Health.DOWN)
FLEET = Fleet((A, B))


def test_only_ready_replicas_are_ready() -> None:
    assert FLEET.ready == (A,)


def test_a_replica_is_found_by_its_id() -> None:
    assert FLEET.get(B.id) is B


def test_an_unknown_id_is_none() -> None:
    assert FLEET.get(ReplicaId("c")) is None


def test_a_fleet_without_some_keeps_the_order_of_the_others() -> None:
    assert FLEET.without([A.id, ReplicaId("c")]) == Fleet((B,))
