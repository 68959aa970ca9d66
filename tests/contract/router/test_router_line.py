"""HTTP to a router: what goes wrong on the way comes in the router's own words."""

import asyncio
from asyncio import StreamReader, StreamWriter
from collections.abc import AsyncIterator

import pytest

from router.adapters import router_line as subject
from router.adapters.router_line import RouterLine
from router.adapters.upstream.client import UpstreamClient
from router.errors import EngineBroke, EngineTimedOut, EngineUnreachable
from router.settings import RouterSettings
from tests.support.engine_process import free_port
from tests.support.loopback_server import Answers, a_server_that

SETTINGS = RouterSettings(connect_timeout_s=0.5, answer_timeout_s=0.1, first_byte_timeout_s=0.1, queue_timeout_s=0)


@pytest.fixture
async def client() -> AsyncIterator[UpstreamClient]:
    async with UpstreamClient() as opened:
        yield opened


def line(client: UpstreamClient, url: str, key: str = "hush") -> RouterLine:
    return RouterLine(client=client, url=url, key=key, settings=SETTINGS)


def that_says(answer: bytes, heads: list[bytes] | None = None) -> Answers:
    async def answers(reader: StreamReader, writer: StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        if heads is not None:
            heads.append(head.lower())
        writer.write(answer)
        await writer.drain()

    return answers


async def silent(reader: StreamReader, _: StreamWriter) -> None:
    await reader.read(-1)
    await asyncio.sleep(60)


async def test_a_stream_is_handed_on_as_it_comes(client: UpstreamClient) -> None:
    heads: list[bytes] = []
    answer = b"HTTP/1.1 200 OK\r\nx-replica-id: a\r\ncontent-length: 5\r\n\r\nhello"
    async with a_server_that(that_says(answer, heads)) as server:
        reply = await line(client, f"{server.url}/").stream("/v1/chat/completions", headers=[("x-a", "b")], body=b"{}")
        assert (reply.status, reply.header("x-replica-id"), reply.header("x-none")) == (200, "a", "")
        assert await reply.body() == b"hello"
    assert heads[0].startswith(b"post /v1/chat/completions http/1.1\r\n")
    for wanted in (b"authorization: bearer hush", b"accept: text/event-stream", b"x-a: b"):
        assert wanted in heads[0]


async def test_a_whole_answer_may_take_as_long_as_a_reply(
    client: UpstreamClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    heads: list[bytes] = []

    async def late(reader: StreamReader, writer: StreamWriter) -> None:
        heads.append((await reader.readuntil(b"\r\n\r\n")).lower())
        await asyncio.sleep(0.5)
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}")
        await writer.drain()

    monkeypatch.setattr(subject, "_SLACK_S", 0.0)
    async with a_server_that(late) as server:
        reply = await line(client, server.url).whole("/v1/chat/completions", headers=[], body=b"{}")
        assert await reply.body() == b"{}"
        with pytest.raises(EngineTimedOut):
            await line(client, server.url).stream("/v1/chat/completions", headers=[], body=b"{}")
    assert b"accept: application/json" in heads[0]


async def test_a_short_call_tells_its_status(client: UpstreamClient) -> None:
    heads: list[bytes] = []
    async with a_server_that(that_says(b"HTTP/1.1 204 No Content\r\n\r\n", heads)) as server:
        assert await line(client, server.url, key="").ask("DELETE", "/sessions/a") == (204, b"")
    assert b"authorization" not in heads[0]


async def test_a_router_that_is_not_there_is_unreachable(client: UpstreamClient) -> None:
    with pytest.raises(EngineUnreachable):
        await line(client, f"http://127.0.0.1:{free_port()}").ask("GET", "/replicas")
    with pytest.raises(EngineUnreachable):
        await line(client, "nonsense").ask("GET", "/replicas")


async def test_a_frozen_router_is_found(client: UpstreamClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subject, "_SLACK_S", 0.0)
    monkeypatch.setattr(subject, "_CONTROL_S", 0.3)
    async with a_server_that(silent) as server:
        with pytest.raises(EngineTimedOut):
            await line(client, server.url).stream("/v1/chat/completions", headers=(), body=b"{}")
        with pytest.raises(EngineTimedOut):
            await line(client, server.url).ask("GET", "/replicas")


async def test_an_answer_that_is_cut_is_broken(client: UpstreamClient) -> None:
    async with a_server_that(that_says(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhel")) as server:
        with pytest.raises(EngineBroke):
            await line(client, server.url).ask("GET", "/replicas")


async def test_an_endless_answer_is_not_read_to_its_end(
    client: UpstreamClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(subject, "_MOST_BODY_BYTES", 1000)
    async with a_server_that(that_says(b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * 5000)) as server:
        with pytest.raises(EngineBroke):
            await line(client, server.url).ask("GET", "/replicas")
