"""A generating request on its way through the proxy."""

import asyncio
import json

import pytest

from router.domain.exchange import CallPath
from router.errors import EngineBroke, EngineRejected, NoReplicaAvailable, NoRoom
from router.http.access import Access
from router.http.app import RouterApp
from router.http.generating import Generating
from tests.unit.router.http.caller import EVENT, Caller, FakeCarrier, FakeClient, FakeReply

CHAT = "/v1/chat/completions"
BODY = {"model": "smollm2", "messages": [{"role": "user", "content": "Hello?"}]}


def caller(carrier: FakeCarrier, *, client: FakeClient | None = None, limit: int = 1000) -> Caller:
    app = RouterApp(
        generating=Generating(router=carrier, body_limit=limit), routes=(), access=Access(), body_limit=limit
    )
    return Caller(app, client)


@pytest.mark.parametrize("path", list(CallPath))
async def test_a_whole_answer_goes_back_as_it_came(path: CallPath) -> None:
    carrier = FakeCarrier(reply=FakeReply([b'{"id": "x"}']))
    raw = json.dumps(BODY, indent=3).encode()
    heard = await caller(carrier).post(path, raw, x_session_id="s-1", x_request_id="turn-7")
    assert (heard.status, heard.body, heard.has_ended) == (200, b'{"id": "x"}', True)
    assert heard.headers == {
        b"content-type": b"application/json",
        b"content-length": b"11",
        b"x-replica-id": b"replica-1",
        b"x-session-pin": b"kept",
        b"x-request-id": b"turn-7",
    }
    (call, session, _asks) = carrier.taken[0]
    assert (call.path, call.body, call.model, call.is_streamed) == (path, raw, "smollm2", False)
    assert (call.request_id, session) == ("turn-7", "s-1")
    assert carrier.reply.closed >= 1


async def test_a_stream_goes_out_piece_by_piece_and_ends_properly() -> None:
    carrier = FakeCarrier(reply=FakeReply([EVENT, EVENT + EVENT, b"data: [DONE]\n\n"]))
    heard = await caller(carrier).post(CHAT, {**BODY, "stream": True, "user": "u-1"})
    assert heard.status == 200
    assert heard.headers[b"content-type"] == b"text/event-stream; charset=utf-8"
    assert heard.headers[b"cache-control"] == b"no-store"
    assert heard.pieces == [EVENT, EVENT + EVENT, b"data: [DONE]\n\n", b""]
    assert heard.has_ended
    assert carrier.taken[0][1] == "u-1"
    assert carrier.reply.closed >= 1


async def test_every_request_has_an_id_of_its_own() -> None:
    carrier = FakeCarrier()
    ids = {(await caller(carrier).post(CHAT, BODY)).headers[b"x-request-id"] for _ in range(3)}
    assert len(ids) == len({call.request_id for call, _, _ in carrier.taken}) >= 1


async def test_what_the_caller_is_and_traces_is_told_to_the_engine() -> None:
    carrier = FakeCarrier()
    trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    await caller(carrier).post(CHAT, BODY, x_session_id="s-1", traceparent=trace, tracestate="a=b")
    assert carrier.taken[0][0].headers == (("x-session-id", "s-1"), ("traceparent", trace), ("tracestate", "a=b"))
    await caller(carrier).post(CHAT, BODY, x_session_id="学员")
    assert carrier.taken[1][0].headers == ()


async def test_without_a_model_the_only_one_is_meant() -> None:
    carrier = FakeCarrier()
    await caller(carrier).post(CHAT, {"messages": []})
    assert carrier.taken[0][0].model == "smollm2"
    carrier.models = frozenset({"a", "b"})
    heard = await caller(carrier).post(CHAT, {"messages": []})
    assert (heard.status, heard.json()["error"]["param"]) == (400, "model")
    assert len(carrier.taken) == 1
    carrier.models = frozenset()
    await caller(carrier).post(CHAT, {"messages": []})
    assert carrier.taken[1][0].model == ""  # the router knows why there is none


async def test_a_request_that_cannot_be_read_never_reaches_the_router() -> None:
    carrier = FakeCarrier()
    for body, status in ((b"{", 400), (b"[]", 400), (b"x" * 1001, 413)):
        assert (await caller(carrier).post(CHAT, body)).status == status
    assert (await caller(carrier).post(CHAT, BODY, content_type="text/plain")).code == "unsupported_media_type"
    heard = await caller(carrier).post(CHAT, BODY, x_session_id="x" * 300, x_request_id="r")
    assert (heard.status, heard.json()["error"]["param"]) == (400, "X-Session-ID")
    assert heard.headers[b"x-request-id"] == b"r"
    assert carrier.taken == []


@pytest.mark.parametrize("stream", [False, True])
async def test_a_refusal_is_told_with_its_own_status(*, stream: bool) -> None:
    for error, status in (
        (NoReplicaAvailable(ready=0, known=1, retry_after_s=2), 503),
        (NoRoom(waited_s=1, position=3, retry_after_s=2), 503),
        (EngineRejected("a", "told", status=422, body=b'{"error":{"code":"own"}}'), 422),
    ):
        carrier = FakeCarrier(error=error)
        heard = await caller(carrier).post(CHAT, {**BODY, "stream": stream})
        assert (heard.status, heard.has_ended) == (status, True)


async def test_a_whole_answer_that_breaks_is_an_error() -> None:
    carrier = FakeCarrier(reply=FakeReply([EngineBroke("replica-1", "cut")]))
    heard = await caller(carrier).post(CHAT, BODY)
    assert (heard.status, heard.code) == (502, "engine_broke")
    assert carrier.reply.closed >= 1


async def test_a_stream_that_breaks_says_so_and_never_that_it_is_done() -> None:
    carrier = FakeCarrier(reply=FakeReply([EVENT, EngineBroke("replica-1", "cut")]))
    heard = await caller(carrier).post(CHAT, {**BODY, "stream": True})
    assert (heard.status, heard.has_ended) == (200, True)
    assert heard.body.startswith(EVENT + b'data: {"error":{')
    assert b"[DONE]" not in heard.body
    assert carrier.reply.closed >= 1


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("ours", [False, True], ids=["any server", "our server"])
async def test_a_lost_client_ends_the_work_at_once(*, stream: bool, ours: bool) -> None:
    carrier = FakeCarrier(reply=FakeReply([asyncio.Event()]))
    client = FakeClient() if ours else None
    one = caller(carrier, client=client)
    async with asyncio.timeout(5), asyncio.TaskGroup() as group:
        group.create_task(one.post(CHAT, {**BODY, "stream": stream}))
        await carrier.asked.wait()
        one.gone.set()
        if client is not None:
            client.lose()
    assert carrier.reply.closed >= 1
    assert not one.heard.has_ended


async def test_a_client_that_goes_while_it_sends_costs_nothing() -> None:
    carrier = FakeCarrier()
    one = caller(carrier)
    one.gone.set()
    heard = await one.post_in_pieces(CHAT, [])
    assert carrier.taken == []
    assert heard.status == 0


async def test_a_stream_may_be_given_to_our_own_client_at_once() -> None:
    carrier, client = FakeCarrier(reply=FakeReply([EVENT, b"data: [DONE]\n\n"])), FakeClient()
    client.takes_at_once = True
    await caller(carrier, client=client).post(CHAT, {**BODY, "stream": True})
    assert carrier.reply.give is not None
    assert carrier.reply.give(EVENT)
    assert client.taken == [EVENT]
