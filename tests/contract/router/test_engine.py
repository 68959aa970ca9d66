"""The promise of `Engine`, by the adapter for vLLM against servers that speak its wire and break on demand."""

import asyncio
import json
import time
from array import array
from asyncio import StreamReader, StreamWriter
from contextlib import suppress
from dataclasses import replace

import pytest

from router.adapters.upstream.client import UpstreamClient
from router.adapters.vllm_http import VllmEngine
from router.domain.exchange import Call, CallPath
from router.domain.fleet import Replica, ReplicaId
from router.errors import EngineBroke, EngineBusy, EngineError, EngineRejected, EngineTimedOut, EngineUnreachable
from router.settings import EngineKind, RouterSettings
from tests.support.engine_process import EngineProcess, free_port, scripted_engine
from tests.support.loopback_server import Answers, a_server_that, always, one_request, until

REPLY = "Good day 收到 😀 to you."
EVENT_STREAM = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\n\r\n"


def chat(content: str = "你好 there", *, is_streamed: bool = True, **fields: object) -> Call:
    body = {"model": "smollm2", "messages": [{"role": "user", "content": content}], "max_tokens": 64}
    told = {"stream": True, "stream_options": {"include_usage": True}} if is_streamed else {}
    raw = json.dumps(body | told | fields, ensure_ascii=False).encode()
    return Call(CallPath.CHAT, raw, "smollm2", is_streamed, "r-1")


def replica(url: str) -> Replica:
    return Replica(ReplicaId("replica-1"), url)


def adapter(upstream: UpstreamClient, **settings: float) -> VllmEngine:
    return VllmEngine(client=upstream, settings=RouterSettings.model_validate(settings))


async def bytes_of(engine: VllmEngine, url: str, call: Call | None = None, *, seen: bytearray | None = None) -> bytes:
    """The whole body; what came of one that breaks is in `seen`."""
    whole = bytearray() if seen is None else seen
    answer = await engine.open(replica(url), call or chat())
    try:
        while data := await answer.read():
            whole += data
    finally:
        answer.close()
    return bytes(whole)


async def reply_of(engine: VllmEngine, answers: Answers, call: Call | None = None) -> bytes:
    """The body from a server that does just this."""
    async with a_server_that(answers) as server:
        return await bytes_of(engine, server.url, call)


def text_of(body: bytes) -> str:
    events = [line.removeprefix(b"data: ") for line in body.split(b"\n\n") if line.startswith(b"data: {")]
    choices = [choice for event in events for choice in json.loads(event)["choices"]]
    return "".join(choice["delta"].get("content") or "" for choice in choices)


# ---------------------------------------------------------------- what passes


async def test_a_streamed_reply_comes_as_the_engine_wrote_it(engine: EngineProcess, upstream: UpstreamClient) -> None:
    engine.script(reply=REPLY)
    answer = await adapter(upstream).open(replica(engine.url), chat())
    assert answer.content_type.startswith("text/event-stream")
    body = b""
    while data := await answer.read():
        body += data
    assert await answer.read() == b""
    answer.close()
    answer.close()
    assert text_of(body) == REPLY
    assert body.endswith(b"data: [DONE]\n\n")


async def test_a_whole_answer_comes_as_json(engine: EngineProcess, upstream: UpstreamClient) -> None:
    engine.script(reply=REPLY)
    answer = await adapter(upstream).open(replica(engine.url), chat(is_streamed=False))
    assert answer.content_type == "application/json"
    assert json.loads(await answer.read())["choices"][0]["message"]["content"] == REPLY
    answer.close()


async def test_the_engine_gets_the_call_byte_for_byte(engine: EngineProcess, upstream: UpstreamClient) -> None:
    call = replace(chat(cache_salt="tenant-1"), headers=(("X-Session-ID", "s-1"), ("traceparent", "00-ab-cd-01")))
    await bytes_of(adapter(upstream), f"{engine.url}/", call)
    (asked,) = engine.requests()
    assert asked["body"].encode() == call.body
    told = {name: asked["headers"][name] for name in ("content-type", "accept", "accept-encoding", "x-request-id")}
    assert told == {
        "content-type": "application/json",
        "accept": "text/event-stream",
        "accept-encoding": "identity",
        "x-request-id": "r-1",
    }
    assert (asked["headers"]["x-session-id"], asked["headers"]["traceparent"]) == ("s-1", "00-ab-cd-01")
    assert "authorization" not in asked["headers"]


