"""What is no request, has no end, or takes for ever is refused before it costs anything."""

import asyncio
import json
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
import uvicorn
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import Receive, Scope, Send

from gateway.cli.bounded_http import MAX_HEAD_BYTES, BoundedHttp
from tests.support.eventually import eventually

HEAD = b"GET / HTTP/1.1\r\nHost: here\r\n"
POST = b"POST / HTTP/1.1\r\nHost: here\r\n"


class Hasty(BoundedHttp):
    request_s = 0.3


async def echo(scope: Scope, receive: Receive, send: Send) -> None:
    """Answers with how many bytes the body has."""
    answer: Response = PlainTextResponse(str(len(await Request(scope, receive).body())))
    await answer(scope, receive, send)


@asynccontextmanager
async def connected(protocol: type[BoundedHttp] = BoundedHttp) -> AsyncIterator["Talk"]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        config = uvicorn.Config(echo, http=protocol, ws="none", lifespan="off", log_config=None, access_log=False)
        server = uvicorn.Server(config)
        serving = asyncio.create_task(server.serve(sockets=[listener]))
        reader, writer = await asyncio.open_connection(*listener.getsockname())
        try:
            yield Talk(reader, writer, server)
        finally:
            writer.close()
            server.should_exit = True
            await serving


class Talk:
    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, server: uvicorn.Server) -> None:
        self._reader = reader
        self._writer = writer
        self._server = server

    async def say(self, words: bytes, *, times: int = 1) -> None:
        """As often as the server lets us; it may hang up on the way."""
        try:
            for _ in range(times):
                self._writer.write(words)
                await self._writer.drain()
        except ConnectionError:
            return

    async def hear(self) -> tuple[int, str]:
        """The next answer's status and body."""
        head = (await self._reader.readuntil(b"\r\n\r\n")).decode().lower()
        length = int(head.partition("content-length: ")[2].partition("\r\n")[0])
        return int(head.split()[1]), (await self._reader.readexactly(length)).decode()

    async def stop(self) -> None:
        """Once the server works on what was said last."""
        while not self._server.server_state.tasks:  # noqa: ASYNC110  there is no event to wait for
            await asyncio.sleep(0.005)
        self._server.should_exit = True

    def stop_now(self) -> None:
        self._server.should_exit = True

    def accepts(self) -> bool:
        return any(server.is_serving() for server in self._server.servers)

    async def hears_no_more(self) -> bool:
        async with asyncio.timeout(10):
            return not await self._reader.read()


@pytest.mark.parametrize("name", ["Upgrade", "upgrade"])
async def test_an_offer_to_speak_something_else_costs_no_body(name: str) -> None:
    offer = f"Connection: Upgrade, HTTP2-Settings\r\n{name}: h2c\r\nHTTP2-Settings: AAEA\r\n".encode()
    async with asyncio.timeout(10), connected() as talk:
        for _ in range(2):
            await talk.say(POST + offer + b"Content-Length: 12\r\n\r\n\r\nUpgrade: x")
            assert await talk.hear() == (200, "12")


async def test_requests_that_are_whole_are_served_one_after_another() -> None:
    async with connected() as talk:
        await talk.say(HEAD + b"\r\n" + POST + b"Content-Length: 3\r\n\r\nabc")
        assert [await talk.hear(), await talk.hear()] == [(200, "0"), (200, "3")]
        await talk.say(POST + b"Content-Length: 300000\r\n\r\n" + b"a" * 300_000)
        assert await talk.hear() == (200, "300000")
        await talk.say(POST + b"Transfer-Encoding: chunked\r\n\r\n" + b"1\r\na\r\n" * 20_000 + b"0\r\n\r\n")
        assert await talk.hear() == (200, "20000")


@pytest.mark.parametrize(
    ("begun", "endless"),
    [
        (HEAD + b"X-Long: ", b"y" * 8192),
        (HEAD, b"X-Many: y\r\n" * 800),
        (b"GET /", b"y" * 8192),
        (POST + b"Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n", b"X-Trailer: y\r\n" * 600),
    ],
    ids=["header", "headers", "path", "trailers"],
)
async def test_what_has_no_end_is_refused(begun: bytes, endless: bytes) -> None:
    async with connected() as talk:
        await talk.say(begun)
        await talk.say(endless, times=3 * MAX_HEAD_BYTES // len(endless))
        status, body = await talk.hear()
        assert (status, json.loads(body)["code"]) == (431, "head_too_large")


async def test_what_is_no_http_is_a_problem_too() -> None:
    async with connected() as talk:
        await talk.say(b"let me in\r\n\r\n")
        status, body = await talk.hear()
        assert (status, json.loads(body)["code"]) == (400, "http_malformed")
        assert await talk.hears_no_more()


@pytest.mark.parametrize("half", [b"", HEAD, POST + b"Content-Length: 9\r\n\r\nabc"], ids=["nothing", "head", "body"])
async def test_who_does_not_finish_a_request_is_not_waited_for(half: bytes) -> None:
    async with connected(Hasty) as talk:
        await talk.say(half)
        assert await talk.hears_no_more()


async def test_who_has_asked_is_not_hurried() -> None:
    async with connected(Hasty) as talk:
        await talk.say(HEAD + b"\r\n")
        assert await talk.hear() == (200, "0")
        await asyncio.sleep(2 * Hasty.request_s)  # that nothing happens can only be seen by letting time pass
        await talk.say(HEAD + b"\r\n")
        assert await talk.hear() == (200, "0")


async def test_a_server_that_stops_does_not_wait_for_half_a_body() -> None:
    async with connected() as talk:
        await talk.say(POST + b"Content-Length: 9\r\n\r\nabc")
        await talk.stop()
        assert await talk.hears_no_more()


class Leaving(BoundedHttp):
    last_request_s = 1.0


@pytest.mark.parametrize("said_before", [b"", HEAD, POST + b"Content-Length: 3\r\n\r\na"])
async def test_a_request_that_is_on_its_way_when_the_process_stops_is_answered(said_before: bytes) -> None:
    rest = {b"": HEAD + b"\r\n", HEAD: b"\r\n"}.get(said_before, b"bc")
    async with connected(Leaving) as talk:
        await talk.say(said_before)
        talk.stop_now()
        await eventually(lambda: not talk.accepts())
        await talk.say(rest)
        assert (await talk.hear())[0] == 200
        assert await talk.hears_no_more()


async def test_a_connection_that_asks_nothing_holds_the_end_up_for_a_moment_only() -> None:
    async with connected() as talk:
        talk.stop_now()
        assert await talk.hears_no_more()
