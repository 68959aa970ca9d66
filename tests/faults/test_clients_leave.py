"""A router process whose clients leave, ask nonsense, or whose replica hangs: nobody else notices, nothing stays."""

import asyncio
import random
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from loadtests.continuity.house import House, Loss

CHAT = "/v1/chat/completions"
STREAMS, AT_ONCE = 300, 100
IDLE_WITHIN_S = 2.0
PATIENCE_S = 20.0


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    log = tmp_path / "router.log"
    with House(replicas=2, speed_up=3, log=log, settings=("answer_timeout_s=3",)) as running:
        yield running


def asking(text: str, **fields: object) -> dict[str, object]:
    return {"model": "smollm2", "messages": [{"role": "user", "content": text}], "temperature": 0, **fields}


def client_of(house: House) -> httpx.AsyncClient:
    limits = httpx.Limits(max_connections=None)
    return httpx.AsyncClient(base_url=house.url, trust_env=False, timeout=30, limits=limits)


def running_at_engines(house: House) -> float:
    pages = [httpx.get(f"{each.url}/metrics", trust_env=False).text for each in house.replicas]
    lines = [line for page in pages for line in page.splitlines()]
    counted = ("vllm:num_requests_running{", "vllm:num_requests_waiting{")
    return sum(float(line.rsplit(" ", 1)[1]) for line in lines if line.startswith(counted))


async def test_hundreds_of_streams_that_are_left_leave_nothing_behind(house: House) -> None:
    dice = random.Random(7)  # noqa: S311

    async def left(client: httpx.AsyncClient, number: int) -> int:
        """How many lines it heard before it left."""
        headers, stay = {"X-Session-ID": f"session-{number}"}, dice.randrange(20)
        body = asking(f"I am {number}. Tell me a long story.", stream=True, max_tokens=400)
        async with client.stream("POST", CHAT, json=body, headers=headers) as answer:
            assert answer.status_code == 200
            heard = 0
            async for _ in answer.aiter_lines():
                heard += 1
                if heard > stay:
                    break
        return heard

    async with client_of(house) as client:
        for start in range(0, STREAMS, AT_ONCE):
            await asyncio.gather(*(left(client, number) for number in range(start, start + AT_ONCE)))
    began = time.monotonic()
    while running_at_engines(house):
        assert time.monotonic() - began < IDLE_WITHIN_S, "an engine still writes for nobody"
    assert house.is_whole()
    for gauge in ("router_in_flight", "router_waiting", "router_breaker_open"):
        assert house.metric(f"drillyard_{gauge}") == 0, gauge
    assert house.metric("drillyard_router_turns_total") == STREAMS
    assert house.metric("drillyard_router_attempts_total") == STREAMS
    assert house.metric("drillyard_router_retries_total") == 0


async def test_whole_answers_that_are_left_are_not_written(house: House) -> None:
    async with client_of(house) as client:
        leaving = [
            asyncio.ensure_future(
                client.post(
                    CHAT, json=asking(f"I am {number}. Tell me a long story.", max_tokens=2_000, min_tokens=2_000)
                )
            )
            for number in range(20)
        ]
        began = time.monotonic()
        while await asyncio.to_thread(running_at_engines, house) < len(leaving):
            assert time.monotonic() - began < PATIENCE_S
        for each in leaving:
            each.cancel()
        await asyncio.wait(leaving)
    began = time.monotonic()
    while running_at_engines(house):
        assert time.monotonic() - began < IDLE_WITHIN_S, "an engine still writes for nobody"
    assert house.metric("drillyard_router_in_flight") == 0


WRONG = [
    asking("too much", max_tokens=1_000_000),
    asking("no such role", messages=[{"role": "somebody", "content": "Hello?"}], temperature=-1),
    asking("nothing said", messages=[]),
    asking("what is that", stream=True, max_tokens=0),
]


def test_fifty_wrong_requests_of_each_kind_open_no_breaker(house: House) -> None:
    for number in range(50 * len(WRONG)):
        body = WRONG[number % len(WRONG)]
        answer = house.client.post(CHAT, json=body, headers={"X-Session-ID": f"session-{number % 5}"})
        assert answer.status_code == 400, answer.text
    assert house.metric("drillyard_router_breaker_opened_total") == 0
    assert house.metric("drillyard_router_retries_total") == 0
    assert house.is_whole()
    assert house.client.post(CHAT, json=asking("Hello?"), headers={"X-Session-ID": "session-1"}).status_code == 200


async def test_a_hung_replica_blocks_nobody_else(house: House) -> None:
    hung, well = house.replicas
    body = asking("Hello?", max_tokens=8, stream=True)

    async def turn(client: httpx.AsyncClient, session: str, home: str) -> tuple[str, float]:
        began = time.monotonic()
        headers = {"X-Session-ID": session, "X-Prefer-Replica": home}
        answer = await client.post(CHAT, json=body, headers=headers)
        assert answer.status_code == 200, answer.text
        assert answer.text.endswith("data: [DONE]\n\n"), answer.text
        return answer.headers["x-replica-id"], time.monotonic() - began

    async with client_of(house) as client:
        for number in range(10):
            await turn(client, f"there-{number}", hung.name)
            await turn(client, f"elsewhere-{number}", well.name)
        hung.lose(Loss.STOP)
        try:
            theirs = [asyncio.ensure_future(turn(client, f"there-{number}", hung.name)) for number in range(10)]
            others = await asyncio.gather(*(turn(client, f"elsewhere-{number}", well.name) for number in range(10)))
            new = await asyncio.gather(*(turn(client, f"new-{number}", well.name) for number in range(10)))
            moved = await asyncio.gather(*theirs)
        finally:
            hung.bring_back(Loss.STOP)
    assert max(took_s for _, took_s in (*others, *new)) < 2.0
    assert {replica for replica, _ in (*others, *new)} == {well.name}
    assert max(took_s for _, took_s in moved) < 8.0
