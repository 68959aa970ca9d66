"""Limits over real HTTP: set by operators, told in headers, and refusals that cost nothing."""

from collections.abc import AsyncIterator
from math import ceil
from typing import Any

import pytest

from gateway.domain.access import Role
from gateway.limit_settings import LimitSettings, RoleLimits
from tests.integration.api.house import House, house

ROLES = {Role.TRAINEE: RoleLimits(request_burst=3, output_tokens_per_minute=640)}


@pytest.fixture
async def strict() -> AsyncIterator[House]:
    """Three requests at once of each trainee, then one in a second; and room for ten replies of 64 tokens a minute."""
    async with house(limits=LimitSettings(requests_per_minute=60, cache_s=0, roles=ROLES)) as opened:
        yield opened


def account_of(opened: House, role: Role, which: int = 0) -> str:
    found = [one for one in opened.keys.named.values() if one.tenant == opened.here.tenant and one.role is role]
    return str(found[which].id)


def limit(value: object, source: str) -> dict[str, object]:
    return {"limit": value, "source": source}


async def test_what_holds_and_whose_word_it_is(strict: House) -> None:
    operator = strict.here.operator
    path = f"/v1/limits/accounts/{account_of(strict, Role.TRAINEE)}"
    assert (await operator.get("/v1/limits")).json()["limits"] == {
        "requests_per_minute": limit(60, "installation"),
        "request_burst": limit(120, "installation"),
        "input_tokens_per_minute": limit("unlimited", "installation"),
        "output_tokens_per_minute": limit("unlimited", "installation"),
        "turns_in_flight": limit(64, "installation"),
        "sessions": limit("unlimited", "installation"),
    }
    await operator.put("/v1/limits", json={"turns_in_flight": 9, "sessions": 5, "request_burst": 7})
    own = {"input_tokens_per_minute": 1000, "output_tokens_per_minute": "unlimited", "turns_in_flight": None}
    set_now = await operator.put(path, json=own)
    assert set_now.json() == (await operator.get(path)).json()
    assert set_now.json()["limits"] == {
        "requests_per_minute": limit(60, "installation"),
        "request_burst": limit(7, "tenant"),
        "input_tokens_per_minute": limit(1000, "account"),
        "output_tokens_per_minute": limit("unlimited", "account"),
        "turns_in_flight": limit(9, "tenant"),
    }
    assert (await operator.delete(path)).json()["limits"]["output_tokens_per_minute"] == limit(640, "role")
    assert (await operator.delete("/v1/limits")).json()["limits"]["sessions"] == limit("unlimited", "installation")


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"turns_in_flight": 0}, "turns_in_flight"),
        ({"turns_in_flight": -1}, "turns_in_flight"),
        ({"turns_in_flight": 3_000_000_000}, "turns_in_flight"),
        ({"turns_in_flight": "none"}, "turns_in_flight"),
        ({"turns_in_flight": True}, "turns_in_flight"),
        ({"turns": 5}, "turns"),
    ],
)
async def test_nonsense_is_refused_by_its_field(strict: House, body: dict[str, object], field: str) -> None:
    answer = await strict.here.operator.put("/v1/limits", json=body)
    assert answer.status_code == 422, answer.text
    assert {fault["field"].split(".")[0] for fault in answer.json()["errors"]} == {field}
    known = await strict.here.operator.put(
        f"/v1/limits/accounts/{account_of(strict, Role.TRAINEE)}", json={"sessions": 5}
    )
    assert known.status_code == 422


