"""A webhook is told by POST, hears of trouble in our words, and its address stays a secret."""

import asyncio
import json
from asyncio import StreamReader, StreamWriter
from collections.abc import AsyncIterator

import httpx
import pytest

from router.fleet.adapters.quiet_alarm import QuietAlarm
from router.fleet.adapters.webhook_alarm import WebhookAlarm
from router.fleet.domain.demand import PoolName
from router.fleet.domain.scaling import Alert
from router.fleet.errors import AlarmNotHeard
from tests.support.engine_process import free_port
from tests.support.loopback_server import a_server_that

POOL = PoolName("模型")
ALERT = Alert(bell=1_800_000_000.0, ready=4, needed=6)


@pytest.fixture
async def client() -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(trust_env=False) as found:
        yield found


class Webhook:
    def __init__(self, status: int) -> None:
        self.status = status
        self.heard: list[tuple[str, dict[str, object]]] = []

    async def __call__(self, reader: StreamReader, writer: StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        length = next(line for line in head.lower().splitlines() if line.startswith("content-length"))
        body = await reader.readexactly(int(length.partition(":")[2]))
        self.heard.append((head.splitlines()[0], json.loads(body)))
        answer = f"HTTP/1.1 {self.status} X\r\nlocation: /elsewhere\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
        writer.write(answer.encode())
        await writer.drain()


async def test_it_is_told_what_is_missing_and_when_it_is_there(client: httpx.AsyncClient) -> None:
    webhook = Webhook(204)
    async with a_server_that(webhook) as server:
        alarm = WebhookAlarm(client=client, url=f"{server.url}/hooks/hush?key=hush")
        await alarm.short(POOL, ALERT)
        await alarm.over(POOL, ALERT)
    (first, short), (_, over) = webhook.heard
    assert first == "POST /hooks/hush?key=hush HTTP/1.1"
    assert short == {
        "event": "pool_short",
        "text": "模型: 4 of 6 replicas are ready for the bell at 2027-01-15T08:00:00+00:00",
        "pool": POOL,
        "bell": "2027-01-15T08:00:00+00:00",
        "ready": 4,
        "needed": 6,
    }
    assert (over["event"], over["pool"]) == ("pool_ready", POOL)


@pytest.mark.parametrize("status", [302, 404, 500])
async def test_an_answer_that_is_no_success_was_not_heard(client: httpx.AsyncClient, status: int) -> None:
    webhook = Webhook(status)
    async with a_server_that(webhook) as server:
        with pytest.raises(AlarmNotHeard, match=str(status)):
            await WebhookAlarm(client=client, url=server.url).short(POOL, ALERT)
    assert len(webhook.heard) == 1


async def test_a_webhook_that_is_away_or_silent_was_not_heard(client: httpx.AsyncClient) -> None:
    async def silent(reader: StreamReader, _: StreamWriter) -> None:
        await reader.read()

    async with a_server_that(silent) as server:
        for url in (f"{server.url}/hush", f"http://127.0.0.1:{free_port()}/hush", "nonsense://hush", "http://[hush"):
            with pytest.raises(AlarmNotHeard) as found:
                await WebhookAlarm(client=client, url=url, timeout_s=0.2).over(POOL, ALERT)
            assert "hush" not in str(found.value)
            assert found.value.__cause__ is None


async def test_nobody_to_be_told_is_no_trouble() -> None:
    await QuietAlarm().short(POOL, ALERT)
    await QuietAlarm().over(POOL, ALERT)


async def test_a_webhook_that_never_ends_its_answer_holds_no_round_up(client: httpx.AsyncClient) -> None:
    async def dripping(writer: StreamWriter, head: bytes) -> None:
        writer.write(head)
        while True:
            writer.write(b"x: y\r\n")
            await writer.drain()
            await asyncio.sleep(0.05)

    async def endless_body(_: StreamReader, writer: StreamWriter) -> None:
        await dripping(writer, b"HTTP/1.1 200 OK\r\n\r\n")

    async def endless_head(_: StreamReader, writer: StreamWriter) -> None:
        await dripping(writer, b"HTTP/1.1 200 OK\r\n")

    async with asyncio.timeout(10):
        async with a_server_that(endless_body) as server:
            await WebhookAlarm(client=client, url=server.url, timeout_s=1).over(POOL, ALERT)
        async with a_server_that(endless_head) as server:
            with pytest.raises(AlarmNotHeard):
                await WebhookAlarm(client=client, url=server.url, timeout_s=0.3).over(POOL, ALERT)
