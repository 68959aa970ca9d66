"""Drills over real HTTP: scheduled, changed, ended, and sessions in their seats."""

from typing import Any

import pytest

from tests.integration.api.house import DRILL, House


async def made(house: House, **changes: object) -> dict[str, Any]:
    scenario = await house.scenario()
    answer = await house.here.instructor.post("/v1/drills", json={**DRILL, "scenario_id": scenario, **changes})
    assert answer.status_code == 201, answer.text
    drill: dict[str, Any] = answer.json()
    assert answer.headers["location"] == f"/v1/drills/{drill['id']}"
    return drill


def listed(drill: dict[str, Any]) -> dict[str, Any]:
    """As it stands in a list, which says nothing of replicas."""
    return {name: value for name, value in drill.items() if name != "strain"}


def order(drill: dict[str, Any]) -> dict[str, str]:
    return {"scenario_id": drill["scenario_id"], "drill_id": drill["id"]}


async def test_a_drill_is_read_back_as_it_was_scheduled(house: House) -> None:
    drill = await made(house, seats=25, walk_ins=5, turns_in_flight=20)
    assert (drill["starts_at"], drill["ends_at"]) == ("2026-03-01T08:00:00Z", "2026-03-01T12:00:00Z")
    assert (drill["seats"], drill["walk_ins"], drill["turns_in_flight"]) == (25, 5, 20)
    assert (drill["state"], drill["version"]) == ("scheduled", 1)
    for who in (house.here.trainee, house.here.service, house.here.operator):
        assert (await who.get(f"/v1/drills/{drill['id']}")).json() == drill
    bare = await made(house)
    assert (bare["seats"], bare["walk_ins"], bare["turns_in_flight"]) == (None, 0, None)


async def test_drills_are_listed_newest_first(house: House) -> None:
    drills = [await made(house, name=f"drill {number}") for number in range(3)]
    first = (await house.here.trainee.get("/v1/drills", params={"limit": 2})).json()
    assert first["items"] == [listed(drills[2]), listed(drills[1])]
    rest = (await house.here.trainee.get("/v1/drills", params={"cursor": first["next_cursor"]})).json()
    assert rest == {"items": [listed(drills[0])], "next_cursor": None}


async def test_drills_of_a_span_are_listed_by_their_start(house: House) -> None:
    drills = [
        await made(house, starts_at=f"2026-03-0{day}T08:00:00Z", ends_at=f"2026-03-0{day}T09:00:00Z")
        for day in (5, 3, 4, 2)
    ]
    span: dict[str, str | int] = {"from": "2026-03-03T08:30:00Z", "to": "2026-03-05T08:00:00Z", "limit": 2}
    first = (await house.here.trainee.get("/v1/drills", params=span)).json()
    assert first["items"] == [listed(drills[1]), listed(drills[2])]
    rest = (await house.here.trainee.get("/v1/drills", params={**span, "cursor": first["next_cursor"]})).json()
    assert rest == {"items": [listed(drills[0])], "next_cursor": None}
    open_ended = (await house.here.trainee.get("/v1/drills", params={"from": "2026-03-05T00:00:00Z"})).json()
    assert open_ended["items"] == [listed(drills[0])]
    before = (await house.here.trainee.get("/v1/drills", params={"to": "2026-03-02T12:00:00+01:00"})).json()
    assert before["items"] == [listed(drills[3])]
    wrong = await house.here.trainee.get("/v1/drills", params={"from": "tomorrow"})
    assert (wrong.status_code, wrong.json()["errors"][0]["field"]) == (422, "from")


