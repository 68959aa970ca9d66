"""Who schedules a class is told what it asks of the replicas; over real HTTP."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.integration.api.house import DRILL, House, People
from tests.integration.api.house import house as running

SOON = {"starts_at": "2026-03-02T08:00:00Z", "ends_at": "2026-03-02T09:00:00Z"}


@pytest.fixture
async def house() -> AsyncIterator[House]:
    async with running(strains=True) as opened:
        yield opened


async def made(house: House, people: People | None = None, **changes: object) -> dict[str, Any]:
    people = people or house.here
    body = {**DRILL, **SOON, "scenario_id": await house.scenario(people), **changes}
    answer = await people.instructor.post("/v1/drills", json=body)
    assert answer.status_code == 201, answer.text
    drill: dict[str, Any] = answer.json()
    return drill


async def test_a_class_that_fits_strains_nothing(house: House) -> None:
    drill = await made(house)
    assert drill["strain"] == {
        "pool": "fake",
        "replicas_needed": 3,
        "replicas_allowed": 4,
        "shortages": [],
        "overlaps": [],
        "warning": None,
        "text": "",
    }
    assert (await house.here.operator.get(f"/v1/drills/{drill['id']}")).json() == drill
    assert (await house.here.trainee.get(f"/v1/drills/{drill['id']}")).json()["strain"] is None
    assert (await house.here.instructor.post(f"/v1/drills/{drill['id']}/cancel")).json()["state"] == "cancelled"
    assert (await house.here.instructor.get(f"/v1/drills/{drill['id']}")).json()["strain"] is None


async def test_classes_of_all_tenants_count_and_only_the_own_are_named(house: House) -> None:
    theirs = await made(house, house.elsewhere, name="a secret class")
    ours = await made(house, name="ours", starts_at="2026-03-02T08:30:00Z", expected_trainees=1)
    drill = await made(house, expected_trainees=26)
    strain = drill["strain"]
    assert (strain["replicas_needed"], strain["replicas_allowed"]) == (6, 4)
    assert [(each["starts_at"], each["ends_at"], each["text"]) for each in strain["shortages"]] == [
        ("2026-03-02T08:00:00Z", "2026-03-02T09:00:00Z", "needs 6 replicas, the pool allows 4"),
    ]
    assert strain["text"] == "needs 6 replicas, the pool allows 4"
    assert strain["overlaps"] == [{"id": ours["id"], "name": "ours"}]
    assert theirs["id"] not in str(drill)
    assert "a secret class" not in str(drill)

    body = {**DRILL, **SOON, "scenario_id": drill["scenario_id"], "expected_trainees": 5}
    fewer = (await house.here.instructor.put(f"/v1/drills/{drill['id']}", json=body)).json()
    assert (fewer["strain"]["replicas_needed"], fewer["strain"]["text"]) == (4, "")


async def test_a_bell_that_is_too_near_is_warned_of(house: House) -> None:
    drill = await made(house, starts_at="2026-03-01T09:03:30Z", ends_at="2026-03-01T10:00:00Z")
    assert drill["strain"]["warning"] == "replicas take about 5 min, the bell is in 3"
    assert drill["strain"]["text"] == drill["strain"]["warning"]


async def test_series_and_imports_are_told_it_too(house: House) -> None:
    await made(house, expected_trainees=40)
    scenario = await house.scenario()
    body = {
        **{"name": "daily", "scenario_id": scenario, "cron": "15 8 * * *", "timezone": "UTC", "minutes": 30},
        **{"count": 3, "expected_trainees": 10},
    }
    series = (await house.here.instructor.post("/v1/drill-series", json=body)).json()
    assert [drill["strain"]["text"] for drill in series["drills"]] == [
        "needs 5 replicas, the pool allows 4",
        "",
        "",
    ]
    table = f"name,scenario,starts_at,minutes\nA,{scenario},2026-03-02T08:50:00Z,45\n"
    for trial in ("true", "false"):
        told = await house.here.instructor.post(
            "/v1/drills/import",
            content=table,
            headers={"Content-Type": "text/csv"},
            params={"trainees": "20", "dry_run": trial},
        )
        assert [change["text"] for change in told.json()["changes"]] == ["needs 6 replicas, the pool allows 4"]


async def test_a_fleet_that_cannot_be_asked_keeps_no_class_from_being_scheduled(house: House) -> None:
    house.planned.ledger.away = True
    assert (await made(house))["strain"] is None
