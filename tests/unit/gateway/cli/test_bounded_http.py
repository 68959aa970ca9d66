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
from starlette.types import ASGIApp, Receive, Scope, Send

from gateway.cli.bounded_http import LEAST_BODY_BYTES_S, MAX_HEAD_BYTES, MAX_HEADERS, MAX_WAITING, BoundedHttp
from tests.support.eventually import eventually

HEAD = b"GET / HTTP/1.1\r\nHost: here\r\n"
POST = b"POST / HTTP/1.1\r\nHost: here\r\n"


class Quick(BoundedHttp):
    linger_s = 0.02


class Hasty(Quick):
    request_s = 0.3


class Full(Quick):
    most_connections = 0


async def echo(scope: Scope, receive: Receive, send: Send) -> None:
    """Answers with how many bytes the body has."""
    answer: Response = PlainTextResponse(str(len(await Request(scope, receive).body())))
    await answer(scope, receive, send)


async def answering_at_once(scope: Scope, receive: Receive, send: Send) -> None:
    await PlainTextResponse("no")(scope, receive, send)


async def talking_without_end(_scope: Scope, receive: Receive, send: Send) -> None:
    await receive()
    await send({"type": "http.response.start", "status": 200, "headers": []})
    for _ in range(10_000):
        await send({"type": "http.response.body", "body": b"a" * 65_536, "more_body": True})
    await send({"type": "http.response.body", "body": b""})


@asynccontextmanager
async def connected(protocol: type[BoundedHttp] = Quick, app: ASGIApp = echo) -> AsyncIterator["Talk"]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        config = uvicorn.Config(app, http=protocol, ws="none", lifespan="off", log_config=None, access_log=False)
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

    @asynccontextmanager
    async def anew(self) -> AsyncIterator["Talk"]:
        """Another connection to the same server."""
        reader, writer = await asyncio.open_connection(*self._writer.get_extra_info("peername"))
        try:
            yield Talk(reader, writer, self._server)
        finally:
            writer.close()

    async def stop(self) -> None:
        """Once the server works on what was said last."""
        while not self._server.server_state.tasks:  # noqa: ASYNC110  there is no event to wait for
            await asyncio.sleep(0.005)
        self._server.should_exit = True

    def stop_now(self) -> None:
        self._server.should_exit = True

    def accepts(self) -> bool:
        return any(server.is_serving() for server in self._server.servers)

    async def hears(self, words: bytes) -> bool:
        return await self._reader.readexactly(len(words)) == words

    async def hears_all(self) -> bytes:
        return await self._reader.read(-1)

    def has_left(self) -> bool:
        """Whether the server has ended the connection."""
        return not self._server.server_state.connections

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


async def test_who_says_nothing_is_not_waited_for() -> None:
    async with connected(Hasty) as talk:
        assert await talk.hears_no_more()


@pytest.mark.parametrize("half", [b"G", HEAD, POST + b"Content-Length: 9\r\n\r\nabc"], ids=["word", "head", "body"])
async def test_who_does_not_finish_a_request_is_told_so(half: bytes) -> None:
    async with connected(Hasty) as talk:
        await talk.say(half)
        status, body = await talk.hear()
        assert (status, json.loads(body)["code"]) == (408, "request_too_slow")
        assert await talk.hears_no_more()


async def test_a_long_body_may_take_its_time_while_it_is_not_slow() -> None:
    async with connected(Hasty) as talk:
        began, piece = asyncio.get_running_loop().time(), b"a" * LEAST_BODY_BYTES_S
        await talk.say(POST + b"Content-Length: %d\r\n\r\n" % (4 * len(piece)))
        for _ in range(4):
            await talk.say(piece)
            await asyncio.sleep(Hasty.request_s / 2)  # that it is not cut off can only be seen by letting time pass
        assert await talk.hear() == (200, str(4 * len(piece)))
        assert asyncio.get_running_loop().time() > began + Hasty.request_s


async def test_who_comes_when_all_places_are_taken_is_told_so() -> None:
    async with connected(Full) as talk:
        status, body = await talk.hear()
        assert (status, json.loads(body)["code"]) == (503, "too_many_connections")
        assert await talk.hears_no_more()


