"""How the router's HTTP tells of clients that go, and refuses what is no request."""

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress

import pytest
import uvicorn

from gateway.cli.router_http import RouterHttp
from router.http.asgi import CLIENT, Client, Message, Receive, Scope, Send

Asgi = Callable[[Scope, Receive, Send], Awaitable[None]]


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
        if scope["path"] == "/large":
            await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"16000000")]})
            return await send({"type": "http.response.body", "body": b"a" * 16_000_000})
        if scope["path"] == "/quick":
            start: Message = {"type": "http.response.start", "status": 204, "headers": []}
            await send(start)
            return await send({"type": "http.response.body"})
        self.client.when_lost(self.lost.set)
        self.asked.set()
        await self.lost.wait()
        return None


@asynccontextmanager
async def serving(
    app: Asgi, *, keep_alive_s: int = 5
) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        config = uvicorn.Config(
            app,
            http=RouterHttp,
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            timeout_keep_alive=keep_alive_s,
        )
        server = uvicorn.Server(config)
        async with asyncio.TaskGroup() as group:
            group.create_task(server.serve(sockets=[listener]))
            reader, writer = await asyncio.open_connection(*listener.getsockname())
            try:
                yield reader, writer
            finally:
                writer.close()
                if isinstance(app, App):
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


async def test_a_connection_has_one_task_which_ends_with_it() -> None:
    tasks: set[asyncio.Task[None]] = set()

    async def noting(_scope: Scope, _receive: Receive, send: Send) -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body"})

    async with asyncio.timeout(10), serving(noting) as (reader, writer):
        for number in (1, 2, 1):
            writer.write(request("/") * number)
            for _ in range(number):
                assert b" 204 " in await reader.readuntil(b"\r\n\r\n")
        assert len(tasks) == 1
        writer.close()
        await asyncio.wait(tasks)
    assert all(task.exception() is None for task in tasks)


async def test_a_request_that_fails_ends_its_connection() -> None:
    async def failing(scope: Scope, _receive: Receive, send: Send) -> None:
        if scope["path"] == "/bad":
            raise ValueError
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body"})

    async with asyncio.timeout(10), serving(failing) as (reader, writer):
        writer.write(request("/bad"))
        assert b" 500 " in await reader.readuntil(b"\r\n\r\n")
        assert await reader.read() == b"Internal Server Error"


async def test_what_is_no_request_is_refused_in_openais_shape() -> None:
    async with asyncio.timeout(10), serving(App()) as (reader, writer):
        writer.write(b"what?\r\n\r\n")
        head, _, body = (await reader.read()).partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 400 ")
        assert json.loads(body)["error"]["type"] == "invalid_request_error"


async def test_bytes_that_begin_no_request_keep_no_connection() -> None:
    async with asyncio.timeout(10), serving(App(), keep_alive_s=1) as (reader, writer):
        writer.write(request("/quick"))
        assert b" 204 " in await reader.readuntil(b"\r\n\r\n")
        writer.write(b"\r\n")
        with suppress(ConnectionResetError):
            assert await reader.read() == b""


@pytest.mark.parametrize("version", ["1.1", "1.0"])
async def test_a_client_that_takes_nothing_is_cut_off(version: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RouterHttp, "unread_s", 0.1)
    async with asyncio.timeout(10), serving(App()) as (_, writer):
        writer.transport.pause_reading()  # type: ignore[attr-defined]  # it is one that can read
        writer.write(request("/large").replace(b"1.1", version.encode()) * 2)
        with pytest.raises(ConnectionError):
            await written_for_ever(writer)


async def written_for_ever(writer: asyncio.StreamWriter) -> None:
    while True:
        writer.write(b"\r\n")
        await writer.drain()
        await asyncio.sleep(0.01)


async def test_a_client_that_takes_it_slowly_gets_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RouterHttp, "unread_s", 0.1)
    async with asyncio.timeout(10), serving(App(), keep_alive_s=1) as (reader, writer):
        writer.write(request("/large"))
        await reader.readuntil(b"\r\n\r\n")
        left = 16_000_000
        while left:
            left -= len(await reader.read(min(left, 400_000)))
            await asyncio.sleep(0.001)