async def test_an_engine_that_wants_a_key_gets_it(engine: EngineProcess, upstream: UpstreamClient) -> None:
    await bytes_of(VllmEngine(client=upstream, settings=RouterSettings(), api_key="k-1"), engine.url)
    assert engine.requests()[0]["headers"]["authorization"] == "Bearer k-1"


@pytest.mark.parametrize("cut", [1, 2, 3, 7, 100])
async def test_pieces_of_any_size_come_whole(engine: EngineProcess, upstream: UpstreamClient, cut: int) -> None:
    engine.script(reply=REPLY, cut_bytes=cut)
    assert text_of(await bytes_of(adapter(upstream), engine.url)) == REPLY


async def test_tokens_are_said_by_the_engine(upstream: UpstreamClient) -> None:
    asked: list[tuple[bytes, bytes]] = []

    async def says(reader: StreamReader, writer: StreamWriter) -> None:
        asked.append(await one_request(reader))
        body = json.dumps({"prompt": "你"}).encode()
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))

    async with a_server_that(says) as server:
        assert await adapter(upstream).text_of(replica(server.url), array("L", [18645, 250])) == "你"
    ((head, body),) = asked
    assert head.startswith(b"POST /detokenize HTTP/1.1\r\n")
    assert json.loads(body) == {"tokens": [18645, 250]}


@pytest.mark.parametrize(
    "answer",
    [
        b'HTTP/1.1 404 Not Found\r\nContent-Length: 22\r\n\r\n{"detail":"Not Found"}',
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]",
        b'HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\n{"prompt":1}',
        b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nnone",
        b"HTTP/1.1 200 OK\r\nContent-Length: 40\r\n\r\n{",
        b"",
    ],
)
async def test_an_engine_that_does_not_say_it_is_no_failure(upstream: UpstreamClient, answer: bytes) -> None:
    async with a_server_that(always(answer)) as server:
        assert await adapter(upstream).text_of(replica(server.url), [1]) is None
    assert await adapter(upstream).text_of(replica(f"http://127.0.0.1:{free_port()}"), [1]) is None


async def test_an_engine_that_is_silent_is_not_waited_for_long(upstream: UpstreamClient) -> None:
    async def silent(reader: StreamReader, _: StreamWriter) -> None:
        await one_request(reader)
        await asyncio.Event().wait()

    began = time.monotonic()
    async with a_server_that(silent) as server:
        assert await adapter(upstream).text_of(replica(server.url), [1]) is None
    assert time.monotonic() - began < 10


async def test_a_finished_reply_leaves_its_connection_for_the_next(
    engine: EngineProcess, upstream: UpstreamClient
) -> None:
    for _ in range(5):
        await bytes_of(adapter(upstream), engine.url)
    assert len({asked["client_port"] for asked in engine.requests()}) == 1


async def test_five_hundred_streams_at_a_time(upstream: UpstreamClient) -> None:
    started, all_here = 0, asyncio.Event()

    async def slowly(reader: StreamReader, writer: StreamWriter) -> None:
        nonlocal started
        await one_request(reader)
        writer.write(EVENT_STREAM)
        started += 1
        if started == 500:
            all_here.set()
        await all_here.wait()
        for number in range(10):
            writer.write(b"data: %d\n\n" % number)
            await asyncio.sleep(0.02)

    engine = adapter(upstream)
    async with a_server_that(slowly) as server, asyncio.TaskGroup() as tasks:
        asked = [tasks.create_task(bytes_of(engine, server.url)) for _ in range(500)]
    whole = b"".join(b"data: %d\n\n" % number for number in range(10))
    assert {task.result() for task in asked} == {whole}


# ---------------------------------------------------------------- what is refused