CHUNKED = b"Transfer-Encoding: chunked\r\n"
NOT_ALIKE = {
    "a length and chunks": POST + b"Content-Length: 3\r\n" + CHUNKED + b"\r\n0\r\n\r\n",
    "chunks and a length": POST + CHUNKED + b"Content-Length: 3\r\n\r\n0\r\n\r\n",
    "two lengths": POST + b"Content-Length: 3\r\nContent-Length: 3\r\n\r\nabc",
    "a list of lengths": POST + b"Content-Length: 3, 3\r\n\r\nabc",
    "a length with a sign": POST + b"Content-Length: +3\r\n\r\nabc",
    "an endless length": POST + b"Content-Length: 99999999999999999999\r\n\r\nabc",
    "chunks of what is compressed": POST + b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
    "something like chunks": POST + b"Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
    "chunks behind a control character": POST + b"Transfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n",
    "chunks twice": POST + CHUNKED + CHUNKED + b"\r\n0\r\n\r\n",
    "chunks before there were any": b"POST / HTTP/1.0\r\nHost: here\r\n" + CHUNKED + b"\r\n0\r\n\r\n",
    "chunks that are none": POST + CHUNKED + b"\r\n-1\r\na\r\n0\r\n\r\n",
    "chunks with bare line feeds": POST + CHUNKED + b"\r\n1\na\n0\n\n",
    "a chunk longer than it says": POST + CHUNKED + b"\r\n1\r\nab\r\n0\r\n\r\n",
    "a length behind the body": POST + CHUNKED + b"\r\n0\r\nContent-Length: 5\r\n\r\n",
    "a folded header": HEAD + b"X-A: b\r\n c\r\n\r\n",
    "a header that is folded away": POST + b"Transfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n",
    "a space before the colon": POST + b"Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
    "bare line feeds": b"GET / HTTP/1.1\nHost: here\n\n",
    "a bare line feed": b"GET / HTTP/1.1\r\nHost: here\nX: y\r\n\r\n",
    "a bare carriage return": HEAD + b"X: a\rY: b\r\n\r\n",
    "a zero byte": HEAD + b"X: a\x00b\r\n\r\n",
    "a header without a name": HEAD + b": a\r\n\r\n",
    "no host": b"GET / HTTP/1.1\r\n\r\n",
    "two hosts": HEAD + b"Host: there\r\n\r\n",
    "no host's name": b"GET / HTTP/1.1\r\nHost: a/b@c\r\n\r\n",
    "a later version": b"GET / HTTP/2.0\r\nHost: here\r\n\r\n",
    "a tunnel": b"CONNECT here:443 HTTP/1.1\r\nHost: here:443\r\n\r\n",
    "a tunnel to a path": b"CONNECT / HTTP/1.1\r\nHost: here\r\n\r\n",
    "a space in the path": b"GET /a b HTTP/1.1\r\nHost: here\r\n\r\n",
    "raw bytes in the path": b"GET /\xff HTTP/1.1\r\nHost: here\r\n\r\n",
    "a greeting in TLS": bytes.fromhex("16030100aa010000a6030300"),
    "a greeting in HTTP/2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
}


async def test_what_another_server_could_understand_differently_is_refused() -> None:
    """And what stands behind it is no request."""
    async with asyncio.timeout(20), connected() as talk:
        for name, said in NOT_ALIKE.items():
            async with talk.anew() as other:
                await other.say(said + HEAD + b"\r\n")
                heard = await other.hears_all()
                assert heard.startswith(b"HTTP/1.1 400 "), name
                assert (
                    heard.count(b"HTTP/1.1 400 ") == heard.count(b"\r\n\r\n") == heard.count(b'"http_malformed"') == 1
                ), name


async def test_requests_in_other_forms_are_served() -> None:
    async with asyncio.timeout(10), connected() as talk:
        for said in (
            b"GET http://elsewhere:80/path HTTP/1.1\r\nHost: [::1]:8080\r\n\r\n",
            b"\r\n" + HEAD + b"\r\n",
            HEAD + b"Content-Length: 0\r\n\r\n",
            b"GET / HTTP/1.1\r\nHost:\r\n\r\n",
        ):
            await talk.say(said)
            assert await talk.hear() == (200, "0")
        await talk.say(POST + CHUNKED + b"\r\n1;name=value\r\na\r\n0\r\nX-Trailer: y\r\n\r\n")
        assert await talk.hear() == (200, "1")
        await talk.say(b"GET / HTTP/1.0\r\n\r\n")
        assert await talk.hear() == (200, "0")
        assert await talk.hears_no_more()


async def test_a_body_is_asked_for_where_the_client_waits_for_that() -> None:
    async with asyncio.timeout(10), connected() as talk:
        await talk.say(POST + b"Expect: 100-continue\r\nContent-Length: 3\r\n\r\n")
        assert await talk.hears(b"HTTP/1.1 100 Continue\r\n\r\n")
        await talk.say(b"abc")
        assert await talk.hear() == (200, "3")


async def test_more_headers_than_anybody_needs_are_refused() -> None:
    async with connected() as talk:
        await talk.say(HEAD + b"X: y\r\n" * MAX_HEADERS + b"\r\n")
        status, body = await talk.hear()
        assert (status, json.loads(body)["code"]) == (431, "head_too_large")


async def test_what_is_whole_is_answered_before_what_is_faulty_behind_it_ends_the_connection() -> None:
    async with asyncio.timeout(10), connected() as talk:
        await talk.say(HEAD + b"\r\n" + b"let me in\r\n\r\n" + HEAD + b"\r\n")
        assert await talk.hear() == (200, "0")
        assert await talk.hears_no_more()


async def test_only_so_many_requests_are_taken_before_the_first_is_answered() -> None:
    async with asyncio.timeout(10), connected() as talk:
        await talk.say((HEAD + b"\r\n") * 1000)
        answers = (await talk.hears_all()).count(b"HTTP/1.1 200 ")
        assert answers == MAX_WAITING + 1


async def test_who_is_answered_early_is_not_answered_twice() -> None:
    async with asyncio.timeout(10), connected(Hasty, answering_at_once) as talk:
        await talk.say(POST + b"Content-Length: 9\r\n\r\nabc")
        assert (await talk.hears_all()).count(b"HTTP/1.1") == 1


async def test_who_does_not_read_is_given_up() -> None:
    class Impatient(Quick):
        unread_s = 0.1

    async with asyncio.timeout(10), connected(Impatient, talking_without_end) as talk:
        await talk.say(HEAD + b"\r\n")
        await eventually(talk.has_left)


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


class Leaving(Quick):
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
