"""How the router's HTTP tells of clients that go, and refuses what is no request."""

import asyncio
import json
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import pytest
import uvicorn

from gateway.cli.router_http import RouterHttp
from router.http.asgi import CLIENT, Client, Message, Receive, Scope, Send


class App:
    """Waits for ever, or answers at once when the path is /quick."""

    def __init__(self) -> None:
        self.asked = asyncio.Event()
        self.lost = asyncio.Event()
        self.client: Client | None = None
        self.headers: list[tuple[bytes, bytes]] = []

    async def __call__(self, scope: Scope, _receive: Receive, send: Send) -> None:
        self.client = scope["extensions"][CLIENT]
        if scope["path"] == "/streamed":
            self.headers = scope["headers"]
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await send({"type": "http.response.body", "body": b"one ", "more_body": True})
            return await send({"type": "http.response.body", "body": b"two"})
        if scope["path"] == "/quick":
            start: Message = {"type": "http.response.start", "status": 204, "headers": []}
            await send(start)
            return await send({"type": "http.response.body"})
        self.client.when_lost(self.lost.set)
        self.asked.set()
        await self.lost.wait()
        return None


@asynccontextmanager
async def serving(app: App) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        config = uvicorn.Config(app, http=RouterHttp, ws="none", lifespan="off", log_config=None, access_log=False)
        server = uvicorn.Server(config)
        async with asyncio.TaskGroup() as group:
            group.create_task(server.serve(sockets=[listener]))
            reader, writer = await asyncio.open_connection(*listener.getsockname())
            try:
                yield reader, writer
            finally:
                writer.close()
                app.lost.set()
                server.should_exit = True


def request(path: str) -> bytes:
    return f"GET {path} HTTP/1.1\r\nHost: here\r\n\r\n".encode()


async def test_a_client_that_goes_is_told_of_at_once() -> None:
    app = App()
    async with asyncio.timeout(10), serving(app) as (_, writer):
        writer.write(request("/slow"))
        await app.asked.wait()
        assert not app.lost.is_set()
        writer.close()
        await app.lost.wait()
        again = asyncio.Event()
        assert app.client is not None
        app.client.when_lost(again.set)  # one that has gone already
        assert again.is_set()
        app.client.when_lost(None)


async def test_a_connection_can_be_cut() -> None:
    app = App()
    async with asyncio.timeout(10), serving(app) as (reader, writer):
        writer.write(request("/slow"))
        await app.asked.wait()
        assert app.client is not None
        app.client.abort()
        await app.lost.wait()
        with suppress(ConnectionResetError):
            assert await reader.read() == b""


async def test_a_kept_connection_is_good_for_the_next_request() -> None:
    app = App()
    async with asyncio.timeout(10), serving(app) as (reader, writer):
        for _ in range(2):
            writer.write(request("/quick"))
            assert b" 204 " in await reader.readuntil(b"\r\n\r\n")
        writer.write(request("/slow"))
        await app.asked.wait()


async def test_what_is_no_request_is_refused_in_openais_shape() -> None:
    async with asyncio.timeout(10), serving(App()) as (reader, writer):
        writer.write(b"what?\r\n\r\n")
        head, _, body = (await reader.read()).partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 400 ")
        assert json.loads(body)["error"]["type"] == "invalid_request_error"


async def test_a_trailer_is_no_header() -> None:
    app = App()
    async with asyncio.timeout(10), serving(app) as (reader, writer):
        head = b"POST /streamed HTTP/1.1\r\nTransfer-Encoding: chunked\r\nX-Session-ID: real\r\n\r\n"
        writer.write(head + b"2\r\n{}\r\n0\r\nX-Session-ID: trailed\r\n\r\n")
        await reader.readuntil(b"0\r\n\r\n")
    assert [value for name, value in app.headers if name == b"x-session-id"] == [b"real"]


@pytest.mark.parametrize("url", ["http://[/streamed", "http://[::x]:y/streamed"])
async def test_an_address_that_is_none_is_no_path(url: str) -> None:
    app = App()
    async with asyncio.timeout(10), serving(app) as (_, writer):
        writer.write(request(url))
        await app.asked.wait()


async def test_an_older_client_gets_a_stream_without_chunks() -> None:
    async with asyncio.timeout(10), serving(App()) as (reader, writer):
        writer.write(b"GET /streamed HTTP/1.0\r\n\r\n")
        head, _, body = (await reader.read()).partition(b"\r\n\r\n")
    assert b"transfer-encoding" not in head
    assert body == b"one two"