async def test_nobody_there_is_unreachable(upstream: UpstreamClient) -> None:
    with pytest.raises(EngineUnreachable) as caught:
        await bytes_of(adapter(upstream), f"http://127.0.0.1:{free_port()}")
    assert caught.value.replica == "replica-1"


@pytest.mark.parametrize("url", ["", "replica-1:8000", "ftp://replica-1", "http://a b"])
async def test_what_is_no_address_is_unreachable(upstream: UpstreamClient, url: str) -> None:
    with pytest.raises(EngineUnreachable):
        await bytes_of(adapter(upstream), url)


async def test_a_full_engine_is_busy(engine: EngineProcess, upstream: UpstreamClient) -> None:
    engine.script(fault="refuse")
    with pytest.raises(EngineBusy, match="HTTP 503: The server is overloaded"):
        await bytes_of(adapter(upstream), engine.url)


@pytest.mark.parametrize(
    ("call", "status", "message"),
    [
        (chat(model="nope"), 404, "The model `nope` does not exist"),
        (chat(messages=[]), 400, "Cannot apply chat template"),
        (chat(max_tokens=5000), 400, "max_tokens=5000"),
        (chat("word " * 5000), 400, "This model's maximum context"),
        (replace(chat(), path=CallPath.COMPLETIONS), 404, "no message"),
    ],
)
async def test_a_wrong_request_is_rejected_in_the_engines_words(
    engine: EngineProcess, upstream: UpstreamClient, call: Call, status: int, message: str
) -> None:
    with pytest.raises(EngineRejected, match=f"HTTP {status}: {message}") as caught:
        await bytes_of(adapter(upstream), engine.url, call)
    assert caught.value.status == status
    assert message == "no message" or message.encode() in caught.value.body


async def test_a_refusal_leaves_its_connection_for_the_next(engine: EngineProcess, upstream: UpstreamClient) -> None:
    for _ in range(50):
        with pytest.raises(EngineRejected):
            await bytes_of(adapter(upstream), engine.url, chat(model="nope"))
    assert len({asked["client_port"] for asked in engine.requests()}) == 1


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        *[(status, EngineRejected) for status in (400, 401, 403, 404, 405, 409, 413, 422, 499)],
        *[(status, EngineBusy) for status in (201, 204, 302, 408, 425, 429, 500, 502, 503, 504, 599)],
    ],
)
async def test_every_status_but_200_is_a_refusal(
    upstream: UpstreamClient, status: int, kind: type[EngineError]
) -> None:
    body = b'{"error":"Unauthorized"}' if status != 204 else b""
    wire = b"HTTP/1.1 %d No\r\nContent-Length: %d\r\n\r\n%s" % (status, len(body), body)
    with pytest.raises(EngineError, match=f"HTTP {status}") as caught:
        await reply_of(adapter(upstream), always(wire))
    assert type(caught.value) is kind


async def test_no_more_of_a_refusal_is_kept_than_a_caller_needs(upstream: UpstreamClient) -> None:
    async def endlessly(reader: StreamReader, writer: StreamWriter) -> None:
        await one_request(reader)
        writer.write(b"HTTP/1.1 400 No\r\nTransfer-Encoding: chunked\r\n\r\n")
        while not writer.is_closing():
            writer.write(b"1000\r\n" + b"x" * 4096 + b"\r\n")
            await writer.drain()

    with pytest.raises(EngineRejected) as caught:
        await reply_of(adapter(upstream), endlessly)
    assert caught.value.body == b"x" * 65536
    await until(lambda: upstream.connections == 0, "an endless refusal is still read")


async def test_a_refusal_whose_body_never_comes_is_one_still(upstream: UpstreamClient) -> None:
    async def half(reader: StreamReader, writer: StreamWriter) -> None:
        await one_request(reader)
        writer.write(b"HTTP/1.1 422 No\r\nContent-Length: 99\r\n\r\n{")
        await reader.read(1)

    began = time.monotonic()
    with pytest.raises(EngineRejected) as caught:
        await reply_of(adapter(upstream), half)
    assert (caught.value.status, caught.value.body) == (422, b"{")
    assert time.monotonic() - began < 2


