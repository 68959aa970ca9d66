"""What the probe reports of real servers, and how quickly."""

import asyncio
import time
from collections.abc import Iterator
from contextlib import contextmanager

import httpx
import pytest

from router.adapters.static_fleet import StaticFleet
from router.adapters.vllm_probe import VllmProbe
from router.domain.exchange import Message
from router.domain.fitness import Expectation, TokenSample
from router.domain.fleet import Health, Replica, ReplicaId
from router.settings import RouterSettings
from tests.support.engine_process import EngineProcess, free_port, scripted_engine

A, B = ReplicaId("a"), ReplicaId("b")
SAMPLE = TokenSample((Message("system", "Be brief."), Message("user", "你好")), 12)
WANTED = Expectation(model="smollm2", window_tokens=4096, samples=(SAMPLE,))


class Watched:
    """A fleet and the probe that looks after it."""

    def __init__(self, http: httpx.AsyncClient, *urls: str, expectation: Expectation = WANTED) -> None:
        names = [A, B][: len(urls)]
        self.fleet = StaticFleet(replicas=[Replica(name, url) for name, url in zip(names, urls, strict=True)])
        self.probe = VllmProbe(
            client=http,
            fleet=self.fleet.current,
            report=self.fleet.observe,
            expectation=expectation,
            settings=RouterSettings(probe_interval_s=0.05, probe_timeout_s=0.3),
        )

    def health(self, replica: ReplicaId = A) -> Health:
        return self._get(replica).health

    def reason(self, replica: ReplicaId = A) -> str:
        return self._get(replica).reason

    async def until(self, health: Health, replica: ReplicaId = A, *, within_s: float = 5.0) -> None:
        deadline = time.monotonic() + within_s
        while self.health(replica) is not health:
            assert time.monotonic() < deadline, f"{replica} is {self.health(replica)} and not {health}"
            await asyncio.sleep(0.02)

    def _get(self, replica: ReplicaId) -> Replica:
        found = self.fleet.current().get(replica)
        assert found is not None
        return found


async def test_after_the_first_round_a_fit_replica_is_ready(engine: EngineProcess, http: httpx.AsyncClient) -> None:
    watched = Watched(http, engine.url)
    await watched.probe.first_round()
    assert (watched.health(), watched.reason()) == (Health.READY, "")


async def test_nobody_there_is_down_with_a_reason(http: httpx.AsyncClient) -> None:
    watched = Watched(http, f"http://127.0.0.1:{free_port()}")
    await watched.probe.first_round()
    assert watched.health() is Health.DOWN
    assert watched.reason().startswith("cannot be reached (ConnectError")


@pytest.mark.parametrize(
    ("expectation", "reason"),
    [
        (Expectation("qwen", 4096, ()), "serves smollm2 instead of qwen"),
        (Expectation("smollm2", 8192, ()), "has a window of 4096 tokens; 8192 are needed"),
        (
            Expectation("smollm2", 4096, (SAMPLE, TokenSample(SAMPLE.messages, 13))),
            "counts 12 tokens in a sample that has 13",
        ),
    ],
)
async def test_an_unfit_replica_is_refused_in_plain_words(
    engine: EngineProcess, http: httpx.AsyncClient, expectation: Expectation, reason: str
) -> None:
    watched = Watched(http, engine.url, expectation=expectation)
    await watched.probe.first_round()
    assert watched.health() is Health.REFUSED
    assert watched.reason().startswith(reason)


async def test_an_engine_that_says_it_is_ill_is_down(engine: EngineProcess, http: httpx.AsyncClient) -> None:
    engine.script(health_status=503)
    watched = Watched(http, engine.url)
    await watched.probe.first_round()
    assert (watched.health(), watched.reason()) == (Health.DOWN, "answers HTTP 503 to /health")


async def test_one_late_answer_does_not_take_a_ready_replica_down(
    engine: EngineProcess, http: httpx.AsyncClient
) -> None:
    watched = Watched(http, engine.url)
    await watched.probe.first_round()
    engine.script(health_delay_s=5.0)
    await watched.probe.first_round()
    assert watched.health() is Health.READY
    await watched.probe.first_round()
    assert (watched.health(), watched.reason()) == (Health.DOWN, "no answer within 0.3 s")


async def test_a_slow_replica_does_not_delay_the_others(engine: EngineProcess, http: httpx.AsyncClient) -> None:
    with scripted_engine() as slow, _running(Watched(http, slow.url, engine.url)) as watched:
        slow.script(health_delay_s=60.0)
        began = time.monotonic()
        await watched.until(Health.READY, B, within_s=0.3)
        assert time.monotonic() - began < 0.3
        await watched.until(Health.DOWN, A)


async def test_a_replica_that_died_and_came_back_is_looked_at_anew(http: httpx.AsyncClient) -> None:
    with scripted_engine() as mortal, _running(Watched(http, mortal.url)) as watched:
        await watched.until(Health.READY)
        mortal.kill()
        await watched.until(Health.DOWN)
        port = mortal.port
        mortal.close()
        other = EngineProcess(port=port, arguments=("--model", "qwen"))
        try:
            other.start()
            await watched.until(Health.REFUSED)
            other.kill()
            await watched.until(Health.DOWN)
        finally:
            other.close()


async def test_a_frozen_replica_is_down_and_ready_again_when_it_thaws(http: httpx.AsyncClient) -> None:
    with scripted_engine() as frozen, _running(Watched(http, frozen.url)) as watched:
        await watched.until(Health.READY)
        frozen.freeze()
        await watched.until(Health.DOWN)
        frozen.thaw()
        await watched.until(Health.READY)


@pytest.mark.parametrize(
    "body", [b"", b"no json", b"[]", b'{"data": 3}', b'{"data": [3, {"id": 4}]}', b'{"data": [{"id": "smollm2"}]}']
)
async def test_a_server_that_is_no_engine_is_refused(http: httpx.AsyncClient, body: bytes) -> None:
    async def answers(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        head = b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %d\r\n\r\n"
        writer.write(head % len(body) + body)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(answers, "127.0.0.1", 0)
    async with server:
        watched = Watched(http, f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}")
        await watched.probe.first_round()
    assert watched.health() is Health.REFUSED
    assert watched.reason()


@contextmanager
def _running(watched: Watched) -> Iterator[Watched]:
    task = asyncio.ensure_future(watched.probe.run())
    try:
        yield watched
    finally:
        task.cancel()
