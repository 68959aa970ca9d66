"""Limits over two gateway processes: exactly what is allowed passes, refusals cost nothing, the dead hold nothing."""

import asyncio
import json
import time
from collections.abc import Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import cycle
from pathlib import Path
from typing import Any

import httpx
import pytest
from redis import Redis

from tests.support.gateway_process import GatewayProcess, World, turn_events, world
from tests.support.postgres_fixture import PostgresTemplate

STREAM = {"Accept": "text/event-stream"}
LEASE_S = 6.0
MANY, ALLOWED = 200, 30
ENDLESS = " ".join(f"word{number}" for number in range(120))


@dataclass(frozen=True)
class Two:
    """One installation with two gateways."""

    world: World
    other: GatewayProcess
    account: str
    """Of the first trainee."""

    @property
    def urls(self) -> tuple[str, str]:
        return self.world.gateway.url, self.other.url

    def client(self, key: str | None = None, *, there: bool = False) -> httpx.Client:
        client = self.world.client(key)
        if there:
            client.base_url = httpx.URL(self.other.url)
        return client

    def operator(self) -> httpx.Client:
        return self.client(self.world.seed.keys.operator)

    def script(self, reply: str, *, delay_s: float) -> None:
        for engine in self.world.engines.values():
            engine.script(reply=reply, delay_s=delay_s)

    def set_limits(self, **limits: object) -> None:
        """The trainee has these and no others, in both processes."""
        with self.operator() as operator:
            everything = {"requests_per_minute": "unlimited", "turns_in_flight": "unlimited"}
            path = f"/v1/limits/accounts/{self.account}"
            operator.put(path, json={**everything, **limits}).raise_for_status()
        time.sleep(0.3)  # longer than LIMITS__CACHE_S, which is what is promised

    def forget_rates(self) -> None:
        """What was asked for under the limits of another test would still count under those of the next."""
        with Redis.from_url(self.world.redis.url) as client:
            for key in client.scan_iter("dy:lim:rates:*"):
                client.delete(key)

    def counted(self, name: str) -> float:
        """The metric of this name, with its labels, over both processes."""
        lines = [line for url in self.urls for line in httpx.get(f"{url}/metrics", trust_env=False).text.splitlines()]
        return sum(float(line.split()[-1]) for line in lines if line.startswith(f"drillyard_{name}"))


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory, postgres_template: PostgresTemplate) -> Iterator[Two]:
    folder: Path = tmp_path_factory.mktemp("limits")
    with (
        postgres_template.copy() as url,
        # A machine that is busy with 200 turns at once must not count as a Redis that is away.
        world(folder, url, LIMITS__CACHE_S="0.2", LIMITS__TIMEOUT_S="5", SESSIONS__LEASE_S=f"{LEASE_S}") as made,
        made.gateway.neighbour() as other,
        made.client() as client,
    ):
        trainee = client.get(f"/v1/sessions/{made.open_session(client)}").json()["trainee_id"]
        yield Two(made, other, trainee)


@pytest.fixture
def two(house: Two) -> Two:
    """With both gateways up and no limits on the trainee, whatever was done before."""
    if not house.other.is_up:
        house.other.start()
    for engine in house.world.engines.values():
        engine.reset()
    house.set_limits()
    house.forget_rates()
    return house


def sessions_of(two: Two, client: httpx.Client, count: int, **more: object) -> list[dict[str, Any]]:
    opened = []
    for _ in range(count):
        body = {"scenario_id": two.world.seed.scenarios[0].id, **more}
        answer = client.post("/v1/sessions", json=body)
        assert answer.status_code == 201, answer.text
        opened.append(answer.json())
    return opened


