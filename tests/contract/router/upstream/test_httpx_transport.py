"""What `httpx` promises its callers holds over this transport too, as far as control calls need it."""

import asyncio
import time
from asyncio import StreamReader, StreamWriter
from collections.abc import AsyncIterator

import httpx
import pytest

from router.adapters.upstream.client import UpstreamClient
from router.adapters.upstream.httpx_transport import UpstreamTransport
from tests.support.engine_process import EngineProcess, free_port
from tests.support.loopback_server import a_server_that, always, one_request, until

JSON = b'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 7\r\n\r\n{"a":1}'


@pytest.fixture
async def http() -> AsyncIterator[httpx.AsyncClient]:
    async with (
        UpstreamClient() as upstream,
        httpx.AsyncClient(transport=UpstreamTransport(upstream), timeout=5) as client,
    ):
        yield client


async def test_calls_are_answered_over_one_connection(http: httpx.AsyncClient) -> None:
    heads = []

    async def remembers(reader: StreamReader, writer: StreamWriter) -> None:
        while True:
            heads.append((await one_request(reader))[0])
            writer.write(JSON)

    async with a_server_that(remembers) as server:
        got = await http.get(f"{server.url}/v1/models?limit=2&q=%20x", headers={"authorization": "Bearer k"})
        put = await http.put(f"{server.url}/sim/script", json={"a": 1})
        assert (got.json(), put.status_code, server.connections) == ({"a": 1}, 200, 1)
    assert heads[0].startswith(b"GET /v1/models?limit=2&q=%20x HTTP/1.1\r\nhost: 127.0.0.1:")
    assert b"\r\nauthorization: Bearer k\r\n" in heads[0].lower().replace(b"bearer", b"Bearer")
    assert b"\r\ncontent-length: 7\r\n" in heads[1]


async def test_a_real_server_is_understood(engine: EngineProcess, http: httpx.AsyncClient) -> None:
    assert (await http.get(f"{engine.url}/health")).is_success
    assert (await http.get(f"{engine.url}/v1/models")).json()["data"][0]["id"] == "smollm2"
    assert "num_requests_running" in (await http.get(f"{engine.url}/metrics")).text


async def test_nobody_there_is_a_connect_error(http: httpx.AsyncClient) -> None:
    with pytest.raises(httpx.ConnectError):
        await http.get(f"http://127.0.0.1:{free_port()}/health")


@pytest.mark.parametrize("wire", [b"", JSON[:30], JSON[:-3], b"SSH-2.0-OpenSSH_9\r\n"])
async def test_what_is_not_a_whole_answer_is_a_protocol_error(http: httpx.AsyncClient, wire: bytes) -> None:
    async def answers(reader: StreamReader, writer: StreamWriter) -> None:
        await one_request(reader)
        writer.write(wire)

    async with a_server_that(answers) as server:
        with pytest.raises(httpx.RemoteProtocolError):
            await http.get(server.url)


async def test_silence_is_a_read_timeout_before_the_head_and_after_it(http: httpx.AsyncClient) -> None:
    async def answers(reader: StreamReader, writer: StreamWriter) -> None:
        head, _ = await one_request(reader)
        if b"/half" in head:
            writer.write(JSON[:-3])
        await asyncio.sleep(30)

    async with a_server_that(answers) as server:
        for path in ("/", "/half"):
            began = time.monotonic()
            with pytest.raises(httpx.ReadTimeout):
                await http.get(server.url + path, timeout=0.15)
            assert time.monotonic() - began < 2


async def test_a_stream_that_is_left_is_cut(http: httpx.AsyncClient) -> None:
    async def answers(reader: StreamReader, writer: StreamWriter) -> None:
        await one_request(reader)
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\nx")
        await reader.read(1)

    async with a_server_that(answers) as server:
        async with http.stream("GET", server.url, timeout=None) as response:
            assert await anext(response.aiter_raw()) == b"x"
        await until(lambda: server.open == 0, "a stream that was left goes on")


async def test_what_it_cannot_speak_it_refuses(http: httpx.AsyncClient) -> None:
    async with a_server_that(always(JSON)) as server:
        with pytest.raises(httpx.UnsupportedProtocol):
            await http.head(server.url)
        with pytest.raises(httpx.LocalProtocolError):
            await http.get(server.url, headers={"x-name": b"a\r\nb: c".decode()})
        assert server.connections == 0
