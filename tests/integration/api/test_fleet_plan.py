"""The plan of the fleet as operators see it, and the floors that they set."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from router.domain.fleet import ReplicaId
from router.fleet.domain.demand import PoolName
from router.fleet.domain.past_starts import PastStart
from router.fleet.domain.pool_book import Floor, Round
from router.fleet.domain.replica_record import Milestone, WarmReport, ordered
from sessions.domain.tiers import Tier
from sessions.domain.viewer import TenantId
from tests.integration.api.house import DRILL, House, People
from tests.support.planned_fleet import FAR_POOL, NO_POOL, POOL

PLAN = "/v1/fleet/plan"
SCALE = f"/v1/fleet/pools/{POOL}/scale"
NOW = datetime(2026, 3, 1, 9, 0, tzinfo=UTC).timestamp()
"""By the house's clock, give or take a second."""
CLASS = {**DRILL, "starts_at": "2026-03-01T11:00:00Z", "ends_at": "2026-03-01T12:00:00Z", "expected_trainees": 65}
ROUND = Round(PoolName(POOL), at=NOW - 10, leader="control-1", wanted=2, ready=1, present=2)


async def add_class(house: House, people: People | None = None, **changes: object) -> str:
    asked = people or house.here
    body = {**CLASS, "scenario_id": await house.scenario(asked), **changes}
    answer = await asked.instructor.post("/v1/drills", json=body)
    assert answer.status_code == 201, answer.text
    return str(answer.json()["id"])


async def plan(house: House, query: str = "") -> dict[str, Any]:
    answer = await house.here.operator.get(f"{PLAN}{query}")
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


async def pool(house: House, query: str = "") -> dict[str, Any]:
    found: dict[str, Any] = (await plan(house, query))["pools"][0]
    return found


async def test_replicas_over_time_and_what_is_short(house: House) -> None:
    await add_class(house)
    found = await pool(house)
    assert [(step["at"], step["seats"], step["needs"], step["wanted"]) for step in found["steps"][1:]] == [
        ("2026-03-01T10:30:00Z", 0, 0, 4),
        ("2026-03-01T11:00:00Z", 65, 7, 4),
        ("2026-03-01T12:00:00Z", 0, 0, 0),
    ]
    assert [each["text"] for each in found["shortages"]] == ["needs 7 replicas, the pool allows 4"]
    assert found["lead"] == {
        "ahead_s": 1800,
        "source": "configured",
        "start_s": 270,
        "measured_p95_s": None,
        "starts": 0,
    }


async def test_the_plan_reaches_as_far_as_was_asked(house: House) -> None:
    await add_class(house, starts_at="2026-03-01T20:00:00Z", ends_at="2026-03-01T21:00:00Z")
    assert (await pool(house))["next_bell"] is None
    far = await pool(house, "?hours=24")
    assert far["next_bell"]["at"] == "2026-03-01T20:00:00Z"
    assert far["next_bell"]["in_s"] == pytest.approx(11 * 3600, abs=5)
    for hours in ("0", "169", "1.5", "many", "", "8&hours=9"):
        answer = await house.here.operator.get(f"{PLAN}?hours={hours}")
        assert (answer.status_code, answer.json()["code"]) == (422, "invalid_request"), hours


async def test_a_bell_outside_that_wants_replicas_inside_is_seen(house: House) -> None:
    await add_class(house, starts_at="2026-03-01T10:15:00Z")
    found = await pool(house, "?hours=1")
    assert (found["next_bell"], found["classes"], found["steps"][-1]["wanted"]) == (None, [], 4)


async def test_other_tenants_classes_count_and_have_no_names(house: House) -> None:
    mine = await add_class(house, name="Ours", expected_trainees=10)
    theirs = await add_class(house, house.elsewhere, name="Theirs", expected_trainees=20)
    answer = await house.here.operator.get(PLAN)
    found = answer.json()["pools"][0]
    assert [(each["id"], each["name"], each["seats"]) for each in found["classes"]] == [(mine, "Ours", 10)]
    assert (found["other_classes"], max(step["seats"] for step in found["steps"])) == (1, 30)
    assert "Theirs" not in answer.text
    assert theirs not in answer.text