@pytest.mark.parametrize(
    "header",
    [
        ("x-session-id", "a\r\nx-other: b"),
        ("x-session-id", "a\nb"),
        ("x-session-id", "会话"),
        ("x-session-id\r\nx-other", "s-1"),
        ("content-length", "0"),
        ("Transfer-Encoding", "chunked"),
        ("host", "elsewhere"),
        ("Authorization", "Bearer of-the-caller"),
        ("X-Request-Id", "another"),
    ],
)
async def test_no_header_can_become_more_than_a_header(
    engine: EngineProcess, upstream: UpstreamClient, header: tuple[str, str]
) -> None:
    with pytest.raises(EngineRejected) as caught:
        await bytes_of(adapter(upstream), engine.url, replace(chat(), headers=(header,)))
    assert header[1] not in str(caught.value)
    with pytest.raises(EngineRejected):
        await bytes_of(adapter(upstream), engine.url, replace(chat(), request_id="r\r\n\r\nGET / HTTP/1.1"))
    assert engine.requests() == []


# ---------------------------------------------------------------- what breaks


@pytest.mark.parametrize("chunks", [0, 3])
async def test_a_reply_that_is_cut_is_broken_after_what_came(
    engine: EngineProcess, upstream: UpstreamClient, chunks: int
) -> None:
    engine.script(reply="one two three four five six", fault="cut", after_chunks=chunks)
    seen = bytearray()
    with pytest.raises(EngineBroke):
        await bytes_of(adapter(upstream), engine.url, seen=seen)
    assert text_of(bytes(seen)) == "".join(["one", " two", " three"][:chunks])


async def test_an_engine_that_dies_in_its_reply_is_broken_and_then_unreachable(upstream: UpstreamClient) -> None:
    with scripted_engine() as mortal:
        mortal.script(reply="one two three", fault="die", after_chunks=1)
        seen = bytearray()
        with pytest.raises(EngineBroke):
            await bytes_of(adapter(upstream), mortal.url, seen=seen)
        assert text_of(bytes(seen)) == "one"
        with pytest.raises(EngineUnreachable):
            await bytes_of(adapter(upstream), mortal.url)


@pytest.mark.parametrize(
    ("wire", "kind"),
    [
        (b"", EngineUnreachable),
        (b"SSH-2.0-OpenSSH_9\r\n", EngineUnreachable),
        (b"HTTP/1.1 200", EngineUnreachable),
        (b"HTTP/1.1 200 OK\r\nx: " + b"y" * 1_000_000, EngineUnreachable),
        (b"HTTP/1.1 200 OK\r\n" + b"x: y\r\n" * 100_000, EngineUnreachable),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\ndata: ", EngineBroke),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\ndata:\r\n", EngineBroke),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\ndata:\r\n0\r\n\r\n", EngineBroke),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n" + b"x: y\r\n" * 100_000, EngineBroke),
    ],
)
async def test_whatever_listens_there_gives_an_error_in_our_words(
    upstream: UpstreamClient, wire: bytes, kind: type[EngineError]
) -> None:
    async def answers(reader: StreamReader, writer: StreamWriter) -> None:
        await one_request(reader)
        writer.write(wire)
        await writer.drain()

    with pytest.raises(kind):
        await reply_of(adapter(upstream), answers)


async def test_a_body_nobody_can_read_is_not_passed_on(upstream: UpstreamClient) -> None:
    wire = EVENT_STREAM.replace(b"Type", b"Encoding: gzip\r\nContent-Type") + b"\x1f\x8b"
    with pytest.raises(EngineBusy, match="encoding"):
        await reply_of(adapter(upstream), always(wire))


async def test_a_whole_answer_has_a_bound(upstream: UpstreamClient) -> None:
    size = (1 << 24) + 1
    wire = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % size + b"x" * size
    with pytest.raises(EngineBroke, match="longer than 16777216 bytes"):
        await reply_of(adapter(upstream), always(wire), chat(is_streamed=False))
    await until(lambda: upstream.connections == 0, "the rest of it is still read")
    fits = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % (size - 1) + b"x" * (size - 1)
    assert len(await reply_of(adapter(upstream), always(fits), chat(is_streamed=False))) == size - 1