async def test_a_trailer_is_no_header() -> None:
    app = App()
    async with asyncio.timeout(10), serving(app) as (reader, writer):
        head = b"POST /streamed HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nX-Session-ID: real\r\n\r\n"
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


class Streaming:
    """Begins a stream, and says how sending at once went."""

    def __init__(self, pieces: int = 3) -> None:
        self.pieces = pieces
        self.sent: list[bool] = []

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        client = scope["extensions"][CLIENT]
        self.sent.append(client.send_now(b"too early"))
        asked = await receive()
        await send({"type": "http.response.start", "status": 200, "headers": [(b"x-heard", asked["body"])]})
        for _ in range(self.pieces):
            self.sent.append(client.send_now(b"now"))
            await send({"type": "http.response.body", "body": b"later", "more_body": True})
        await send({"type": "http.response.body"})
        self.sent.append(client.send_now(b"too late"))


def post(body: bytes) -> bytes:
    return b"POST /talk?now=1 HTTP/1.1\r\nHost: here\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body)


async def test_what_is_sent_at_once_keeps_its_place_in_the_stream() -> None:
    app = Streaming(2)
    async with asyncio.timeout(10), serving(app) as (reader, writer):
        writer.write(post(b"hello"))
        head, _, body = (await reader.readuntil(b"0\r\n\r\n")).partition(b"\r\n\r\n")
    assert b"x-heard: hello" in head
    assert body == b"3\r\nnow\r\n5\r\nlater\r\n" * 2 + b"0\r\n\r\n"
    assert app.sent == [False, True, True, False]


async def test_requests_that_come_together_are_answered_one_after_the_other() -> None:
    async with asyncio.timeout(10), serving(Streaming(1)) as (reader, writer):
        writer.write(post(b"one") + post(b"two") + post(b"three"))
        heard = [await reader.readuntil(b"0\r\n\r\n") for _ in range(3)]
    assert [b"x-heard: " + word in answer for word, answer in zip((b"one", b"two", b"three"), heard, strict=True)]
    assert all(answer.endswith(b"3\r\nnow\r\n5\r\nlater\r\n0\r\n\r\n") for answer in heard)


async def test_a_reader_that_is_slow_is_sent_nothing_at_once() -> None:
    sent, is_full = 0, asyncio.Event()

    async def flood(scope: Scope, _receive: Receive, send: Send) -> None:
        nonlocal sent
        client = scope["extensions"][CLIENT]
        await send({"type": "http.response.start", "status": 200, "headers": []})
        while client.send_now(bytes(65_536)):
            sent += 1
            await asyncio.sleep(0)
        is_full.set()
        await send({"type": "http.response.body", "body": b"the end"})

    async with asyncio.timeout(10), serving(flood) as (reader, writer):
        writer.write(post(b""))
        await is_full.wait()
        body = await _until(reader, b"the end\r\n0\r\n\r\n")
    assert body.count(b"10000\r\n") == sent > 0


async def _until(reader: asyncio.StreamReader, end: bytes) -> bytes:
    heard = b""
    while not heard.endswith(end):
        heard += await reader.read(1 << 20)
    return heard


async def test_a_connection_nobody_uses_is_closed() -> None:
    async with asyncio.timeout(10), serving(App(), keep_alive_s=1) as (reader, writer):
        for _ in range(2):
            writer.write(request("/quick"))
            assert b" 204 " in await reader.readuntil(b"\r\n\r\n")
        assert await reader.read() == b""


async def test_the_path_is_understood_however_it_is_written() -> None:
    async def echo(scope: Scope, _receive: Receive, send: Send) -> None:
        told = b"%b|%b|%b" % (scope["path"].encode(), scope["raw_path"], scope["query_string"])
        await send({"type": "http.response.start", "status": 200, "headers": [(b"x-path", told)]})
        await send({"type": "http.response.body"})

    async with asyncio.timeout(10), serving(echo) as (reader, writer):
        for target, told in (
            ("/a%20b?c=1#d", b"/a b|/a%20b|c=1"),
            ("http://here/x?y", b"/x|/x|y"),
            ("/", b"/|/|"),
        ):
            writer.write(request(target))
            assert b"x-path: " + told in await reader.readuntil(b"0\r\n\r\n")
