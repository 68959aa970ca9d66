"""Who is not waited for any longer."""

import pytest

from router.domain.absence import absent_since, given_up
from router.domain.fleet import Fleet, Health, Replica, ReplicaId

A, B = ReplicaId("a"), ReplicaId("b")
M = frozenset({"m"})


def fleet(a: Health, b: Health = Health.READY, *, b_models: frozenset[str] = M, is_draining: bool = False) -> Fleet:
    return Fleet((Replica(A, "http://a", a, models=M), Replica(B, "http://b", b, "", b_models, is_draining)))


def after(*seen: tuple[float, Fleet], after_s: float = 5.0) -> list[ReplicaId]:
    """Who is given up once all this was seen."""
    since: dict[ReplicaId, float] = {}
    for now, each in seen:
        since = dict(absent_since(since, each, now=now))
    now, last = seen[-1]
    return [replica.id for replica in given_up(since, last, now=now, after_s=after_s)]


@pytest.mark.parametrize("health", [Health.DOWN, Health.REFUSED, Health.PROVING])
def test_one_that_stays_away_is_given_up_and_no_sooner(health: Health) -> None:
    away = fleet(health)
    assert after((10.0, away), (14.9, away)) == []
    assert after((10.0, away), (15.0, away)) == [A]


def test_one_that_came_back_meanwhile_is_counted_anew() -> None:
    assert after((10.0, fleet(Health.DOWN)), (12.0, fleet(Health.READY)), (16.0, fleet(Health.DOWN))) == []


def test_one_that_only_looks_alive_now_and_then_is_not_counted_anew() -> None:
    assert after((10.0, fleet(Health.DOWN)), (12.0, fleet(Health.PROVING)), (16.0, fleet(Health.DOWN))) == [A]


def test_one_that_nobody_has_looked_at_is_not_given_up() -> None:
    unknown = fleet(Health.UNKNOWN)
    assert after((10.0, unknown), (99.0, unknown)) == []


@pytest.mark.parametrize(
    "other",
    [
        fleet(Health.DOWN, Health.DOWN),
        fleet(Health.DOWN, is_draining=True),
        fleet(Health.DOWN, b_models=frozenset({"another"})),
    ],
    ids=["down", "draining", "another model"],
)
def test_the_last_hope_is_not_given_up(other: Fleet) -> None:
    assert after((10.0, other), (99.0, other)) == []


def test_one_that_has_left_is_forgotten() -> None:
    assert after((10.0, fleet(Health.DOWN)), (12.0, Fleet()), (16.0, fleet(Health.DOWN))) == []
