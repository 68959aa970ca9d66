"""Every kind of bad input against every route that could take it: always a problem, never a stored thing."""

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import httpx
import pytest

from tests.integration.api.house import BODY_LIMIT_BYTES, SCENARIO, House

NO_UUID = "not-a-uuid"
NOBODY = "00000000-0000-4000-8000-000000000000"


@dataclass(frozen=True)
class Route:
    """A route that takes a body: who calls it, and a body that would be taken."""

    path: str
    role: str
    body: dict[str, Any]


ROUTES = [
    Route("/v1/scenarios", "instructor", SCENARIO),
    Route("/v1/scenarios/{scenario}/versions", "instructor", SCENARIO),
    Route("/v1/sessions", "trainee", {"scenario_id": "{scenario}"}),
    Route("/v1/sessions/{session}/turns", "trainee", {"text": "Hi"}),
]

each_route = pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.path)

BAD_BODIES: dict[str, tuple[bytes, int, str]] = {
    "nothing": (b"", 400, "body_not_json"),
    "white space": (b"  ", 400, "body_not_json"),
    "half": (b'{"text": "a', 400, "body_not_json"),
    "two": (b"{} {}", 400, "body_not_json"),
    "a comma too many": (b'{"text": "a",}', 400, "body_not_json"),
    "no UTF-8": (b'{"text": "\xff"}', 400, "body_not_json"),
    "UTF-16": ('{"text": "a"}'.encode("utf-16"), 400, "body_not_json"),
    "a byte order mark": (b'\xef\xbb\xbf{"text": "a"}', 400, "body_not_json"),
    "encoded half a pair": (b'{"text": "\xed\xa0\x80"}', 400, "body_not_json"),
    "escaped half a pair": (b'{"text": "\\ud800"}', 400, "body_not_json"),
    "escaped half a pair as a name": (b'{"\\udfff": "a"}', 400, "body_not_json"),
    "the same name twice": (b'{"text": "a", "text": "b"}', 400, "body_not_json"),
    "NaN": (b'{"text": NaN}', 400, "body_not_json"),
    "minus infinity": (b'{"text": -Infinity}', 400, "body_not_json"),
    "an overflowing number": (b'{"text": 1e999}', 400, "body_not_json"),
    "an endless number": (b'{"text": ' + b"9" * 2000 + b"}", 400, "body_not_json"),
    "a raw control character": (b'{"text": "a\x00b"}', 400, "body_not_json"),
    "deep lists": (b"[" * 2000 + b"]" * 2000, 400, "body_not_json"),
    "deep objects": (b'{"a":' * 800, 400, "body_not_json"),
    "a list": (b"[]", 422, "invalid_request"),
    "a text": (b'"text"', 422, "invalid_request"),
    "a number": (b"1", 422, "invalid_request"),
    "null": (b"null", 422, "invalid_request"),
    "an empty object": (b"{}", 422, "invalid_request"),
    "too large": (b'{"text": "' + b"a" * 4 * BODY_LIMIT_BYTES + b'"}', 413, "body_too_large"),
}


async def prepared(house: House, route: Route) -> tuple[httpx.AsyncClient, str, dict[str, Any]]:
    """The caller, the path, and a good body of this route."""
    session = await house.session()
    scenario = (await house.here.trainee.get(f"/v1/sessions/{session}")).json()["scenario_id"]
    body = json.loads(json.dumps(route.body).replace("{scenario}", scenario))
    return getattr(house.here, route.role), route.path.format(scenario=scenario, session=session), body


async def stored(house: House) -> tuple[int, int, int]:
    """How many scenario versions, sessions and turns there are."""
    scenarios = (await house.here.instructor.get("/v1/scenarios")).json()["items"]
    sessions = (await house.here.instructor.get("/v1/sessions")).json()["items"]
    turns = sum(session["turn_count"] for session in sessions)
    return sum(scenario["latest_version"] for scenario in scenarios), len(sessions), turns


def check(answer: httpx.Response, status: int, code: str) -> dict[str, Any]:
    assert answer.headers["content-type"] == "application/problem+json", answer.text
    problem: dict[str, Any] = answer.json()
    assert (answer.status_code, problem["code"]) == (status, code), answer.text
    assert problem["status"] == status
    assert problem["type"] == f"urn:drillyard:problem:{code}"
    assert problem["title"]
    assert problem["detail"]
    assert answer.headers["x-request-id"]
    return problem


