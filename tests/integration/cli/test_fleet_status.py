"""The state of the fleet on a terminal, out of the API over real HTTP."""

import asyncio
import io
import json
from collections.abc import Coroutine, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from rich.console import Console

from gateway.cli import fleet_status
from gateway.cli.api_faults import ApiUnreachable
from gateway.cli.fleet_plan_wire import FleetPlanView
from gateway.cli.fleet_status import watched
from router.domain.fleet import ReplicaId
from router.fleet.domain.demand import PoolName
from router.fleet.domain.pool_book import Round
from router.fleet.domain.replica_record import Milestone, WarmReport, ordered
from tests.integration.api.house import DRILL
from tests.integration.cli.api_thread import Running
from tests.integration.cli.conftest import Command, Ended
from tests.support.planned_fleet import FAR_POOL, POOL

NOW = datetime(2026, 3, 1, 9, 0, tzinfo=UTC).timestamp()
ROUND = Round(PoolName(POOL), at=NOW, leader="control-1", wanted=3, ready=2, present=3)
FAR_ROUND = replace(ROUND, pool=PoolName(FAR_POOL), wanted=1, ready=1, present=1)


@pytest.fixture
def status(drillyard: Command, api: Running) -> Command:
    def run(*words: str) -> Ended:
        return drillyard("fleet", "status", *words, "--base-url", api.house.base_url, "--key", api.key)

    return run


def do(api: Running, work: Coroutine[Any, Any, Any]) -> None:
    asyncio.run_coroutine_threadsafe(work, api.loop).result(30)


async def book_a_class(api: Running, trainees: int) -> None:
    body = {**DRILL, "scenario_id": await api.house.scenario(), "expected_trainees": trainees}
    body |= {"starts_at": "2026-03-01T09:07:12Z", "ends_at": "2026-03-01T10:00:00Z"}
    assert (await api.house.here.instructor.post("/v1/drills", json=body)).status_code == 201


async def looked_after(api: Running, *rounds: Round) -> None:
    for each in rounds:
        await api.house.planned.ledger.show(each)


def test_a_fleet_that_nobody_looks_after_ends_with_1_and_knows_nothing(status: Command, api: Running) -> None:
    do(api, book_a_class(api, 30))
    ended = status()
    assert (ended.code, ended.err) == (1, "")
    assert "NOBODY LOOKS AFTER THE FLEET: there was no round yet; start `drillyard fleet run`" in ended.out
    assert "? of 3 ready, 00:07:1" in ended.out


def test_a_fleet_that_was_looked_after_long_ago_says_by_whom(status: Command, api: Running) -> None:
    do(api, looked_after(api, replace(ROUND, at=NOW - 300)))
    ended = status()
    assert ended.code == 1
    assert "the last round was 5 min ago, of control-1" in ended.out


def test_the_next_bell_and_each_replica_are_told(status: Command, api: Running) -> None:
    report = WarmReport("9f2c", first_token_cold_ms=812.4, first_token_warm_ms=31.0, prefixes=3, took_s=22.4)
    warm = replace(
        ordered(ReplicaId("r-1"), PoolName(POOL), now=NOW - 700).at(Milestone.JOINED, NOW - 600), report=report
    )
    cold = ordered(ReplicaId("r-2"), PoolName(POOL), now=NOW - 100).at(Milestone.PROCESS_UP, NOW - 60)
    lost = replace(cold, id=ReplicaId("r-3"), failure="its canary answer is not the pool's")
    do(api, book_a_class(api, 30))
    do(api, looked_after(api, ROUND, FAR_ROUND))
    for record in (warm, cold, lost):
        do(api, api.house.planned.ledger.save(record))
    ended = status()
    assert ended.code == 0, ended
    assert "control-1 looks after the fleet; its last round was 0 s ago" in ended.out
    assert "2 of 3 ready, 00:07:1" in ended.out
    for told in ("812 ms, warm 31 ms", "its first answer", "10 min", FAR_POOL, "its canary answer is not the pool's"):
        assert told in ended.out


@pytest.mark.parametrize("told", [("SHORT: 2 of 3 replicas are ready", "the pool may not have more replicas")])
def test_a_pool_that_is_short_ends_with_1(status: Command, api: Running, told: tuple[str, str]) -> None:
    short = replace(ROUND, short="2 of 3 replicas are ready", short_at=NOW + 400, wait=told[1])
    do(api, looked_after(api, short, FAR_ROUND))
    ended = status()
    assert ended.code == 1
    assert all(each in ended.out for each in told)


def test_what_the_calendar_needs_beyond_the_pool_is_told_early(status: Command, api: Running) -> None:
    do(api, book_a_class(api, 55))
    do(api, looked_after(api, ROUND, FAR_ROUND))
    assert "needs 6 replicas, the pool allows 4" in status().out


def test_one_pool_of_several_that_nobody_looks_after_is_named(status: Command, api: Running) -> None:
    do(api, looked_after(api, ROUND))
    ended = status()
    assert (ended.code, ended.out.count("NOBODY LOOKS AFTER IT")) == (1, 1)


def test_json_is_what_the_api_tells(status: Command, api: Running) -> None:
    do(api, looked_after(api, ROUND, FAR_ROUND))
    ended = status("--json")
    told = json.loads(ended.out)
    assert (ended.code, told["is_looked_after"], told["pools"][0]["last_round"]["wanted"]) == (0, True, 3)


def test_watching_takes_a_terminal(status: Command) -> None:
    ended = status("--watch")
    assert (ended.code, "--watch redraws a terminal" in ended.err) == (1, True)


async def test_watching_goes_on_when_the_server_is_away_for_a_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fleet_status, "LOOK_EVERY_S", 0.0)
    out = io.StringIO()
    answers: Iterator[FleetPlanView | BaseException] = iter(
        [plan(leader="first"), ApiUnreachable("http://there"), plan(leader="second")]
    )

    async def look() -> FleetPlanView:
        found = next(answers, KeyboardInterrupt())
        if isinstance(found, FleetPlanView):
            return found
        raise found

    with pytest.raises(KeyboardInterrupt):
        await watched(Console(file=out, force_terminal=True, width=100), look)
    told = out.getvalue()
    places = [told.index(each) for each in ("first looks after", "nothing answers at http://there", "second looks")]
    assert places == sorted(places)


def plan(leader: str) -> FleetPlanView:
    moment = "2026-03-01T09:00:00Z"
    seen = {"at": moment, "since": moment, "until": moment, "last_round_at": moment, "is_looked_after": True}
    pool = {
        "model": POOL,
        "host": "kubernetes",
        "minimum": 0,
        "maximum": 4,
        "reserve": 0,
        "seats_per_replica": 10,
        "lead": {"ahead_s": 1800, "source": "configured", "start_s": 270},
        "is_looked_after": True,
        "steps": [],
    }
    return FleetPlanView.model_validate({**seen, "leader": leader, "pools": [pool]})