async def test_an_event_as_large_as_it_likes_passes(upstream: UpstreamClient) -> None:
    event = b"data: " + b"x" * 5_000_000 + b"\n\n"
    wire = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(event), event)
    assert await reply_of(adapter(upstream), always(wire)) == event


# ---------------------------------------------------------------- what takes too long


async def test_no_status_line_in_time(upstream: UpstreamClient) -> None:
    async def nothing(reader: StreamReader, _: StreamWriter) -> None:
        await reader.read(-1)

    with pytest.raises(EngineTimedOut, match=r"no answer within 0\.2 s"):
        await reply_of(adapter(upstream, answer_timeout_s=0.2), nothing)


async def test_another_engine_may_answer_with_its_first_token(upstream: UpstreamClient) -> None:
    async def late(reader: StreamReader, writer: StreamWriter) -> None:
        await one_request(reader)
        await asyncio.sleep(0.3)
        writer.write(EVENT_STREAM + b"data: x\n\n")

    settings = RouterSettings(engine=EngineKind.OPENAI, answer_timeout_s=0.1, first_byte_timeout_s=2)
    assert await reply_of(VllmEngine(client=upstream, settings=settings), late) == b"data: x\n\n"


async def test_silence_before_the_first_token_is_bounded(engine: EngineProcess, upstream: UpstreamClient) -> None:
    engine.script(fault="stall", after_chunks=0)
    began = time.monotonic()
    with pytest.raises(EngineTimedOut, match=r"no first token within 0\.3 s"):
        await bytes_of(adapter(upstream, first_byte_timeout_s=0.3), engine.url)
    assert time.monotonic() - began < 2.0


async def test_silence_between_tokens_is_bounded(engine: EngineProcess, upstream: UpstreamClient) -> None:
    engine.script(reply="one two three", fault="stall", after_chunks=2)
    with pytest.raises(EngineTimedOut, match=r"no token for 0\.3 s"):
        await bytes_of(adapter(upstream, chunk_timeout_s=0.3), engine.url)
    await until(lambda: engine.running() == 0, "the engine still writes a stream that was given up")


async def test_a_whole_reply_is_bounded_however_lively(engine: EngineProcess, upstream: UpstreamClient) -> None:
    engine.script(reply="word " * 60, delay_s=0.05)
    with pytest.raises(EngineTimedOut, match=r"longer than 0\.4 s"):
        await bytes_of(adapter(upstream, total_timeout_s=0.4), engine.url)


async def test_comments_while_queued_do_not_lengthen_the_patience(upstream: UpstreamClient) -> None:
    async def chatter(reader: StreamReader, writer: StreamWriter) -> None:
        await one_request(reader)
        writer.write(EVENT_STREAM)
        while not writer.is_closing():
            writer.write(b": keep-alive\n\n")
            await asyncio.sleep(0.05)

    with pytest.raises(EngineTimedOut, match="no first token"):
        await reply_of(adapter(upstream, first_byte_timeout_s=0.4), chatter)


async def test_an_event_that_drips_is_silence(upstream: UpstreamClient) -> None:
    async def drip(reader: StreamReader, writer: StreamWriter) -> None:
        await one_request(reader)
        writer.write(EVENT_STREAM + b"data: one\n\ndata: ")
        while not writer.is_closing():
            writer.write(b"x")
            await asyncio.sleep(0.02)

    with pytest.raises(EngineTimedOut, match=r"no token for 0\.3 s"):
        await reply_of(adapter(upstream, chunk_timeout_s=0.3), drip)


async def test_a_head_that_drips_is_no_answer(upstream: UpstreamClient) -> None:
    async def drip(reader: StreamReader, writer: StreamWriter) -> None:
        await one_request(reader)
        for byte in EVENT_STREAM:
            writer.write(bytes([byte]))
            await asyncio.sleep(0.02)

    with pytest.raises(EngineTimedOut, match="no answer"):
        await reply_of(adapter(upstream, answer_timeout_s=0.2), drip)