@each_route
async def test_a_bad_body_is_refused_and_nothing_is_stored(house: House, route: Route) -> None:
    client, path, _ = await prepared(house, route)
    before = await stored(house)
    for name, (raw, status, code) in BAD_BODIES.items():
        for accept in ("application/json", "text/event-stream"):
            headers = {"Content-Type": "application/json", "Accept": accept}
            answer = await client.post(path, content=raw, headers=headers)
            assert answer.status_code == status, name
            check(answer, status, code)
    assert await stored(house) == before


@each_route
async def test_each_field_of_a_wrong_type_is_named(house: House, route: Route) -> None:
    client, path, good = await prepared(house, route)
    before = await stored(house)
    for name in good:
        for wrong in (1, True, 1.5, [1], {"a": [1]}):
            answer = await client.post(path, json={**good, name: wrong})
            problem = check(answer, 422, "invalid_request")
            assert any(fault["field"].startswith(name) for fault in problem["errors"]), (name, wrong)
    for extra in ("surplus", "", "\u2028", "x" * 500):
        problem = check(await client.post(path, json={**good, extra: 1}), 422, "invalid_request")
        assert problem["errors"][0]["field"] == (extra[:100] or "body")
    assert await stored(house) == before


@each_route
async def test_control_characters_are_refused(house: House, route: Route) -> None:
    client, path, good = await prepared(house, route)
    for field in {"text", "title", "persona", "opening", "instructions"} & set(good):
        for bad in ("a\x00b", "\x1b[31m", "a\x7f", "a\x85b"):
            check(await client.post(path, json={**good, field: bad}), 422, "invalid_request")


@each_route
async def test_another_content_type_is_refused(house: House, route: Route) -> None:
    client, path, good = await prepared(house, route)
    raw = json.dumps(good).encode()
    for content_type in (
        "text/plain",
        "application/x-www-form-urlencoded",
        "",
        "application/json; a=b; charset=latin-1",
    ):
        check(
            await client.post(path, content=raw, headers={"Content-Type": content_type}), 415, "unsupported_media_type"
        )
    check(await client.post(path, content=raw), 415, "unsupported_media_type")
    compressed = {"Content-Type": "application/json", "Content-Encoding": "gzip"}
    check(await client.post(path, content=raw, headers=compressed), 415, "unsupported_media_type")
    good_type = {"Content-Type": 'Application/JSON; charset="UTF-8"'}
    assert (await client.post(path, content=raw, headers=good_type)).is_success


@each_route
async def test_a_body_without_a_length_is_counted_while_it_comes(house: House, route: Route) -> None:
    client, path, _ = await prepared(house, route)
    sent = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal sent
        for _ in range(64):
            sent += 1024
            yield b" " * 1024

    answer = await client.post(path, content=endless(), headers={"Content-Type": "application/json"})
    problem = check(answer, 413, "body_too_large")
    assert problem["limit_bytes"] == BODY_LIMIT_BYTES


@each_route
async def test_a_key_is_asked_for_before_anything_else(house: House, route: Route) -> None:
    _, path, _ = await prepared(house, route)
    for headers in ({}, {"Authorization": "Bearer dy_x_y"}, {"Authorization": "Basic abc"}, {"Accept": ";;;"}):
        answer = await house.nobody.post(path, content=b"\xff", headers=headers)
        check(answer, 401, "unauthenticated")
        assert answer.headers["www-authenticate"].startswith("Bearer")


@each_route
async def test_the_role_is_checked_before_the_body(house: House, route: Route) -> None:
    _, path, _ = await prepared(house, route)
    wrong = house.here.service
    problem = check(await wrong.post(path, content=b"\xff"), 403, "forbidden")
    assert problem["role"] == "service"
    assert problem["action"]


@each_route
async def test_an_unknown_query_is_refused(house: House, route: Route) -> None:
    client, path, good = await prepared(house, route)
    problem = check(await client.post(path, json=good, params={"dry_run": "1"}), 422, "invalid_request")
    assert problem["errors"][0]["field"] == "dry_run"


