"""What is remembered of one replica."""

from router.domain.fleet import ReplicaId
from router.fleet.domain.demand import PoolName
from router.fleet.domain.replica_record import Milestone, ordered

ORDERED = ordered(ReplicaId("a"), PoolName("qwen"), now=5.0)


def test_a_step_is_taken_once() -> None:
    joined = ORDERED.at(Milestone.JOINED, 9.0)
    assert joined.at(Milestone.JOINED, 12.0) is joined
    assert joined.reached == {Milestone.REQUESTED: 5.0, Milestone.JOINED: 9.0}
    assert (joined.ordered, joined.has(Milestone.JOINED), ORDERED.has(Milestone.JOINED)) == (5.0, True, False)


def test_a_drain_that_is_taken_back_was_none() -> None:
    assert ORDERED.at(Milestone.DRAINING, 9.0).without(Milestone.DRAINING) == ORDERED


def test_what_was_never_ordered_was_taken_in() -> None:
    assert ORDERED.at(Milestone.SCHEDULED, 5.0).was_taken_in
    assert not ORDERED.at(Milestone.SCHEDULED, 6.0).was_taken_in
    assert not ORDERED.was_taken_in


def test_the_routers_may_know_of_it_from_its_last_prefix_on() -> None:
    assert not ORDERED.at(Milestone.CANARY_RIGHT, 6.0).was_warm
    assert ORDERED.at(Milestone.PREFIXES_WARM, 6.0).was_warm
    assert ORDERED.at(Milestone.JOINED, 6.0).was_warm
