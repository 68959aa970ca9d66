"""A replica as JSON."""

from router.domain.board import RouterId
from router.domain.drain import DrainProgress
from router.domain.fleet import Health, Replica, ReplicaId
from router.http.replica_view import drain_shown, shown
from router.orders import ReplicaStatus

A = ReplicaId("a")


def test_what_nobody_can_tell_is_null() -> None:
    seen = shown(ReplicaStatus(Replica(A, "http://a", Health.DOWN, "refused"), None, 0, None))
    assert (seen["health"], seen["reason"]) == ("down", "refused")
    assert seen["sessions"] is seen["kv_tokens"] is seen["kv_capacity_tokens"] is seen["drain"] is None


def test_a_drain_says_who_has_not_heard() -> None:
    progress = DrainProgress(A, (RouterId("one"),), (RouterId("two"),), 1, None, 2.34567, may_stop=False)
    assert drain_shown(progress) == {
        "acknowledged": 1,
        "missing": 1,
        "missing_routers": ["two"],
        "in_flight": 1,
        "sessions_left": None,
        "seconds_left": 2.346,
        "may_stop": False,
    }