async def test_a_bad_idempotency_key_is_refused(house: House) -> None:
    for route in ROUTES[2:]:
        client, path, good = await prepared(house, route)
        before = await stored(house)
        for key in (b"", b"x" * 256, "ключ".encode(), b"a\tb"):
            answer = await client.post(path, json=good, headers={b"Idempotency-Key": key})
            check(answer, 400, "idempotency_key_invalid")
        twice = [("Idempotency-Key", "a"), ("Idempotency-Key", "b")]
        check(await client.post(path, json=good, headers=twice), 400, "idempotency_key_invalid")
        assert await stored(house) == before
        assert (await client.post(path, json=good, headers={"Idempotency-Key": "x" * 255})).is_success


async def test_a_bad_accept_header_is_refused(house: House) -> None:
    session = await house.session()
    path = f"/v1/sessions/{session}/turns"
    for accept in ("text", "text/", "/json", "*/json", "a/b;q=2", "a/b;q=x", "a/b c/d", ";", "a/b;q=0.1234", "a//b"):
        answer = await house.here.trainee.post(path, json={"text": "Hi"}, headers={"Accept": accept})
        check(answer, 400, "accept_malformed")
    for accept in ("image/png", "text/html", "*/*;q=0", "application/json;q=0"):
        answer = await house.here.trainee.post(path, json={"text": "Hi"}, headers={"Accept": accept})
        check(answer, 406, "not_acceptable")
    for accept in ("application/json", "image/png"):
        answer = await house.here.trainee.get(f"{path}/1/events", headers={"Accept": accept})
        check(answer, 406, "not_acceptable")
    assert (await stored(house))[2] == 0


@pytest.mark.parametrize("text", ["", " ", "\n\t", "\u3000"])
async def test_an_empty_message_is_no_turn(house: House, text: str) -> None:
    session = await house.session()
    answer = await house.here.trainee.post(f"/v1/sessions/{session}/turns", json={"text": text})
    check(answer, 422, "text_empty")


async def test_a_long_message_is_told_its_size(house: House) -> None:
    session = await house.session()
    answer = await house.here.trainee.post(f"/v1/sessions/{session}/turns", json={"text": "a " * 201})
    problem = check(answer, 413, "text_too_long")
    assert (problem["tokens"], problem["limit"]) == (201, 200)


@pytest.mark.parametrize("bad", [NO_UUID, NOBODY, "%00", "{}", "1", NOBODY.replace("-", ""), f"urn:uuid:{NOBODY}"])
async def test_ids_that_cannot_be_and_ids_of_nobody_look_alike(house: House, bad: str) -> None:
    trainee, instructor = house.here.trainee, house.here.instructor
    good = await house.session()
    calls = [
        (trainee.get(f"/v1/sessions/{bad}"), "session_not_found"),
        (trainee.post(f"/v1/sessions/{bad}/close"), "session_not_found"),
        (instructor.get(f"/v1/sessions/{bad}/context"), "session_not_found"),
        (trainee.get(f"/v1/sessions/{bad}/turns"), "session_not_found"),
        (trainee.post(f"/v1/sessions/{bad}/turns", json={"text": "Hi"}), "session_not_found"),
        (trainee.get(f"/v1/sessions/{bad}/turns/1"), "session_not_found"),
        (trainee.get(f"/v1/sessions/{bad}/turns/1/events"), "session_not_found"),
        (trainee.post(f"/v1/sessions/{bad}/turns/1/cancel"), "session_not_found"),
        (trainee.get(f"/v1/scenarios/{bad}"), "scenario_not_found"),
        (instructor.post(f"/v1/scenarios/{bad}/versions", json=SCENARIO), "scenario_not_found"),
        (trainee.post("/v1/sessions", json={"scenario_id": bad}), "scenario_not_found"),
        (trainee.get(f"/v1/sessions/{good}/turns/{bad}"), "turn_not_found"),
        (trainee.get(f"/v1/sessions/{good}/turns/{bad}/events"), "turn_not_found"),
        (trainee.post(f"/v1/sessions/{good}/turns/{bad}/cancel"), "turn_not_found"),
    ]
    for call, code in calls:
        answer = await call
        problem = check(answer, 404, code)
        assert list(problem) == ["type", "title", "status", "detail", "code"]
        assert bad not in problem["detail"] or bad in ("1", "{}")