async def test_classes_of_a_model_without_a_pool_are_counted(house: House) -> None:
    await add_class(house)
    await add_class(house, house.elsewhere)
    await house.planned.tenants.change(TenantId(house.here.tenant), {Tier.ROLE_PLAY: NO_POOL})
    found = await plan(house)
    assert found["unpooled"] == [{"model": NO_POOL, "classes": 1}]
    assert (found["pools"][0]["classes"], found["pools"][0]["other_classes"]) == ([], 1)
    assert (await plan(house, "?hours=1"))["unpooled"] == []


async def test_before_any_round_nobody_looks_after_the_fleet(house: House) -> None:
    await add_class(house)
    found = await plan(house)
    assert (found["leader"], found["last_round_at"], found["is_looked_after"]) == (None, None, False)
    first = found["pools"][0]
    assert (first["last_round"], first["is_looked_after"], first["replicas"]) == (None, False, [])
    assert (first["next_bell"]["needs"], first["next_bell"]["ready"]) == (7, None)


async def test_what_the_last_round_made_of_the_pool(house: House) -> None:
    await add_class(house)
    alert = replace(ROUND, wait="the pool may not have more replicas", short="1 of 7 replicas are ready", short_at=NOW)
    await house.planned.ledger.show(alert)
    found = await plan(house)
    assert (found["leader"], found["is_looked_after"]) == ("control-1", True)
    first, second = found["pools"]
    assert (first["next_bell"]["needs"], first["next_bell"]["ready"]) == (7, 1)
    assert first["last_round"] == {
        "at": "2026-03-01T08:59:50Z",
        "leader": "control-1",
        "wanted": 2,
        "ready": 1,
        "present": 2,
        "wait": "the pool may not have more replicas",
        "alert": "1 of 7 replicas are ready",
        "alert_bell": "2026-03-01T09:00:00Z",
    }
    assert (second["model"], second["last_round"], second["is_looked_after"]) == (FAR_POOL, None, False)


async def test_a_round_that_is_more_than_a_minute_old_is_none(house: House) -> None:
    await add_class(house)
    await house.planned.ledger.show(replace(ROUND, at=NOW - 90))
    found = await plan(house)
    assert (found["leader"], found["is_looked_after"]) == ("control-1", False)
    assert found["pools"][0]["next_bell"]["ready"] is None


async def test_each_replica_tells_where_it_is_in_its_life(house: House) -> None:
    new = ordered(ReplicaId("r-2"), PoolName(POOL), now=NOW - 40).at(Milestone.SCHEDULED, NOW - 30)
    warm = replace(
        ordered(ReplicaId("r-1"), PoolName(POOL), now=NOW - 400).at(Milestone.JOINED, NOW - 300),
        url="http://10.0.0.1:8000",
        report=WarmReport("9f2c", first_token_cold_ms=812.5, first_token_warm_ms=31.0, prefixes=3, took_s=22.4),
    )
    for record in (new, warm, replace(new, id=ReplicaId("r-3"), failure="its process ended with 1")):
        await house.planned.ledger.save(record)
    first, second, third = (await pool(house))["replicas"]
    assert (first["id"], first["state"], first["deadline"], first["url"]) == (
        "r-1",
        "ready",
        None,
        "http://10.0.0.1:8000",
    )
    assert first["warm_report"] == {
        "canary": "9f2c",
        "first_token_cold_ms": 812.5,
        "first_token_warm_ms": 31.0,
        "prefixes": 3,
        "took_s": 22.4,
    }
    assert (second["state"], second["since"], second["waits_for"], second["url"], second["warm_report"]) == (
        "starting",
        "2026-03-01T08:59:30Z",
        "its process",
        None,
        None,
    )
    assert second["deadline"] == "2026-03-01T09:10:30Z"
    assert second["milestones"][-1] == {"step": "scheduled", "at": "2026-03-01T08:59:30Z"}
    assert (third["state"], third["failure"]) == ("failed", "its process ended with 1")


async def test_a_lead_that_was_measured_says_so(house: House) -> None:
    for _ in range(5):
        await house.planned.ledger.tell(PoolName(POOL), PastStart(NOW - 1000, NOW - 100, went_warm=True))
    lead = (await pool(house))["lead"]
    assert (lead["source"], lead["measured_p95_s"], lead["starts"], lead["ahead_s"]) == ("measured", 900, 5, 2700)


