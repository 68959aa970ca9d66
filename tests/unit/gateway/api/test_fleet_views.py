"""Pools as operators see them."""

from gateway.api.fleet_views import FleetView
from tests.support.scripted_desk import state


def test_a_replica_of_two_models_stands_in_both_pools() -> None:
    view = FleetView.of([state("a", models=("m", "n")), state("b", models=("n",), is_draining=True)])
    assert [(pool.model, pool.replicas, pool.open, pool.sessions) for pool in view.pools] == [
        ("m", ("a",), 1, 3),
        ("n", ("a", "b"), 1, 6),
    ]


def test_sessions_that_are_not_known_everywhere_have_no_sum() -> None:
    view = FleetView.of([state("a"), state("b", sessions=None)])
    assert view.pools[0].sessions is None


def test_an_empty_fleet_has_no_pools() -> None:
    assert FleetView.of([]) == FleetView(pools=(), replicas=())
