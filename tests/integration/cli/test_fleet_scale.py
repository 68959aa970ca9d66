"""Floors that operators set from a terminal."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from gateway.wiring.clock import SystemClock
from router.fleet.domain.demand import PoolName
from router.fleet.domain.pool_book import Floor
from tests.integration.cli.api_thread import Running
from tests.integration.cli.conftest import Command, Ended
from tests.support.planned_fleet import FAR_POOL, POOL


@pytest.fixture
def scale(drillyard: Command, api: Running) -> Command:
    def run(*words: str) -> Ended:
        return drillyard("fleet", "scale", *words, "--base-url", api.house.base_url, "--key", api.key)

    return run


def floor(api: Running, pool: str) -> Floor | None:
    book = api.house.planned.ledger.book(PoolName(pool))
    return asyncio.run_coroutine_threadsafe(book, api.loop).result(30).floor


def test_a_pool_is_scaled_and_taken_back_whatever_its_name(scale: Command, api: Running) -> None:
    ended = scale(FAR_POOL, "2", "--reason", "a rehearsal")
    assert (ended.code, ended.out) == (0, f"{FAR_POOL}: at least 2 until it is taken back (a rehearsal)\n")
    found = floor(api, FAR_POOL)
    assert found is not None
    assert (found.replicas, found.until, found.reason) == (2, None, "a rehearsal")
    assert scale(FAR_POOL, "--back").out == f"{FAR_POOL}: the calendar alone decides\n"
    assert floor(api, FAR_POOL) is None


def test_it_ends_at_a_moment_or_after_a_while(scale: Command, api: Running) -> None:
    assert "until" in scale(POOL, "3", "--until", "2999-12-01T18:00:00+01:00").out
    found = floor(api, POOL)
    assert found is not None
    assert found.until == datetime(2999, 12, 1, 17, 0, tzinfo=UTC).timestamp()
    before = SystemClock().now()
    assert scale(POOL, "3", "--for", "1h30m").code == 0
    found = floor(api, POOL)
    assert found is not None
    assert found.until == pytest.approx((before + timedelta(hours=1.5)).timestamp(), abs=30)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ((POOL, "5"), "replicas: the pool allows 4 replicas at most"),
        (("none", "1"), f"there is no pool 'none'; there are {POOL}, {FAR_POOL}"),
        ((POOL, "2", "--until", "2020-01-01 10:00"), "until: this moment is past"),
        ((POOL, "2", "--until", "noon"), "is no moment"),
        ((POOL, "2", "--for", "soon"), "is no span of time"),
        ((POOL, "2", "--for", "1h", "--until", "2999-01-01 10:00"), "--until and --for say the same"),
        ((POOL,), "either a number of replicas or --back"),
        ((POOL, "2", "--back"), "either a number of replicas or --back"),
    ],
)
def test_what_cannot_be_says_why(scale: Command, api: Running, words: tuple[str, ...], told: str) -> None:
    ended = scale(*words)
    assert ended.code == 1
    assert told in ended.err
    assert floor(api, POOL) is None