async def all_at_once(two: Two, sessions: list[str]) -> tuple[list[httpx.Response], float]:
    """A turn of each, at both gateways in turn, and how many turns run when each has its answer; then all end."""
    headers = {"Authorization": f"Bearer {two.world.seed.keys.trainees[0]}", **STREAM}
    async with AsyncExitStack() as stack:
        limits = httpx.Limits(max_connections=None)
        client = await stack.enter_async_context(
            httpx.AsyncClient(headers=headers, trust_env=False, timeout=60, limits=limits)
        )

        async def ask(url: str, session: str) -> httpx.Response:
            path, key = f"{url}/v1/sessions/{session}/turns", {"Idempotency-Key": session}  # so it runs on unread
            asking = client.stream("POST", path, json={"text": "Hello"}, headers=key)
            answer = await stack.enter_async_context(asking)
            if answer.is_success or (await answer.aread() and answer.status_code != httpx.codes.SERVICE_UNAVAILABLE):
                return answer
            # A small machine's database and replicas may be too slow for so many at once; they have taken nothing.
            return await ask(url, session)

        answers = await asyncio.gather(*(ask(url, one) for url, one in zip(cycle(two.urls), sessions, strict=False)))
        running = two.counted("turns_running")
        taken = [one for one, answer in zip(sessions, answers, strict=True) if answer.is_success]
        for session in taken:
            cancelled = await client.post(f"{two.urls[0]}/v1/sessions/{session}/turns/1/cancel")
            assert cancelled.status_code == 202, cancelled.text
        return list(answers), running


async def test_of_200_turns_at_once_exactly_as_many_run_as_may_and_the_others_cost_nothing(two: Two) -> None:
    two.script(ENDLESS, delay_s=1.0)
    with two.client() as client:
        sessions = [one["id"] for one in sessions_of(two, client, MANY)]
    wide = {"requests_per_minute": 60_000, "request_burst": 60_000, "input_tokens_per_minute": 10_000_000}
    two.set_limits(turns_in_flight=ALLOWED, **wide)
    refusals = 'limit_refusals_total{limit="turns_in_flight"}'
    before = two.counted(refusals)
    answers, running = await all_at_once(two, sessions)
    refused = [answer for answer in answers if not answer.is_success]
    assert (two.counted("limit_leases_lost"), two.counted("limit_local_claims")) == (0, 0)
    assert running == len(answers) - len(refused) == ALLOWED
    assert {(answer.status_code, answer.json()["code"], answer.json()["limit"]) for answer in refused} == {
        (429, "account_limit", "turns_in_flight")
    }
    assert {answer.headers["retry-after"] for answer in refused} <= {"1", "2"}
    assert two.counted(refusals) - before == MANY - ALLOWED
    for answer in refused:
        # What is left of the others tells of those that run alone, however many were refused.
        left = int(answer.headers["x-ratelimit-remaining-tokens"])
        assert 10_000_000 - left <= ALLOWED * 2_000


def test_who_waits_as_long_as_told_is_let_in_and_refusals_do_not_make_the_wait_longer(two: Two) -> None:
    two.script("Yes.", delay_s=0)
    with two.client() as here, two.client(there=True) as there:
        session = sessions_of(two, here, 1)[0]["id"]
        path = f"/v1/sessions/{session}/turns"
        two.set_limits(requests_per_minute=12, request_burst=2)
        begun, answers = time.monotonic(), list[httpx.Response]()
        while len(answers) < 2 or any(answer.is_success for answer in answers[-4:]):
            answers.append((here, there)[len(answers) % 2].post(path, json={"text": "Hello"}))
        taken = sum(answer.is_success for answer in answers)
        assert 2 <= taken <= 2 + (time.monotonic() - begun) / 5
        assert {answer.headers["RateLimit-Policy"] for answer in answers} == {'"requests";q=2;w=10'}
        refused = answers[-4:]
        assert {answer.json()["limit"] for answer in refused} == {"requests"}
        assert {answer.headers["x-ratelimit-remaining-requests"] for answer in refused} == {"0"}
        waits_s = [int(answer.headers["retry-after"]) for answer in refused]
        assert waits_s == sorted(waits_s, reverse=True)
        assert waits_s[0] <= 5
        time.sleep(waits_s[-1])
        assert there.post(path, json={"text": "Hello"}).status_code == 200