async def test_a_number_that_no_turn_can_have_is_no_turn(house: House) -> None:
    session = await house.session()
    for number in ("0", "-1", "01", "1.0", "99999999999999999999", "٣", "1%2F", "+1", "1e3"):
        answer = await house.here.trainee.get(f"/v1/sessions/{session}/turns/{number}")
        assert answer.status_code == 404, number
        assert answer.json()["code"] in ("turn_not_found", "not_found")


BAD_QUERIES = [
    ("limit=0", "limit"),
    ("limit=101", "limit"),
    ("limit=-1", "limit"),
    ("limit=1.0", "limit"),
    ("limit=1_0", "limit"),
    ("limit=", "limit"),
    ("limit=99999999999999999999", "limit"),
    ("limit=1&limit=2", "limit"),
    ("limit=%D9%A3", "limit"),
    ("cursor=", "cursor"),
    ("cursor=abc", "cursor"),
    ("cursor=%00", "cursor"),
    ("cursor=" + "A" * 500, "cursor"),
    ("cursor=bi4x0", "cursor"),
    ("page=2", "page"),
    ("=", "body"),
]


async def test_a_bad_query_of_a_list_is_refused(house: House) -> None:
    session = await house.session()
    for query, field in BAD_QUERIES:
        for path in ("/v1/scenarios", "/v1/sessions", f"/v1/sessions/{session}/turns"):
            problem = check(await house.here.instructor.get(f"{path}?{query}"), 422, "invalid_request")
            assert problem["errors"][0]["field"] == field, query


async def test_the_cursor_of_one_list_is_none_of_another(house: House) -> None:
    session = await house.session()
    await house.scenario()
    cursor = (await house.here.instructor.get("/v1/scenarios?limit=1")).json()["next_cursor"]
    answer = await house.here.instructor.get(f"/v1/sessions/{session}/turns", params={"cursor": cursor})
    check(answer, 422, "invalid_request")


async def test_other_bad_queries_are_refused(house: House) -> None:
    scenario = await house.scenario()
    instructor = house.here.instructor
    for path in (
        *(f"/v1/scenarios/{scenario}?version={version}" for version in ("0", "-1", "x", "", "2147483648")),
        "/v1/sessions?state=paused",
        "/v1/sessions?state=",
        f"/v1/scenarios/{scenario}?limit=1",
    ):
        check(await instructor.get(path), 422, "invalid_request")


async def test_a_bad_last_event_id_is_refused(house: House) -> None:
    session = await house.session()
    await house.here.trainee.post(f"/v1/sessions/{session}/turns", json={"text": "Hi"})
    path = f"/v1/sessions/{session}/turns/1/events"
    for value in ("1", "1-", "-1", "a-b", "2-1", "1-1-1", "1-99999999999", "1 - 1", "١-١"):
        answer = await house.here.trainee.get(path, headers={b"Last-Event-ID": value.encode()})
        problem = check(answer, 422, "invalid_request")
        assert problem["errors"][0]["field"] == "Last-Event-ID"


async def test_an_unknown_path_is_not_found(house: House) -> None:
    for path in ("/", "/v1", "/v1/nothing", "/v1/sessions/", "/v1/scenarios/a/b/c", "/docs", "//v1", "/v1/%00"):
        check(await house.nobody.get(house.base_url + path), 404, "not_found")


async def test_another_method_is_told_which_there_are(house: House) -> None:
    answer = await house.here.trainee.put("/v1/sessions")
    check(answer, 405, "method_not_allowed")
    assert answer.headers["allow"] == "GET, POST"
    turns = await house.here.trainee.delete(f"/v1/sessions/{NOBODY}/turns/1")
    check(turns, 405, "method_not_allowed")
    assert turns.headers["allow"] == "GET"


async def test_keys_that_cannot_be_looked_up_are_not_called_wrong(house: House) -> None:
    house.keys.away = True
    answer = await house.here.trainee.get("/v1/sessions")
    check(answer, 503, "keys_unavailable")
    assert answer.headers["retry-after"] == "1"


async def test_two_authorizations_are_none(house: House) -> None:
    key = house.here.trainee.headers["authorization"]
    answer = await house.nobody.get("/v1/sessions", headers=[("Authorization", key), ("Authorization", key)])
    check(answer, 401, "unauthenticated")
