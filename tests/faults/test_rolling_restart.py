"""All replicas and all routers are restarted one after the other while a class goes on: nobody's turn fails.

The class comes through the smallest balancer there can be, which takes the next router when one refuses the connection.
"""

import asyncio
import signal
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AsyncExitStack, ExitStack
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

import httpx
import pytest

from gateway.local.redis_server import RedisServer
from loadtests.continuity.heard import HeardReply
from loadtests.continuity.house import Loss, SimulatedReplica
from tests.support.eventually import eventually
from tests.support.router_process import RouterProcess

TRAINEES = 12
SIMULATOR = ("--speed-up", "10", "--load-s", "0.1", "--shutdown-timeout", "5", "--enable-prompt-tokens-details")
PATIENCE_S = 60.0


@pytest.fixture
def replicas() -> Iterator[Sequence[SimulatedReplica]]:
    with ExitStack() as stack:
        found = [SimulatedReplica(name, SIMULATOR) for name in ("a", "b", "c")]
        for each in found:
            stack.callback(each.end)
            each.start()
        yield found


@pytest.fixture
def routers(
    replicas: Sequence[SimulatedReplica], empty_redis: RedisServer, tmp_path: Path
) -> Iterator[Sequence[RouterProcess]]:
    words = [word for each in replicas for word in ("--replica", f"{each.name}={each.url}")]
    with ExitStack() as stack:
        yield [
            stack.enter_context(RouterProcess(*words, "--redis-url", empty_redis.url, log=tmp_path / name))
            for name in ("one.log", "two.log")
        ]


@dataclass(slots=True)
class Class:
    """Trainees who take one turn after another until the bell; each turn is a new connection."""

    clients: Sequence[httpx.AsyncClient]
    is_over: bool = False
    turns: Counter[int] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)
    refused: int = 0
    homes: Counter[str] = field(default_factory=Counter)
    _next: Iterator[int] = field(default_factory=count)

    async def attend(self, trainee: int) -> None:
        while not self.is_over:
            failure = await self._turn(trainee, self.turns[trainee])
            self.turns[trainee] += 1
            if failure:
                self.failures.append(f"trainee {trainee}, turn {self.turns[trainee]}: {failure}")

    async def next_turns(self) -> None:
        """Until everybody has begun and ended a turn."""
        before = dict(self.turns)
        await eventually(
            lambda: all(self.turns[each] >= before.get(each, 0) + 2 for each in range(TRAINEES)), within_s=PATIENCE_S
        )

    async def _turn(self, trainee: int, number: int) -> str:
        asked = f"I am trainee {trainee}, and this is what I say in turn {number}. What do you say?"
        messages = [{"role": "system", "content": "You lost your order. " * 40}, {"role": "user", "content": asked}]
        options = {"stream": True, "stream_options": {"include_usage": True}, "temperature": 0, "max_tokens": 60}
        body = {"model": "smollm2", "messages": messages, **options}
        first = next(self._next)
        for place in range(first, first + len(self.clients)):
            client = self.clients[place % len(self.clients)]
            try:
                return await self._heard(client, body, f"trainee-{trainee}")
            except httpx.ConnectError:
                self.refused += 1
        return "every router refused"

    async def _heard(self, client: httpx.AsyncClient, body: dict[str, object], session: str) -> str:
        reply = HeardReply()
        headers = {"X-Session-ID": session, "Connection": "close"}
        try:
            async with client.stream("POST", "/v1/chat/completions", json=body, headers=headers) as answer:
                if not answer.is_success:
                    return f"{answer.status_code} {(await answer.aread())[:200]!r}"
                self.homes[answer.headers["x-replica-id"]] += 1
                async for line in answer.aiter_lines():
                    reply.line(line)
        except (httpx.ReadError, httpx.RemoteProtocolError) as error:
            return f"{type(error).__name__} after {reply.events} events"
        is_whole = reply.is_done and reply.finish in {"stop", "length"} and reply.completion_tokens
        return reply.failure if reply.failure or is_whole else f"cut after {reply.events} events"


@pytest.fixture
async def school(routers: Sequence[RouterProcess]) -> AsyncIterator[Class]:
    async with AsyncExitStack() as stack:
        clients = [
            await stack.enter_async_context(httpx.AsyncClient(base_url=each.url, trust_env=False, timeout=60))
            for each in routers
        ]
        yield Class(clients)


async def restarted(replica: SimulatedReplica, operator: httpx.AsyncClient) -> None:
    """As an operator does it: drained, stopped, started, and taken back."""
    path = f"/replicas/{replica.name}"
    ordered = await operator.post(f"{path}/drain", json={"within_s": 20})
    assert ordered.status_code == 202, ordered.text
    await told(operator, path, lambda seen: bool(seen["drain"]["may_stop"]))
    replica.lose(Loss.KILL)
    await asyncio.to_thread(replica.bring_back, Loss.KILL)
    await told(operator, path, lambda seen: seen["health"] == "ready")
    (await operator.delete(f"{path}/drain")).raise_for_status()


async def told(operator: httpx.AsyncClient, path: str, holds: Callable[[dict[str, Any]], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not holds(seen := (await operator.get(path)).json()):
        assert time.monotonic() < deadline, seen
        await asyncio.sleep(0.1)


@pytest.mark.redis
@pytest.mark.timeout(300)
async def test_replicas_and_routers_are_restarted_in_the_middle_of_a_class(
    replicas: Sequence[SimulatedReplica], routers: Sequence[RouterProcess], school: Class
) -> None:
    async with asyncio.TaskGroup() as group:
        for trainee in range(TRAINEES):
            group.create_task(school.attend(trainee))
        await school.next_turns()
        for replica in replicas:
            await restarted(replica, school.clients[0])
            await school.next_turns()
        for router in routers:
            router.send(signal.SIGTERM)
            assert await asyncio.to_thread(router.wait) == 0
            await school.next_turns()
            await asyncio.to_thread(router.start)
            await school.next_turns()
        school.is_over = True
    assert school.failures == []
    assert sum(school.turns.values()) > 8 * TRAINEES
    assert school.refused > 0
    assert school.homes.keys() == {"a", "b", "c"}
    for router in routers:
        with router.client() as client:
            seen = client.get("/replicas").json()["replicas"]
        assert [each["in_flight"] for each in seen] == [0, 0, 0]