def test_what_a_killed_process_held_is_free_within_a_lease(two: Two) -> None:
    two.script(ENDLESS, delay_s=1.0)
    with two.client() as here, two.client(there=True) as there:
        sessions = [one["id"] for one in sessions_of(two, here, 3)]
        two.set_limits(turns_in_flight=2)
        streams = [turn_events(there, session, "Hello") for session in sessions[:2]]
        for stream in streams:
            assert next(stream).name == "accepted"
        full = here.post(f"/v1/sessions/{sessions[2]}/turns", json={"text": "Hello"})
        busy = here.post(f"/v1/sessions/{sessions[0]}/turns", json={"text": "Hello"})
        assert (full.status_code, full.json()["limit"]) == (429, "turns_in_flight")
        assert (busy.status_code, busy.json()["code"]) == (409, "session_busy")
        two.other.kill()
        killed = time.monotonic()
        two.script("Yes.", delay_s=0)
        for session in (sessions[0], sessions[2]):
            path = f"/v1/sessions/{session}/turns"
            while not (answer := here.post(path, json={"text": "Hello"})).is_success:
                assert answer.status_code in {409, 429}, answer.text
                assert time.monotonic() - killed < LEASE_S + 1, answer.text
                time.sleep(0.05)


def test_changed_limits_reach_both_processes_without_a_restart(two: Two) -> None:
    with two.operator() as operator, two.client() as here, two.client(there=True) as there:
        path = f"/v1/limits/accounts/{two.account}"

        def told() -> list[str | None]:
            body = {"scenario_id": two.world.seed.scenarios[0].id}
            answers = [client.post("/v1/sessions", json=body) for client in (here, there)]
            return [answer.headers.get("x-ratelimit-limit-requests") for answer in answers]

        def until(wanted: list[str | None]) -> None:
            deadline = time.monotonic() + 3
            while (found := told()) != wanted:
                assert time.monotonic() < deadline, found
                time.sleep(0.05)

        operator.put(path, json={"requests_per_minute": 6000, "request_burst": 700}).raise_for_status()
        until(["700", "700"])
        operator.put(path, json={"requests_per_minute": "unlimited"}).raise_for_status()
        until([None, None])
        operator.put("/v1/limits", json={"request_burst": 77}).raise_for_status()
        operator.delete(path).raise_for_status()
        until(["77", "77"])
        operator.delete("/v1/limits").raise_for_status()
        until(["120", "120"])


def test_whoever_has_a_seat_is_never_refused_for_capacity_and_walk_ins_stop_at_the_watermark(two: Two) -> None:
    two.script(ENDLESS, delay_s=1.0)
    now = datetime.now(UTC)
    drill = {
        "name": "Three seats",
        "scenario_id": two.world.seed.scenarios[0].id,
        "starts_at": (now - timedelta(hours=1)).isoformat(),
        "ends_at": (now + timedelta(hours=1)).isoformat(),
        "expected_trainees": 5,
        "seats": 3,
        "walk_ins": 2,
        "turns_in_flight": 2,
    }
    with two.client(two.world.seed.keys.instructor) as instructor:
        made = instructor.post("/v1/drills", json=drill)
    assert made.status_code == 201, made.text
    inside = {"drill_id": made.json()["id"]}
    with two.client() as here, two.client(there=True) as there:
        seated = [one["id"] for one in sessions_of(two, here, 2, **inside) + sessions_of(two, there, 1, **inside)]
        walk_ins = [one["id"] for one in sessions_of(two, there, 2, **inside)]
        full = here.post("/v1/sessions", json={"scenario_id": drill["scenario_id"], **inside})
        assert (full.status_code, full.json()["code"]) == (503, "drill_full")
        assert int(full.headers["retry-after"]) >= 1

        def begin(client: httpx.Client, session: str) -> Iterator[object]:
            events = turn_events(client, session, "Hello")
            assert next(events).name == "accepted"
            return events

        running = [begin(here, walk_ins[0]), begin(there, seated[0])]
        refused = there.post(f"/v1/sessions/{walk_ins[1]}/turns", json={"text": "Hello"})
        assert (refused.status_code, refused.json()["code"]) == (503, "drill_watermark")
        assert int(refused.headers["retry-after"]) >= 1
        running += [begin(there, seated[1]), begin(here, seated[2])]
        for session in (walk_ins[0], *seated):
            assert here.post(f"/v1/sessions/{session}/turns/1/cancel").status_code == 202
        for events in running:
            assert [json.loads(event.data) for event in events if event.name == "cancelled"] == [{}]  # type: ignore[attr-defined]
        two.script("Yes.", delay_s=0)
        assert there.post(f"/v1/sessions/{walk_ins[1]}/turns", json={"text": "Hello"}).status_code == 200
        assert here.post(f"/v1/sessions/{seated[0]}/close").status_code == 200
        sessions_of(two, there, 1, **inside)