async def test_a_slow_taker_is_not_the_engines_silence(engine: EngineProcess, upstream: UpstreamClient) -> None:
    engine.script(reply="one two three", delay_s=0.02)
    answer = await adapter(upstream, chunk_timeout_s=0.2).open(replica(engine.url), chat())
    body = b""
    while data := await answer.read():
        body += data
        await asyncio.sleep(0.3)
    answer.close()
    assert text_of(body) == "one two three"


async def test_a_whole_answer_may_take_longer_than_a_token(upstream: UpstreamClient) -> None:
    async def when_done(reader: StreamReader, writer: StreamWriter) -> None:
        await one_request(reader)
        await asyncio.sleep(0.4)
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{")
        await asyncio.sleep(0.4)
        writer.write(b"}")

    hasty = {"answer_timeout_s": 0.1, "first_byte_timeout_s": 0.1, "chunk_timeout_s": 0.1}
    assert await reply_of(adapter(upstream, **hasty), when_done, chat(is_streamed=False)) == b"{}"
    with pytest.raises(EngineTimedOut, match=r"longer than 0\.2 s"):
        await reply_of(adapter(upstream, **hasty, total_timeout_s=0.2), when_done, chat(is_streamed=False))


async def test_a_frozen_engine_times_out_and_serves_again_when_it_thaws(upstream: UpstreamClient) -> None:
    with scripted_engine() as frozen:
        await bytes_of(adapter(upstream), frozen.url)
        frozen.freeze()
        began = time.monotonic()
        with pytest.raises(EngineTimedOut):
            await bytes_of(adapter(upstream, first_byte_timeout_s=0.5), frozen.url)
        assert time.monotonic() - began < 2.0
        frozen.thaw()
        assert text_of(await bytes_of(adapter(upstream), frozen.url))


# ---------------------------------------------------------------- what is left


async def test_leaving_early_stops_the_engine(engine: EngineProcess, upstream: UpstreamClient) -> None:
    engine.script(reply="word " * 500, delay_s=0.05)
    answer = await adapter(upstream).open(replica(engine.url), chat())
    await answer.read()
    assert engine.running() == 1
    answer.close()
    await until(lambda: engine.running() == 0, "the engine still writes a stream that was left")
    with pytest.raises(EngineBroke):
        await answer.read()


@pytest.mark.parametrize("after_s", [0.0, 0.001, 0.01, 0.1, 0.3])
async def test_a_cancelled_task_stops_the_engine(
    engine: EngineProcess, upstream: UpstreamClient, after_s: float
) -> None:
    engine.script(reply="word " * 500, delay_s=0.02, first_delay_s=0.1)
    task = asyncio.ensure_future(bytes_of(adapter(upstream), engine.url))
    await asyncio.sleep(after_s)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await until(lambda: engine.running() == 0, "the engine still writes a cancelled stream")
    assert upstream.idle == upstream.connections


async def test_a_refusal_that_is_cancelled_leaves_nothing(upstream: UpstreamClient) -> None:
    asked = asyncio.Event()

    async def half(reader: StreamReader, writer: StreamWriter) -> None:
        await one_request(reader)
        writer.write(b"HTTP/1.1 422 No\r\nContent-Length: 99\r\n\r\n{")
        await writer.drain()
        asked.set()
        await reader.read(1)

    async with a_server_that(half) as server:
        task = asyncio.ensure_future(bytes_of(adapter(upstream), server.url))
        await asked.wait()
        task.cancel()
        with suppress(asyncio.CancelledError, EngineRejected):
            await task
        await until(lambda: upstream.connections == server.open == 0, "a cancelled refusal is still read")


async def test_a_restart_between_two_replies_is_not_seen(upstream: UpstreamClient) -> None:
    with scripted_engine() as restarted:
        await bytes_of(adapter(upstream), restarted.url)
        restarted.kill()
        restarted.start()
        # The end of the kept connection may not have been noticed yet, and must not matter.
        assert text_of(await bytes_of(adapter(upstream), restarted.url))
