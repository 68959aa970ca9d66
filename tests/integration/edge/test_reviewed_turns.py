"""Reviews and outlines on a real gateway with real Postgres: what is decided holds for the next turn, and words stay
where they are shown."""

import json
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from tests.integration.edge.conftest import Edge

REVIEWS = "/v1/moderation/reviews"
BANNED, ALLOWED = "quellwolke", "quellwolke am himmel"
"""Words that no other test would say."""
TEXT = f"Is that a {ALLOWED.title()}?"


@pytest.fixture
def instructor(edge: Edge) -> Iterator[httpx.Client]:
    with edge.world.client(edge.world.seed.keys.instructor) as client:
        yield client


@pytest.fixture
def trainee(edge: Edge) -> Iterator[httpx.Client]:
    with edge.world.client() as client:
        yield client


@pytest.fixture
def banned(instructor: httpx.Client) -> Iterator[str]:
    body = {"name": f"clouds {time.time()}", "phrases": [{"id": "cloud", "text": BANNED}], "live": True}
    made = str(told(instructor.post("/v1/moderation/lists", json=body))["id"])
    yield made
    instructor.delete(f"/v1/moderation/lists/{made}").raise_for_status()


def told(answer: httpx.Response) -> dict[str, Any]:
    assert answer.is_success, answer.text
    found: dict[str, Any] = answer.json()
    return found


def say(trainee: httpx.Client, session: str, text: str) -> dict[str, Any]:
    return told(trainee.post(f"/v1/sessions/{session}/turns", json={"text": text}))


def test_an_allowed_phrase_lets_the_same_text_pass_at_once(
    edge: Edge, instructor: httpx.Client, trainee: httpx.Client, banned: str
) -> None:
    since = edge.world.gateway.log.stat().st_size
    session = edge.world.open_session(trainee)
    assert say(trainee, session, TEXT)["state"] == "blocked"
    waiting = told(instructor.get(REVIEWS, params={"session_id": session, "state": "open"}))["items"]
    assert [(one["turn"], one["verdict"]) for one in waiting] == [(1, "block")]
    shown = told(instructor.get(f"{REVIEWS}/{session}/1"))
    assert shown["withheld"] == TEXT
    effect = {"allow": {"list_id": banned, "phrase": ALLOWED}}
    body = {"decision": "false_alarm", "note": f"she means a {BANNED}", "effect": effect}
    path = f"{REVIEWS}/{session}/1/decision"
    with ThreadPoolExecutor(4) as reviewers:
        answers = list(reviewers.map(lambda _: instructor.post(path, json=body), range(4)))
    assert [answer.status_code for answer in answers] == [200] * 4
    assert {answer.json()["effect"]["list_version"] for answer in answers} == {2}
    passed = say(trainee, session, TEXT)
    assert (passed["state"], passed["text"]) == ("completed", TEXT)
    assert say(trainee, session, f"Is that a {BANNED}?")["state"] == "blocked"
    late = instructor.post(path, json={"decision": "confirmed"})
    assert (late.status_code, late.json()["code"]) == (409, "review_decided")
    trail = told(instructor.get("/v1/moderation/audit", params={"limit": 4}))["items"]
    assert [line["action"] for line in trail] == ["list_live", "version_added", "turn_reviewed", "list_created"]
    assert trail[2]["subject"] == f"{session}/1"
    assert BANNED not in json.dumps(trail)
    assert BANNED not in edge.world.gateway.log.read_bytes()[since:].decode().casefold()


def test_points_are_stored_with_their_turns(edge: Edge, instructor: httpx.Client, trainee: httpx.Client) -> None:
    point = {"name": "cloud", "phrases": [BANNED]}
    scenario = {
        "title": "Weather",
        "locale": "en",
        "persona": "You forecast the weather.",
        "opening": "Good morning.",
        "scenes": [{"name": "talk", "script": "They talk."}],
        "outline": {"required": [{"name": "sky", "phrases": ["blue sky"]}], "forbidden": [point]},
    }
    made = told(instructor.post("/v1/scenarios", json=scenario))
    assert made["outline"] == scenario["outline"]
    session = told(trainee.post("/v1/sessions", json={"scenario_id": made["id"]}))["id"]
    engine = edge.world.engines["replica-1"]
    try:
        for reply in ("A BLUE  sky.", f"A {BANNED}."):
            engine.script(reply=reply)
            assert say(trainee, session, "How is it?")["reply"] == reply
    finally:
        engine.reset()
    report = told(instructor.get(f"/v1/sessions/{session}/outline"))
    assert [(point["name"], point["turns"]) for point in report["points"]] == [("sky", [1]), ("cloud", [2])]
    assert not report["compliant"]
    waiting = told(instructor.get(REVIEWS, params={"session_id": session}))["items"]
    assert [(one["turn"], one["sources"]) for one in waiting] == [(2, ["outline"])]
