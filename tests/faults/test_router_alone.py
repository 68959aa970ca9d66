"""The router alone loses a replica, a router process, or its Redis, and its clients notice nothing."""

import asyncio
import json
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import httpx
import pytest

from gateway.local.redis_server import RedisServer
from tests.support.router_process import RouterProcess
from tests.support.simulator_process import SimulatorProcess, chat, events, finish_of, simulator, text_of

CHAT = "/v1/chat/completions"
QUICK = {
    "DRILLYARD_ROUTER__CHUNK_TIMEOUT_S": "1",
    "DRILLYARD_ROUTER__FIRST_BYTE_TIMEOUT_S": "3",
    "DRILLYARD_ROUTER__CONNECT_TIMEOUT_S": "1",
}
LONG: dict[str, Any] = {"temperature": 0, "max_tokens": 120, "stream": True, "stream_options": {"include_usage": True}}


@pytest.fixture
def replicas() -> Iterator[dict[str, SimulatorProcess]]:
    with ExitStack() as stack:
        yield {name: stack.enter_context(simulator("--speed-up", "5")) for name in ("a", "b")}


def words(replicas: dict[str, SimulatorProcess]) -> list[str]:
    return [word for name, each in replicas.items() for word in ("--replica", f"{name}={each.url}")]


def streamed(client: httpx.Client, body: dict[str, object], *, then: Callable[[str], None]) -> list[str]:
    """All events of one stream; `then` is told its replica once three have come."""
    with client.stream("POST", CHAT, json=body, headers={"X-Session-ID": "session"}) as reply:
        assert reply.status_code == 200
        said = []
        for event in events(reply.iter_lines()):
            said.append(event)
            if len(said) == 6:
                then(reply.headers["x-replica-id"])
        return said


def usage_of(said: list[str]) -> tuple[int, int]:
    usage = json.loads(said[-2])["usage"]
    return usage["prompt_tokens"], usage["completion_tokens"]


@pytest.mark.parametrize("fault", ["kill", "freeze"])
def test_a_stream_goes_on_when_its_replica_is_lost(
    replicas: dict[str, SimulatorProcess], tmp_path: Path, fault: str
) -> None:
    body = chat("Tell me a long story.", **LONG)
    with RouterProcess(*words(replicas), log=tmp_path / "log", environment=QUICK) as router, router.client() as client:
        undisturbed = streamed(client, body, then=lambda _: None)

        def lose(home: str) -> None:
            replicas[home].kill() if fault == "kill" else replicas[home].freeze()

        said = streamed(client, body, then=lose)
        (pinned,) = client.get("/sessions/session").json()["pins"]
    assert text_of(said) == text_of(undisturbed)
    assert finish_of(said) == finish_of(undisturbed)
    assert usage_of(said) == usage_of(undisturbed)
    assert len({json.loads(event)["id"] for event in said[:-1]}) == 1
    assert pinned["generation"] == 2


def test_another_router_serves_the_same_pin_when_one_is_killed(
    replicas: dict[str, SimulatorProcess], tmp_path: Path, empty_redis: RedisServer
) -> None:
    shared = (*words(replicas), "--redis-url", empty_redis.url)
    one, two = (RouterProcess(*shared, log=tmp_path / name) for name in ("one", "two"))
    with one, two, one.client() as first, two.client() as second:
        homes = {}
        for number in range(6):
            answer = first.post(CHAT, json=chat(max_tokens=1), headers={"X-Session-ID": f"s-{number}"})
            homes[number] = answer.headers["x-replica-id"]
        assert set(homes.values()) == set(replicas)
        one.kill()
        for number, home in homes.items():
            answer = second.post(CHAT, json=chat(max_tokens=1), headers={"X-Session-ID": f"s-{number}"})
            assert (answer.headers["x-replica-id"], answer.headers["x-session-pin"]) == (home, "kept")


def test_without_a_redis_turns_go_on_at_one_place(replicas: dict[str, SimulatorProcess], tmp_path: Path) -> None:
    shared = (*words(replicas), "--redis-url", "redis://127.0.0.1:1")
    with RouterProcess(*shared, log=tmp_path / "log") as router, router.client() as client:
        seen = {
            client.post(CHAT, json=chat(max_tokens=1), headers={"X-Session-ID": "s"}).headers["x-replica-id"]
            for _ in range(3)
        }
        assert len(seen) == 1
        assert client.get("/sessions/s").json()["error"]["code"] == "pin_store_unavailable"


def test_clients_that_go_leave_nothing_behind(replicas: dict[str, SimulatorProcess], tmp_path: Path) -> None:
    with RouterProcess(*words(replicas), log=tmp_path / "log") as router, router.client() as client:
        asyncio.run(go_away(router.port, times=300))
        until(lambda: not sum(each.state()["running"] + each.state()["waiting"] for each in replicas.values()))
        until(lambda: all(each["in_flight"] == 0 for each in client.get("/replicas").json()["replicas"]))
        assert client.get("/readyz").status_code == 200
    assert "Traceback" not in (tmp_path / "log").read_text()


async def go_away(port: int, *, times: int) -> None:
    """Streams and whole answers, each given up after another while."""
    async with asyncio.TaskGroup() as group:
        for number in range(times):
            body = json.dumps(chat(max_tokens=400, ignore_eos=True, stream=number % 2 == 0)).encode()
            group.create_task(give_up(port, body, session=number, after_s=number / times / 2))


async def give_up(port: int, body: bytes, *, session: int, after_s: float) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    head = f"POST {CHAT} HTTP/1.1\r\nHost: here\r\nContent-Type: application/json\r\nX-Session-ID: s-{session}\r\n"
    writer.write(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
    with suppress(TimeoutError):
        async with asyncio.timeout(after_s):
            while await reader.read(65_536):
                pass
    writer.transport.abort()


def until(is_so: Callable[[], bool], *, within_s: float = 5.0) -> None:
    deadline = time.monotonic() + within_s
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.01)
