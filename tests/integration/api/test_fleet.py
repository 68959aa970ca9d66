"""The fleet as operators see it, what they may order, and why a turn ran where it did."""

from uuid import uuid4

import pytest

from router.domain.decision import Attempt, Candidate, Decision
from router.domain.fleet import ReplicaId
from router.domain.pin import PinDecision
from router.errors import BoardUnavailable
from tests.integration.api.house import House
from tests.support.scripted_desk import state

DRAIN = "/v1/fleet/replicas/replica-1/drain"
PATHS = ["/v1/fleet", "/v1/fleet/replicas/replica-1", "/v1/fleet/decisions/5a0f3a3e-0d6a-4a55-8f3e-0d3f6f0a7c11-1"]


async def test_an_operator_sees_pools_and_replicas(house: House) -> None:
    house.desk.known = [
        state("replica-1", warnings=("cached tokens cannot be reported",)),
        state("replica-2", health="down", reason="connection refused", sessions=2),
        state("replica-3", models=("other",), sessions=None, kv_tokens=None),
    ]
    found = (await house.here.operator.get("/v1/fleet")).json()
    assert found["pools"] == [
        {"model": "other", "replicas": ["replica-3"], "open": 1, "sessions": None},
        {"model": "smollm2", "replicas": ["replica-1", "replica-2"], "open": 1, "sessions": 5},
    ]
    first, second, third = found["replicas"]
    assert first["warnings"] == ["cached tokens cannot be reported"]
    assert (second["health"], second["reason"]) == ("down", "connection refused")
    assert third["sessions"] is None
    assert first["drain"] is None


@pytest.mark.parametrize("path", PATHS)
async def test_nobody_else_sees_the_fleet(house: House, path: str) -> None:
    people = house.here
    for who in (people.trainee, people.instructor, people.service):
        assert (await who.get(path)).json()["code"] == "forbidden"
        assert (await who.post(DRAIN)).json()["code"] == "forbidden"
        assert (await who.delete(DRAIN)).json()["code"] == "forbidden"
    assert (await house.nobody.get(path)).status_code == 401
    assert house.desk.known[0].drain is None


async def test_a_drain_is_ordered_watched_and_undone(house: House) -> None:
    operator = house.here.operator
    ordered = await operator.post(DRAIN, json={"within_s": 30})
    assert ordered.status_code == 202
    assert ordered.json()["drain"]["seconds_left"] == 30
    watched = (await operator.get("/v1/fleet/replicas/replica-1")).json()
    assert (watched["is_draining"], watched["drain"]["may_stop"]) == (True, False)
    assert (await operator.get("/v1/fleet")).json()["pools"][0]["open"] == 1
    undone = await operator.delete(DRAIN)
    assert (undone.status_code, undone.json()["drain"]) == (200, None)


async def test_a_drain_without_a_body_takes_the_time_of_the_settings(house: House) -> None:
    assert (await house.here.operator.post(DRAIN)).status_code == 202
    assert house.desk.within_s is None
    assert (await house.here.operator.post(DRAIN, json={})).status_code == 202


@pytest.mark.parametrize("within_s", [0, -1, 86_401, "30", True, None])
async def test_an_absurd_deadline_is_refused(house: House, within_s: object) -> None:
    answer = await house.here.operator.post(DRAIN, json={"within_s": within_s, "more": 1})
    assert answer.json()["code"] == "invalid_request"
    assert house.desk.known[0].drain is None


async def test_an_unknown_replica_is_not_found(house: House) -> None:
    operator, there = house.here.operator, "/v1/fleet/replicas/replica-9"
    for answer in (
        await operator.get(there),
        await operator.post(f"{there}/drain"),
        await operator.delete(f"{there}/drain"),
    ):
        assert (answer.status_code, answer.json()["code"]) == (404, "replica_not_found")


async def test_orders_that_cannot_be_given_now_say_so(house: House) -> None:
    house.desk.away = BoardUnavailable()
    answer = await house.here.operator.post(DRAIN)
    assert (answer.status_code, answer.json()["code"]) == (503, "board_unavailable")
    assert answer.headers["retry-after"]


async def test_a_turn_is_explained_to_its_own_tenant_alone(house: House) -> None:
    session = await house.session()
    turn = f"{session}-1"
    house.desk.decisions[turn] = Decision(
        request_id=turn,
        model="smollm2",
        at=1_772_355_600.0,
        pin=PinDecision.NEW,
        generation=1,
        candidates=(
            Candidate(ReplicaId("replica-1"), sessions=3),
            Candidate(ReplicaId("replica-2"), refused="draining"),
        ),
        attempts=[Attempt(ReplicaId("replica-1"), "new session", "completed")],
    )
    path = f"/v1/fleet/decisions/{turn}"
    found = (await house.here.operator.get(path)).json()
    assert (found["turn_id"], found["pin"], found["at"]) == (turn, "new", "2026-03-01T09:00:00Z")
    assert found["candidates"][1] == {
        "replica": "replica-2",
        "sessions": None,
        "kv_tokens": None,
        "in_flight": None,
        "refused": "draining",
    }
    assert found["attempts"][0]["why"] == "new session"
    foreign = await house.elsewhere.operator.get(path)
    assert (foreign.status_code, foreign.json()["code"]) == (404, "decision_not_found")


async def test_a_turn_of_which_nothing_is_kept_is_not_found(house: House) -> None:
    session = await house.session()
    for turn in (f"{session}-1", f"{session}-0", session, "nonsense", f"{uuid4()}-1", "%00"):
        answer = await house.here.operator.get(f"/v1/fleet/decisions/{turn}")
        assert (answer.status_code, answer.json()["code"]) == (404, "decision_not_found")