async def test_a_floor_is_set_shown_and_taken_back(house: House) -> None:
    operator = house.here.operator
    answer = await operator.post(SCALE, json={"replicas": 3, "until": "2026-03-01T11:00:00+01:00", "reason": "a test"})
    assert (answer.status_code, answer.json()["minimum"], answer.json()["maximum"]) == (200, 0, 4)
    found = await pool(house)
    assert found["floor"] == answer.json()["floor"]
    assert (found["floor"]["replicas"], found["floor"]["until"], found["floor"]["reason"]) == (
        3,
        "2026-03-01T10:00:00Z",
        "a test",
    )
    assert [step["wanted"] for step in found["steps"]] == [0, 3, 0]
    taken = await operator.delete(SCALE)
    assert (taken.status_code, taken.json()["floor"]) == (200, None)
    assert (await operator.delete(SCALE)).status_code == 200
    assert [step["wanted"] for step in (await pool(house))["steps"]] == [0]


async def test_a_floor_without_an_end_and_without_a_reason(house: House) -> None:
    assert (await house.here.operator.post(SCALE, json={"replicas": 1})).json()["floor"]["until"] is None
    assert (await pool(house))["floor"]["reason"] == ""


async def test_a_moment_that_no_calendar_has_hides_no_plan(house: House) -> None:
    end_of_time = datetime.max.replace(tzinfo=UTC).timestamp()
    await house.planned.ledger.set_floor(PoolName(POOL), Floor(2, end_of_time, "operator", "set in former times"))
    assert (await pool(house))["floor"]["until"] == "9999-12-31T00:00:00Z"


@pytest.mark.parametrize("model", [FAR_POOL, FAR_POOL.replace("/", "%2F")])
async def test_a_name_with_a_slash_is_a_name(house: House, model: str) -> None:
    answer = await house.here.operator.post(f"/v1/fleet/pools/{model}/scale", json={"replicas": 2})
    assert (answer.status_code, answer.json()["model"], answer.json()["minimum"]) == (200, FAR_POOL, 1)
    assert (await house.here.operator.delete(f"/v1/fleet/pools/{model}/scale")).json()["model"] == FAR_POOL


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ({"replicas": 5}, "replicas: the pool allows 4 replicas at most"),
        ({"replicas": 2, "until": "2026-03-01T08:59:00Z"}, "until: this moment is past"),
        ({"replicas": 2, "until": "9999-12-31T23:59:59.999999Z"}, "until: it is in the year 9998 at the latest"),
        ({"replicas": 2, "until": "tomorrow"}, "until: a moment is written as 2026-03-01T09:00:00Z"),
        ({"replicas": 0}, "replicas: "),
        ({"replicas": "2"}, "replicas: "),
        ({}, "replicas: "),
        ({"replicas": 2, "reason": "two\nlines"}, "reason: "),
        ({"replicas": 2, "for": 60}, "for: "),
    ],
)
async def test_an_order_that_cannot_be_is_refused_and_changes_nothing(
    house: House, body: dict[str, object], told: str
) -> None:
    answer = await house.here.operator.post(SCALE, json=body)
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid_request")
    assert answer.json()["detail"].startswith(told)
    assert (await pool(house))["floor"] is None


async def test_an_unknown_pool_is_named_beside_those_that_are_there(house: House) -> None:
    operator, there = house.here.operator, "/v1/fleet/pools/none/scale"
    for answer in (await operator.post(there, json={"replicas": 1}), await operator.delete(there)):
        assert (answer.status_code, answer.json()["code"]) == (404, "pool_not_found")
        assert answer.json()["detail"] == f"there is no pool 'none'; there are {POOL}, {FAR_POOL}"


async def test_nobody_else_sees_the_plan_or_orders(house: House) -> None:
    people = house.here
    for who in (people.trainee, people.instructor, people.service):
        for answer in (await who.get(PLAN), await who.post(SCALE, json={"replicas": 4}), await who.delete(SCALE)):
            assert answer.json()["code"] == "forbidden"
    assert (await pool(house))["floor"] is None


async def test_without_the_database_the_plan_says_so(house: House) -> None:
    house.planned.ledger.away = True
    answer = await house.here.operator.get(PLAN)
    assert (answer.status_code, answer.json()["code"]) == (503, "plan_unavailable")
    assert "postgres.internal" not in answer.text
    assert answer.headers["retry-after"]
