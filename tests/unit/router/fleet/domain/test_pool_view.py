"""A pool's replicas by what may be done with them."""

from itertools import permutations

import pytest

from router.domain.fleet import ReplicaId
from router.fleet.domain.pool_view import ReplicaSeen, ranked
from router.fleet.domain.replica_lifecycle import DEADLINES, ReplicaState


def seen(
    name: str, state: ReplicaState, *, since: float = 0.0, ordered: float = 0.0, sessions: int | None = 0
) -> ReplicaSeen:
    return ReplicaSeen(ReplicaId(name), state, since=since, ordered=ordered, sessions=sessions)


POOL = (
    seen("a", ReplicaState.WANTED),
    seen("b", ReplicaState.STARTING),
    seen("c", ReplicaState.WARMING),
    seen("d", ReplicaState.READY, sessions=3),
    seen("e", ReplicaState.DRAINING, sessions=2),
    seen("f", ReplicaState.FAILED),
)


def test_each_replica_has_its_rank() -> None:
    ranks = ranked(POOL, now=10.0, start_s=60.0)
    assert [replica.id for replica in ranks.coming] == ["a", "b", "c"]
    assert [replica.id for replica in ranks.ready] == ["d"]
    assert [replica.id for replica in ranks.draining] == ["e"]
    assert [(replica.id, why) for replica, why in ranks.lost] == [("f", "it failed")]
    assert (ranks.present, ranks.occupied, ranks.sessions) == (4, 5, 5)


def test_the_order_in_which_they_are_told_does_not_matter() -> None:
    assert {ranked(order, now=10.0, start_s=60.0) for order in permutations(POOL[1:6])} == {
        ranked(POOL[1:6], now=0.0, start_s=60.0)
    }


@pytest.mark.parametrize("state", DEADLINES)
def test_whoever_stays_in_a_state_for_too_long_is_lost(state: ReplicaState) -> None:
    late = seen("a", state, since=0.0)
    limit = DEADLINES[state]
    assert ranked((late,), now=limit.seconds, start_s=1e9).coming == (late,)
    assert ranked((late,), now=limit.seconds + 1, start_s=1e9).lost == ((late, limit.reason),)


@pytest.mark.parametrize("state", [ReplicaState.READY, ReplicaState.DRAINING])
def test_sessions_that_one_replica_does_not_tell_are_not_known_of_all(state: ReplicaState) -> None:
    assert ranked((*POOL, seen("x", state, sessions=None)), now=10.0, start_s=60.0).sessions is None


def test_a_replica_that_does_not_serve_yet_need_not_tell_its_sessions() -> None:
    assert ranked((seen("x", ReplicaState.STARTING, sessions=None),), now=10.0, start_s=60.0).sessions == 0


@pytest.mark.parametrize("state", DEADLINES)
def test_whoever_takes_longer_than_a_start_should_is_not_counted_on(state: ReplicaState) -> None:
    slow = seen("a", state, since=70.0, ordered=10.0)
    assert ranked((slow,), now=70.0, start_s=60.0).coming == (slow,)
    ranks = ranked((slow,), now=70.1, start_s=60.0)
    assert (ranks.late, ranks.coming, ranks.lost) == ((slow,), (), ())
    assert (ranks.present, ranks.occupied) == (0, 1)


def test_a_replica_that_serves_is_never_late() -> None:
    assert ranked((seen("a", ReplicaState.READY),), now=1e6, start_s=60.0).present == 1