async def test_a_drill_is_changed_and_ended(house: House) -> None:
    drill = await made(house)
    path = f"/v1/drills/{drill['id']}"
    body = {**DRILL, "scenario_id": drill["scenario_id"], "name": "Friday's class", "seats": 3}
    changed = (await house.here.operator.put(path, json=body)).json()
    assert changed == {**drill, "name": "Friday's class", "seats": 3, "version": 2}
    for version in (3, 3):
        answer = await house.here.instructor.post(f"{path}/cancel")
        assert (answer.status_code, answer.json()["state"], answer.json()["version"]) == (200, "cancelled", version)
    late = await house.here.instructor.put(path, json=body)
    assert (late.status_code, late.json()["code"]) == (409, "illegal_transition")
    assert (await house.here.instructor.post(f"{path}/archive")).json()["state"] == "archived"


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"name": "\n"}, "name"),
        ({"name": " "}, "name"),
        ({"ends_at": "2026-03-01T08:00:00Z"}, "ends_at"),
        ({"ends_at": "tomorrow"}, "ends_at"),
        ({"starts_at": "2026-03-01T08:00:00"}, "starts_at"),
        ({"starts_at": 1}, "starts_at"),
        ({"expected_trainees": 0}, "expected_trainees"),
        ({"seats": -1}, "seats"),
        ({"seats": 0}, "seats"),
        ({"walk_ins": 10_000_000_000}, "walk_ins"),
        ({"turns_in_flight": 0}, "turns_in_flight"),
        ({"state": "archived"}, "state"),
    ],
)
async def test_what_cannot_be_held_names_the_field(house: House, changes: dict[str, object], field: str) -> None:
    body = {**DRILL, "scenario_id": await house.scenario(), **changes}
    answer = await house.here.instructor.post("/v1/drills", json=body)
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid_request"), answer.text
    assert [fault["field"] for fault in answer.json()["errors"]] == [field]
    assert (await house.here.instructor.get("/v1/drills")).json()["items"] == []


async def test_a_session_of_a_drill_says_so_and_is_found_by_it(house: House) -> None:
    drill = await made(house, seats=2)
    session = (await house.here.trainee.post("/v1/sessions", json=order(drill))).json()
    await house.session()
    assert session["drill_id"] == drill["id"]
    for who in (house.here.trainee, house.here.instructor):
        found = (await who.get("/v1/sessions", params={"drill_id": drill["id"]})).json()
        assert found["items"] == [session]
    for nothing in (drill["scenario_id"], "no id"):
        assert (await house.here.trainee.get("/v1/sessions", params={"drill_id": nothing})).json()["items"] == []


async def test_a_full_drill_takes_another_session_once_one_is_closed(house: House) -> None:
    drill = await made(house, seats=1, walk_ins=1)
    key = {"Idempotency-Key": "mine"}
    seated = await house.here.trainee.post("/v1/sessions", json=order(drill), headers=key)
    again = await house.here.trainee.post("/v1/sessions", json=order(drill), headers=key)
    assert (again.status_code, again.json()) == (201, seated.json())
    assert "RateLimit" in seated.headers
    assert "RateLimit" not in again.headers
    assert (await house.here.other_trainee.post("/v1/sessions", json=order(drill))).status_code == 201
    full = await house.here.other_trainee.post("/v1/sessions", json=order(drill))
    assert (full.status_code, full.json()["code"], int(full.headers["retry-after"])) == (503, "drill_full", 30)
    assert (await house.here.trainee.post(f"/v1/sessions/{seated.json()['id']}/close")).status_code == 200
    assert (await house.here.other_trainee.post("/v1/sessions", json=order(drill))).status_code == 201


async def test_no_session_begins_where_none_may(house: House) -> None:
    drill, other = await made(house), await house.scenario()
    await house.here.instructor.post(f"/v1/drills/{drill['id']}/cancel")
    over = await made(house, starts_at="2026-02-01T08:00:00Z", ends_at="2026-02-01T09:00:00Z")
    for closed, reason in ((drill, "cancelled"), (over, "over")):
        answer = await house.here.trainee.post("/v1/sessions", json=order(closed))
        assert (answer.status_code, answer.json()["code"]) == (409, "drill_closed")
        assert answer.json()["reason"] == reason
    mismatch = await house.here.trainee.post("/v1/sessions", json={**order(await made(house)), "scenario_id": other})
    assert (mismatch.status_code, mismatch.json()["errors"][0]["field"]) == (422, "scenario_id")
    for nothing in (drill["scenario_id"], "no id"):
        answer = await house.here.trainee.post("/v1/sessions", json={"scenario_id": other, "drill_id": nothing})
        assert (answer.status_code, answer.json()["code"]) == (404, "drill_not_found")
