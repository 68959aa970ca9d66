"""Classes that repeat, over real HTTP."""

from typing import Any

import pytest

from tests.integration.api.house import House

WEEKLY = {
    "name": "Monday's class",
    "cron": "0 9 * * MON",
    "timezone": "Europe/Berlin",
    "minutes": 45,
    "first_day": "2026-03-20",
    "count": 3,
    "expected_trainees": 30,
    "seats": 25,
}


async def made(house: House, **changes: object) -> dict[str, Any]:
    body = {**WEEKLY, "scenario_id": await house.scenario(), **changes}
    answer = await house.here.instructor.post("/v1/drill-series", json=body)
    assert answer.status_code == 201, answer.text
    series: dict[str, Any] = answer.json()
    assert answer.headers["location"] == f"/v1/drill-series/{series['id']}"
    return series


async def test_a_series_is_scheduled_with_all_its_classes(house: House) -> None:
    series = await made(house)
    assert [drill["starts_at"] for drill in series["drills"]] == [
        "2026-03-23T08:00:00Z",
        "2026-03-30T07:00:00Z",
        "2026-04-06T07:00:00Z",
    ]
    assert (series["first_at"], series["last_at"]) == ("2026-03-23T08:00:00Z", "2026-04-06T07:00:00Z")
    assert (series["cron"], series["timezone"], series["minutes"]) == ("0 9 * * MON", "Europe/Berlin", 45)
    for who in (house.here.trainee, house.here.operator):
        assert (await who.get(f"/v1/drill-series/{series['id']}")).json() == series
    first = series["drills"][0]
    assert (first["ends_at"], first["seats"], first["name"]) == ("2026-03-23T08:45:00Z", 25, "Monday's class")
    assert first["series_id"] == series["id"]
    assert (await house.here.trainee.get(f"/v1/drills/{first['id']}")).json() == first


async def test_each_class_is_moved_and_cancelled_by_itself_and_the_rest_together(house: House) -> None:
    series = await made(house)
    first, second, third = series["drills"]
    body = {name: first[name] for name in ("name", "scenario_id", "expected_trainees")}
    moved = {**body, "starts_at": "2026-02-01T08:00:00Z", "ends_at": "2026-02-01T09:00:00Z"}
    assert (await house.here.instructor.put(f"/v1/drills/{first['id']}", json=moved)).json()["series_id"] == series[
        "id"
    ]
    await house.here.instructor.post(f"/v1/drills/{second['id']}/cancel")
    for _ in range(2):
        answer = await house.here.operator.post(f"/v1/drill-series/{series['id']}/cancel")
        assert answer.status_code == 200, answer.text
        states = {drill["id"]: (drill["state"], drill["version"]) for drill in answer.json()["drills"]}
        assert states == {
            first["id"]: ("scheduled", 2),
            second["id"]: ("cancelled", 2),
            third["id"]: ("cancelled", 2),
        }


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"cron": "0 9 * *"}, "cron"),
        ({"cron": "0 9 * * FUN"}, "cron"),
        ({"cron": "0 " * 60}, "cron"),
        ({"cron": "0 9 * 2 MON#5"}, "cron"),
        ({"timezone": "Europe/Berln"}, "timezone"),
        ({"timezone": "../../etc/passwd"}, "timezone"),
        ({"minutes": 0}, "minutes"),
        ({"count": None}, "until"),
        ({"until": "2026-04-01"}, "until"),
        ({"until": "2026-03-01", "count": None}, "until"),
        ({"until": "1.4.2026", "count": None}, "until"),
        ({"first_day": "2026-02-30"}, "first_day"),
        ({"count": 401}, "count"),
        ({"cron": "* * * * *", "until": "2026-12-31", "count": None}, "until"),
        ({"expected_trainees": 0}, "expected_trainees"),
        ({"name": " "}, "name"),
        ({"starts_at": "2026-03-01T08:00:00Z"}, "starts_at"),
    ],
)
async def test_what_is_no_series_names_the_field(house: House, changes: dict[str, object], field: str) -> None:
    body = {**WEEKLY, "scenario_id": await house.scenario(), **changes}
    answer = await house.here.instructor.post("/v1/drill-series", json=body)
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid_request"), answer.text
    assert [fault["field"] for fault in answer.json()["errors"]] == [field]
    assert (await house.here.instructor.get("/v1/drills")).json()["items"] == []


async def test_a_series_that_is_not_there(house: House) -> None:
    answer = await house.here.instructor.post("/v1/drill-series", json={**WEEKLY, "scenario_id": "no id"})
    assert (answer.status_code, answer.json()["code"]) == (404, "scenario_not_found")
    for method, path in (("GET", "no%20id"), ("POST", f"{await house.scenario()}/cancel")):
        answer = await house.here.instructor.request(method, f"/v1/drill-series/{path}")
        assert (answer.status_code, answer.json()["code"]) == (404, "series_not_found")
