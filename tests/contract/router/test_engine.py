"""The promise of `Engine`, by the adapter for vLLM against a server that speaks its wire and breaks on demand."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import replace

import httpx
import pytest

from router.adapters.vllm_http import VllmEngine, body_of
from router.domain.exchange import ChatRequest, Finished, FinishReason, Message, StreamItem, TextPiece, Usage
from router.domain.fleet import Replica, ReplicaId
from router.errors import EngineBroke, EngineBusy, EngineError, EngineRejected, EngineTimedOut, EngineUnreachable
from router.settings import RouterSettings
from tests.support.engine_process import EngineProcess, free_port, scripted_engine

REQUEST = ChatRequest(
    "smollm2", (Message("system", "Be brief."), Message("user", "你好 there")), 64, 0.0, "tenant-1", "r-1"
)
REPLY = "Good day 收到 😀 to you."


def replica(url: str) -> Replica:
    return Replica(ReplicaId("replica-1"), url)


def adapter(http: httpx.AsyncClient, **settings: float) -> VllmEngine:
    return VllmEngine(client=http, settings=RouterSettings.model_validate(settings))


async def items_of(engine: VllmEngine, url: str, request: ChatRequest = REQUEST) -> list[StreamItem]:
    async with engine.stream(replica(url), request) as items:
        return [item async for item in items]


def text_of(items: list[StreamItem]) -> str:
    return "".join(item.text for item in items if isinstance(item, TextPiece))


async def until(holds: Callable[[], bool], what: str, *, within_s: float = 5.0) -> None:
    deadline = time.monotonic() + within_s
    while not holds():
        assert time.monotonic() < deadline, what
        await asyncio.sleep(0.02)


async def test_a_reply_comes_whole_with_its_usage(engine: EngineProcess, http: httpx.AsyncClient) -> None:
    engine.script(reply=REPLY)
    *_, end = items = await items_of(adapter(http), engine.url)
    assert text_of(items) == REPLY
    # Two messages of four tokens each and five words between them; seven in the reply, and the one that ends it.
    assert end == Finished(FinishReason.STOP, Usage(prompt_tokens=13, cached_tokens=0, completion_tokens=8))
    assert [type(item) for item in items].count(Finished) == 1


async def test_the_engine_gets_the_request_byte_for_byte(engine: EngineProcess, http: httpx.AsyncClient) -> None:
    await items_of(adapter(http), engine.url)
    (asked,) = engine.requests()
    assert asked["body"].encode() == body_of(REQUEST)
    assert asked["headers"]["x-request-id"] == "r-1"
    assert asked["cache_salt"] == "tenant-1"


async def test_a_repeated_prompt_is_cached_and_another_salt_is_not(
    engine: EngineProcess, http: httpx.AsyncClient
) -> None:
    long = replace(REQUEST, messages=(Message("user", "word " * 100),))
    cached = []
    for request in (long, long, replace(long, cache_salt="tenant-2")):
        *_, end = await items_of(adapter(http), engine.url, request)
        assert isinstance(end, Finished)
        cached.append(end.usage.cached_tokens)
    assert cached == [0, 96, 0]


@pytest.mark.parametrize("cut", [1, 2, 3, 7, 100])
async def test_characters_cut_over_packets_come_whole(engine: EngineProcess, http: httpx.AsyncClient, cut: int) -> None:
    engine.script(reply=REPLY, cut_bytes=cut)
    assert text_of(await items_of(adapter(http), engine.url)) == REPLY


async def test_a_reply_at_its_limit_ends_with_length(engine: EngineProcess, http: httpx.AsyncClient) -> None:
    engine.script(reply="one two three four")
    *_, end = items = await items_of(adapter(http), engine.url, replace(REQUEST, max_tokens=2))
    assert text_of(items) == "one two"
    assert isinstance(end, Finished)
    assert end.reason is FinishReason.LENGTH


async def test_an_empty_reply_is_complete(engine: EngineProcess, http: httpx.AsyncClient) -> None:
    engine.script(reply="")
    (end,) = await items_of(adapter(http), engine.url)
    assert isinstance(end, Finished)


async def test_nul_never_reaches_the_caller(engine: EngineProcess, http: httpx.AsyncClient) -> None:
    engine.script(reply="a\0b \0 c")
    assert text_of(await items_of(adapter(http), engine.url)) == "ab  c"


async def test_nobody_there_is_unreachable(http: httpx.AsyncClient) -> None:
    with pytest.raises(EngineUnreachable) as caught:
        await items_of(adapter(http), f"http://127.0.0.1:{free_port()}")
    assert caught.value.replica == "replica-1"


async def test_a_full_engine_is_busy(engine: EngineProcess, http: httpx.AsyncClient) -> None:
    engine.script(fault="refuse")
    with pytest.raises(EngineBusy, match="HTTP 503: The server is overloaded"):
        await items_of(adapter(http), engine.url)


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        (replace(REQUEST, model="nope"), "HTTP 404: The model `nope` does not exist"),
        (replace(REQUEST, messages=()), "HTTP 400: Cannot apply chat template"),
        (replace(REQUEST, max_tokens=5000), "HTTP 400: max_tokens=5000"),
        (replace(REQUEST, messages=(Message("user", "word " * 5000),)), "HTTP 400: This model's maximum context"),
    ],
)
async def test_a_wrong_request_is_rejected_in_the_engines_words(
    engine: EngineProcess, http: httpx.AsyncClient, request_: ChatRequest, message: str
) -> None:
    with pytest.raises(EngineRejected, match=message):
        await items_of(adapter(http), engine.url, request_)


@pytest.mark.parametrize("fault", ["cut", "error", "abort", "no_finish"])
@pytest.mark.parametrize("chunks", [0, 3])
async def test_a_reply_that_ends_otherwise_is_broken(
    engine: EngineProcess, http: httpx.AsyncClient, fault: str, chunks: int
) -> None:
    engine.script(reply="one two three four five six", fault=fault, after_chunks=chunks)
    seen: list[StreamItem] = []
    async with adapter(http).stream(replica(engine.url), REQUEST) as items:
        with pytest.raises(EngineBroke):
            await _collect(items, seen)
    assert text_of(seen) == "".join(["one", " two", " three"][:chunks])


async def test_an_engine_that_dies_in_its_reply_is_broken_and_then_unreachable(http: httpx.AsyncClient) -> None:
    with scripted_engine() as mortal:
        mortal.script(reply="one two three", fault="die", after_chunks=1)
        seen: list[StreamItem] = []
        async with adapter(http).stream(replica(mortal.url), REQUEST) as items:
            with pytest.raises(EngineBroke):
                await _collect(items, seen)
        assert seen == [TextPiece("one")]
        with pytest.raises(EngineUnreachable):
            await items_of(adapter(http), mortal.url)


async def test_silence_before_the_first_token_is_bounded(engine: EngineProcess, http: httpx.AsyncClient) -> None:
    engine.script(fault="stall", after_chunks=0)
    began = time.monotonic()
    with pytest.raises(EngineTimedOut, match=r"no first token within 0\.3 s"):
        await items_of(adapter(http, first_byte_timeout_s=0.3), engine.url)
    assert time.monotonic() - began < 2.0


async def test_silence_between_tokens_is_bounded(engine: EngineProcess, http: httpx.AsyncClient) -> None:
    engine.script(reply="one two three", fault="stall", after_chunks=2)
    with pytest.raises(EngineTimedOut, match=r"no token for 0\.3 s"):
        await items_of(adapter(http, chunk_timeout_s=0.3), engine.url)
    await until(lambda: engine.running() == 0, "the engine still writes a stream that was given up")


async def test_a_whole_reply_is_bounded_however_lively(engine: EngineProcess, http: httpx.AsyncClient) -> None:
    engine.script(reply="word " * 60, delay_s=0.05)
    with pytest.raises(EngineTimedOut, match=r"longer than 0\.4 s"):
        await items_of(adapter(http, total_timeout_s=0.4), engine.url)


async def test_a_slow_taker_is_not_the_engines_silence(engine: EngineProcess, http: httpx.AsyncClient) -> None:
    engine.script(reply="one two three")
    seen: list[StreamItem] = []
    async with adapter(http, chunk_timeout_s=0.2).stream(replica(engine.url), REQUEST) as items:
        async for item in items:
            seen.append(item)
            await asyncio.sleep(0.3)
    assert text_of(seen) == "one two three"


async def test_a_frozen_engine_times_out_and_serves_again_when_it_thaws(http: httpx.AsyncClient) -> None:
    with scripted_engine() as frozen:
        await items_of(adapter(http), frozen.url)
        frozen.freeze()
        began = time.monotonic()
        with pytest.raises(EngineTimedOut):
            await items_of(adapter(http, first_byte_timeout_s=0.5), frozen.url)
        assert time.monotonic() - began < 2.0
        frozen.thaw()
        assert text_of(await items_of(adapter(http), frozen.url))


async def test_leaving_early_stops_the_engine(engine: EngineProcess, http: httpx.AsyncClient) -> None:
    engine.script(reply="word " * 500, delay_s=0.05)
    async with adapter(http).stream(replica(engine.url), REQUEST) as items:
        await anext(items)
        assert engine.running() == 1
    await until(lambda: engine.running() == 0, "the engine still writes a stream that was left")


@pytest.mark.parametrize("after_s", [0.0, 0.001, 0.01, 0.1, 0.3])
async def test_a_cancelled_task_stops_the_engine(
    engine: EngineProcess, http: httpx.AsyncClient, after_s: float
) -> None:
    engine.script(reply="word " * 500, delay_s=0.02, first_delay_s=0.1)
    task = asyncio.ensure_future(items_of(adapter(http), engine.url))
    await asyncio.sleep(after_s)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await until(lambda: engine.running() == 0, "the engine still writes a cancelled stream")


async def test_a_finished_reply_leaves_its_connection_for_the_next(
    engine: EngineProcess, http: httpx.AsyncClient
) -> None:
    for _ in range(5):
        await items_of(adapter(http), engine.url)
    ports = {asked["client_port"] for asked in engine.requests()}
    assert len(ports) == 1


async def test_comments_while_queued_do_not_lengthen_the_patience(http: httpx.AsyncClient) -> None:
    async def chatter(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n")
        while not writer.is_closing():
            writer.write(b": keep-alive\n\n")
            await asyncio.sleep(0.05)

    with pytest.raises(EngineTimedOut, match="no first token"):
        await _ask_a_server_that(chatter, adapter(http, first_byte_timeout_s=0.4))


async def test_a_connection_that_is_lost_under_a_request_is_replaced_once(
    engine: EngineProcess, http: httpx.AsyncClient
) -> None:
    upstream = httpx.URL(engine.url)
    connections = 0

    async def loses_the_first(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal connections
        connections += 1
        request = await reader.readuntil(b"\r\n\r\n")
        if connections == 1:
            return
        body = await reader.readexactly(int(request.lower().split(b"content-length: ")[1].split(b"\r\n")[0]))
        upper_reader, upper_writer = await asyncio.open_connection(upstream.host, upstream.port)
        upper_writer.write(request.replace(b"keep-alive", b"close") + body)
        writer.write(await upper_reader.read())
        upper_writer.close()

    await _ask_a_server_that(loses_the_first, adapter(http))
    assert (connections, len(engine.requests())) == (2, 1)


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (b"", EngineUnreachable),
        (b"SSH-2.0-OpenSSH_9\r\n", EngineUnreachable),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}", EngineBroke),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\ndata: ", EngineBroke),
        (b"HTTP/1.1 200 OK\r\n\r\ndata: " + b"x" * 2_000_000, EngineBroke),
        (b"HTTP/1.1 429 Too Many\r\nContent-Length: 0\r\n\r\n", EngineBusy),
        (b"HTTP/1.1 500 Oh\r\nContent-Length: 4\r\n\r\noops", EngineBusy),
        (b"HTTP/1.1 302 Found\r\nLocation: /\r\nContent-Length: 0\r\n\r\n", EngineBusy),
        (b"HTTP/1.1 401 No\r\nContent-Length: 24\r\n\r\n" + b'{"error":"Unauthorized"}', EngineRejected),
    ],
)
async def test_whatever_listens_there_gives_an_error_in_our_words(
    http: httpx.AsyncClient, answer: bytes, kind: type[EngineError]
) -> None:
    async def answers(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(answer)
        await writer.drain()
        writer.close()

    with pytest.raises(kind):
        await _ask_a_server_that(answers, adapter(http))


async def _ask_a_server_that(
    answers: Callable[[asyncio.StreamReader, asyncio.StreamWriter], object], engine: VllmEngine
) -> None:
    async def once(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await answers(reader, writer)  # type: ignore[misc]
        except ConnectionError:
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(once, "127.0.0.1", 0)
    async with server:
        await items_of(engine, f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/")


async def _collect(items: AsyncIterator[StreamItem], seen: list[StreamItem]) -> None:
    async for item in items:
        seen.append(item)
