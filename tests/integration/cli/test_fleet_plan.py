"""The plan of the fleet on a terminal, out of the API over real HTTP."""

import asyncio
import json
from collections.abc import Coroutine
from datetime import UTC, datetime
from typing import Any

import pytest

from router.fleet.domain.demand import PoolName
from router.fleet.domain.pool_book import Floor
from tests.integration.api.house import DRILL, People
from tests.integration.cli.api_thread import Running
from tests.integration.cli.conftest import Command, Ended
from tests.support.planned_fleet import FAR_POOL, POOL


@pytest.fixture
def plan(drillyard: Command, api: Running, monkeypatch: pytest.MonkeyPatch) -> Command:
    monkeypatch.setenv("COLUMNS", "100")

    def run(*words: str) -> Ended:
        return drillyard("fleet", "plan", *words, "--base-url", api.house.base_url, "--key", api.key)

    return run


def do(api: Running, work: Coroutine[Any, Any, Any]) -> None:
    asyncio.run_coroutine_threadsafe(work, api.loop).result(30)


async def book_a_class(api: Running, people: People, trainees: int, hour: int = 11) -> None:
    body = {**DRILL, "scenario_id": await api.house.scenario(people), "expected_trainees": trainees}
    body |= {"starts_at": f"2026-03-01T{hour}:00:00Z", "ends_at": f"2026-03-01T{hour + 1}:00:00Z"}
    assert (await people.instructor.post("/v1/drills", json=body)).status_code == 201


def test_each_pool_is_drawn_with_its_lead_classes_and_shortages(plan: Command, api: Running) -> None:
    do(api, book_a_class(api, api.house.here, 55))
    do(api, book_a_class(api, api.house.elsewhere, 10))
    until = datetime(2026, 3, 1, 10, 0, tzinfo=UTC).timestamp()
    do(api, api.house.planned.ledger.set_floor(PoolName(POOL), Floor(1, until, "x", "a rehearsal")))
    ended = plan()
    assert ended.code == 0, ended
    for told in (
        f"{POOL}: 10 seats a replica, 0 to 4 replicas; wanted 30 min before a bell, as set",
        f"{FAR_POOL}: 20 seats a replica, 1 to 2 replicas",
        "Thursday's class, 55 seats",
        "and 1 of other tenants",
        "needs 7 replicas, the pool allows 4",
        "at least 1 until",
        "(a rehearsal)",
        "NOBODY LOOKS AFTER THE FLEET",
    ):
        assert told in ended.out
    lines = ended.out.splitlines()
    top = next(line for line in lines if line.startswith("7 │"))
    allowed = next(line for line in lines if line.startswith("4 │"))
    assert set(top) <= set("7 │░")
    assert {"█", "╌"} < set(allowed)
    assert "▲" in ended.out


def test_hours_reach_further_and_have_bounds(plan: Command, api: Running) -> None:
    do(api, book_a_class(api, api.house.here, 10, hour=20))
    assert "Thursday's class" not in plan().out
    assert "Thursday's class" in plan("--hours", "24").out
    assert plan("--hours", "169").code == 2


def test_json_is_what_the_api_tells(plan: Command, api: Running) -> None:
    do(api, book_a_class(api, api.house.here, 55))
    told = json.loads(plan("--json").out)
    assert [pool["model"] for pool in told["pools"]] == [POOL, FAR_POOL]
    assert told["pools"][0]["shortages"][0]["text"] == "needs 6 replicas, the pool allows 4"
