"""The fleet at one moment."""

import pytest

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


@pytest.mark.parametrize(
    ("health", "unfit"),
    [
        ([], False),
        ([Health.REFUSED, Health.REFUSED], True),
        ([Health.REFUSED, Health.DOWN], False),
        ([Health.REFUSED, Health.READY], False),
    ],
)
def test_a_fleet_is_unfit_when_all_of_it_is_refused(health: list[Health], unfit: bool) -> None:
    replicas = tuple(Replica(ReplicaId(str(number)), "http://x", each) for number, each in enumerate(health))
    assert Fleet(replicas).is_unfit is unfit
