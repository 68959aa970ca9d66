"""A fleet of fixed members."""

from structlog.testing import capture_logs

from router.adapters.static_fleet import StaticFleet
from router.domain.fleet import Health, Replica, ReplicaId
from router.domain.health import Observation

A, B = ReplicaId("a"), ReplicaId("b")


def two() -> StaticFleet:
    return StaticFleet(replicas=[Replica(A, "http://a"), Replica(B, "http://b")])


def test_nothing_is_known_of_a_replica_at_first() -> None:
    assert [replica.health for replica in two().current().replicas] == [Health.UNKNOWN, Health.UNKNOWN]


def test_an_observation_changes_one_replica_and_the_order_stays() -> None:
    fleet = two()
    fleet.observe(B, Observation.ACCEPTED)
    assert [(replica.id, replica.health) for replica in fleet.current().replicas] == [
        (A, Health.UNKNOWN),
        (B, Health.READY),
    ]


def test_a_lost_turn_takes_the_replica_down_with_the_reason() -> None:
    fleet = two()
    fleet.observe(A, Observation.ACCEPTED)
    fleet.saw_failure(A, "refused")
    assert fleet.current().replicas[0] == Replica(A, "http://a", Health.DOWN, "refused")


def test_a_refusal_says_why_and_acceptance_takes_the_reason_away() -> None:
    fleet = two()
    fleet.observe(A, Observation.REFUSED, "serves another model")
    assert fleet.current().replicas[0].reason == "serves another model"
    fleet.observe(A, Observation.ACCEPTED)
    assert fleet.current().replicas[0] == Replica(A, "http://a", Health.READY)


def test_a_late_good_probe_does_not_hide_why_a_replica_is_down() -> None:
    fleet = two()
    fleet.saw_failure(A, "refused")
    fleet.observe(A, Observation.PROBE_PASSED)
    assert fleet.current().replicas[0] == Replica(A, "http://a", Health.DOWN, "refused")


def test_a_stranger_is_ignored() -> None:
    fleet = two()
    before = fleet.current()
    fleet.saw_failure(ReplicaId("c"), "refused")
    assert fleet.current() is before


def test_a_state_that_lasts_is_logged_once() -> None:
    fleet = two()
    with capture_logs() as logs:
        for number in range(5):
            fleet.observe(A, Observation.PROBE_FAILED, f"no answer, attempt {number}")
        fleet.observe(A, Observation.ACCEPTED)
    assert [(entry["before"], entry["now"]) for entry in logs] == [("unknown", "down"), ("down", "ready")]
