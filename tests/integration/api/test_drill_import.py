"""Classes out of files, over real HTTP."""

from typing import Any

import httpx
import pytest

from tests.integration.api.house import SCENARIO, House

TABLE = "name;scenario;starts_at;minutes;key\nA;{scenario};2026-12-01 09:00;45;a\nB;{scenario};2026-12-02 09:00;45;b\n"
TOLD = {"timezone": "Europe/Berlin", "trainees": "30"}
CALENDAR = "\r\n".join(
    [
        "BEGIN:VCALENDAR",
        "VERSION:2.0",
        "PRODID:test",
        "BEGIN:VEVENT",
        "UID:monday",
        "SUMMARY:周一",
        "DTSTART;TZID=Europe/Berlin:20260323T090000",
        "DURATION:PT45M",
        "RRULE:FREQ=WEEKLY;COUNT=2",
        "END:VEVENT",
        "END:VCALENDAR",
        "",
    ]
)


async def send(house: House, raw: str | bytes, kind: str = "text/csv", **query: str) -> httpx.Response:
    return await house.here.instructor.post(
        "/v1/drills/import", content=raw, headers={"Content-Type": kind}, params={**TOLD, **query}
    )


async def taken(house: House, raw: str | bytes, kind: str = "text/csv", **query: str) -> dict[str, Any]:
    answer = await send(house, raw, kind, **query)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def counts(told: dict[str, Any]) -> dict[str, int]:
    return {name: told[name] for name in ("added", "changed", "cancelled", "unchanged", "left_alone") if told[name]}


async def stored(house: House) -> list[dict[str, Any]]:
    listed = (await house.here.trainee.get("/v1/drills", params={"from": "2026-01-01T00:00:00Z"})).json()
    items: list[dict[str, Any]] = listed["items"]
    return items


async def test_a_table_is_taken_over_and_read_again(house: House) -> None:
    table = TABLE.format(scenario=await house.scenario())
    trial = await taken(house, table, dry_run="true")
    assert (trial["dry_run"], counts(trial), await stored(house)) == (True, {"added": 2}, [])
    told = await taken(house, "\ufeff" + table.replace("\n", "\r\n"))
    assert (told["dry_run"], counts(told)) == (False, {"added": 2})
    drills = await stored(house)
    assert [(drill["name"], drill["starts_at"], drill["expected_trainees"]) for drill in drills] == [
        ("A", "2026-12-01T08:00:00Z", 30),
        ("B", "2026-12-02T08:00:00Z", 30),
    ]
    assert [change["id"] for change in told["changes"]] == [drill["id"] for drill in drills]
    assert counts(await taken(house, table)) == {"unchanged": 2}
    assert await stored(house) == drills

    moved = await taken(house, table.replace("12-02 09:00", "12-03 10:30"))
    assert (counts(moved), moved["changes"][0]["change"]) == ({"changed": 1, "unchanged": 1}, "changed")
    assert [drill["starts_at"] for drill in await stored(house)] == ["2026-12-01T08:00:00Z", "2026-12-03T09:30:00Z"]

    shorter = "\n".join(table.splitlines()[:2])
    assert counts(await taken(house, shorter)) == {"unchanged": 1}
    assert counts(await taken(house, shorter, prune="true", source="other")) == {"added": 1}
    assert counts(await taken(house, shorter, prune="true")) == {"unchanged": 1, "cancelled": 1}
    assert counts(await taken(house, table)) == {"unchanged": 1, "left_alone": 1}


async def test_a_title_names_a_scenario_as_well_as_an_id(house: House) -> None:
    scenario = await house.scenario()
    await taken(house, TABLE.format(scenario=SCENARIO["title"]))
    assert {drill["scenario_id"] for drill in await stored(house)} == {scenario}


async def test_a_calendar_is_taken_over_and_read_again(house: House) -> None:
    asked = {"scenario": await house.scenario(), "source": "school.ics"}
    assert counts(await taken(house, CALENDAR, "text/calendar", **asked)) == {"added": 2}
    assert [drill["starts_at"] for drill in await stored(house)] == ["2026-03-23T08:00:00Z", "2026-03-30T07:00:00Z"]
    assert counts(await taken(house, CALENDAR, "text/calendar; charset=utf-8", **asked)) == {"unchanged": 2}
    shorter = CALENDAR.replace("COUNT=2", "COUNT=1")
    assert counts(await taken(house, shorter, "text/calendar", **asked, prune="true")) == {
        "unchanged": 1,
        "cancelled": 1,
    }
    off = CALENDAR.replace("DURATION", "STATUS:CANCELLED\r\nDURATION")
    assert counts(await taken(house, off, "text/calendar", **asked)) == {"cancelled": 1, "unchanged": 1}


async def test_all_faults_are_told_at_once_and_nothing_is_written(house: House) -> None:
    scenario = await house.scenario()
    table = TABLE.format(scenario=scenario) + f";{scenario};never;45;c\nD;nowhere;2026-12-02 09:00;45;a\n"
    answer = await send(house, table)
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid_request")
    assert [fault["field"] for fault in answer.json()["errors"]] == [
        "line 4, name",
        "line 4, starts_at",
        "line 5",
        "line 5, scenario",
    ]
    assert await stored(house) == []


@pytest.mark.parametrize(
    ("raw", "kind", "query", "status", "told"),
    [
        (b"name,starts_at\n\xff", "text/csv", {}, 422, "UTF-8"),
        (b"hello", "text/calendar", {}, 422, "no calendar"),
        (b"{}", "application/json", {}, 415, "text/calendar"),
        (b"x" * 2_100_000, "text/csv", {}, 413, "large"),
        (b"", "text/csv", {"source": "a/b"}, 422, "source"),
        (b"", "text/csv", {"trainees": "many"}, 422, "trainees"),
        (b"", "text/csv", {"trainees": "0"}, 422, "trainees"),
        (b"", "text/csv", {"teacher": "x"}, 422, "teacher"),
        (b"name,starts_at\nA,2026-12-01 09:00", "text/csv", {"timezone": "Mars"}, 422, "time zone"),
    ],
)
async def test_what_cannot_be_taken_is_refused(
    house: House, raw: bytes, kind: str, query: dict[str, str], status: int, told: str
) -> None:
    answer = await send(house, raw, kind, **query)
    assert (answer.status_code, told in answer.text) == (status, True), answer.text
    assert await stored(house) == []


async def test_a_file_full_of_faults_is_not_told_in_full(house: House) -> None:
    answer = await send(house, "name,scenario,starts_at,minutes\n" + "A,x,never,9\n" * 4000)
    assert answer.status_code == 422
    assert len(answer.json()["errors"]) == 101
    assert answer.json()["errors"][-1] == {"field": "the file", "detail": "3900 more faults"}