async def test_each_counted_request_tells_what_is_left_and_a_refusal_when_to_come_again(strict: House) -> None:
    session = await strict.session()
    path = f"/v1/sessions/{session}/turns"
    answers = [await strict.here.trainee.post(path, json={"text": "Hello"}) for _ in range(3)]
    assert [answer.status_code for answer in answers] == [200, 200, 429]
    told = [answer.headers["x-ratelimit-remaining-requests"] for answer in answers]
    assert told == ["1", "0", "0"]
    refused = answers[-1]
    assert refused.headers["content-type"] == "application/problem+json"
    assert (refused.json()["code"], refused.json()["limit"]) == ("account_limit", "requests")
    assert refused.headers["retry-after"] == "1"
    assert refused.headers["RateLimit-Policy"] == '"requests";q=3;w=3, "output_tokens";q=640;w=60'
    first = refused.headers["RateLimit"].split(", ")[0]
    assert first in {'"requests";r=0;t=3', '"requests";r=0;t=2'}
    assert refused.headers["x-ratelimit-limit-requests"] == "3"
    assert refused.headers["x-ratelimit-limit-tokens"] == "640"
    assert refused.headers["x-ratelimit-reset-requests"].endswith("s")
    stored = (await strict.here.trainee.get(path)).json()["items"]
    assert len(stored) == 2
    assert 'drillyard_limit_refusals_total{limit="requests"} 1.0' in (await strict.nobody.get("/metrics")).text


async def test_tokens_are_reserved_for_the_longest_reply_and_settled_by_the_real_one(strict: House) -> None:
    session = await strict.session()
    answer = await strict.here.trainee.post(f"/v1/sessions/{session}/turns", json={"text": "Hello"})
    left = int(answer.headers["x-ratelimit-remaining-tokens"])
    used = answer.json()["usage"]["completion_tokens"]
    assert 640 - 64 - 1 <= left <= 640 - 64 + ceil(640 / 60)
    assert used < 20
    again = await strict.here.trainee.post(f"/v1/sessions/{session}/turns", json={"text": "Hello"})
    assert int(again.headers["x-ratelimit-remaining-tokens"]) >= 640 - 64 - used - 1


async def test_reading_is_not_counted_and_neither_is_a_turn_that_is_asked_for_again(strict: House) -> None:
    session = await strict.session()
    path, key = f"/v1/sessions/{session}/turns", {"Idempotency-Key": "mine"}
    first = await strict.here.trainee.post(path, json={"text": "Hello"}, headers=key)
    for _ in range(5):
        again = await strict.here.trainee.post(path, json={"text": "Hello"}, headers=key)
        assert (again.status_code, again.json()) == (200, first.json())
        assert "RateLimit" not in again.headers
        read = await strict.here.trainee.get(path)
        assert read.status_code == 200
        assert "RateLimit" not in read.headers
    assert (await strict.here.trainee.post(path, json={"text": "Hello"})).status_code == 200


async def test_a_turn_that_is_refused_for_another_reason_costs_nothing(strict: House) -> None:
    session = await strict.session()
    path = f"/v1/sessions/{session}/turns"
    for _ in range(5):
        long = await strict.here.trainee.post(path, json={"text": "word " * 700})
        assert long.status_code == 413, long.text
        empty = await strict.here.trainee.post(path, json={"text": " "})
        assert empty.status_code == 422
    answer = await strict.here.trainee.post(path, json={"text": "Hello"})
    assert (answer.status_code, answer.headers["x-ratelimit-remaining-requests"]) == (200, "1")


async def test_one_account_s_limit_is_nobody_else_s(strict: House) -> None:
    scenario = await strict.scenario()

    async def start(who: Any) -> int:
        return int((await who.post("/v1/sessions", json={"scenario_id": scenario})).status_code)

    assert [await start(strict.here.trainee) for _ in range(4)] == [201, 201, 201, 429]
    assert await start(strict.here.other_trainee) == 201


async def test_a_tenant_s_open_sessions_are_limited_together(strict: House) -> None:
    await strict.here.operator.put("/v1/limits", json={"sessions": 2})
    scenario = await strict.scenario()
    opened = []
    for who in (strict.here.trainee, strict.here.other_trainee):
        answer = await who.post("/v1/sessions", json={"scenario_id": scenario})
        opened.append((who, answer.json()["id"]))
    full = await strict.here.trainee.post("/v1/sessions", json={"scenario_id": scenario})
    assert (full.status_code, full.json()["code"]) == (503, "tenant_full")
    who, session = opened[0]
    await who.post(f"/v1/sessions/{session}/close")
    assert (await strict.here.trainee.post("/v1/sessions", json={"scenario_id": scenario})).status_code == 201
