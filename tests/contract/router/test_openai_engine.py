"""Before a server that speaks the OpenAI API and no more, with the manners of llama-cpp-python."""

import json
from asyncio import StreamReader, StreamWriter
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from uuid import uuid4

import httpx
import pytest

from router.adapters.upstream.client import UpstreamClient
from router.adapters.vllm_http import VllmEngine
from router.adapters.vllm_probe import VllmProbe
from router.domain.chat_call import chat_call
from router.domain.exchange import ChatRequest, Finished, FinishReason, Message, TextPiece
from router.domain.fleet import Health, Replica, ReplicaId, ReplicaSpec
from router.domain.health import Observation
from router.domain.sighting import Sighting
from router.errors import EngineBroke
from router.settings import EngineKind, RouterSettings
from tests.support.loopback_server import a_server_that, one_request
from tests.support.router_house import KEY, MODEL, House

PIECES = ("Hello", " there", ",", " friend", ".")
NO_BODY = b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n"
STREAM = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n"


class PlainEngine:
    """Refuses names that are no UUIDs; ignores `include_usage`, `continue_final_message` and whatever else is asked."""

    def __init__(self) -> None:
        self.heads: list[bytes] = []
        self.bodies: list[dict[str, object]] = []
        self.dies_after: int | None = None
        """So many events of its next stream."""

    async def answer(self, reader: StreamReader, writer: StreamWriter) -> None:
        head, body = await one_request(reader)
        self.heads.append(head.lower())
        self.bodies.append(json.loads(body))
        if b"\r\nx-request-id:" in head.lower() and not _is_named_by_uuid(head.lower()):
            writer.write(NO_BODY)
        elif self.bodies[-1].get("stream"):
            events, self.dies_after = _events()[: self.dies_after], None
            writer.write(STREAM + b"".join(events))
        else:
            writer.write(_whole())
        await writer.drain()


def _is_named_by_uuid(head: bytes) -> bool:
    _, _, rest = head.partition(b"\r\nx-request-id: ")
    return len(rest.partition(b"\r\n")[0].replace(b"-", b"")) == len(uuid4().hex)


def _events() -> list[bytes]:
    deltas: list[tuple[dict[str, str], str | None]] = [({"role": "assistant"}, None)]
    deltas += [({"content": piece}, None) for piece in PIECES]
    deltas.append(({}, "stop"))
    head = {"id": "chatcmpl-1", "model": MODEL, "created": 1, "object": "chat.completion.chunk"}
    choices = [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": reason} for delta, reason in deltas]
    events = [b"data: " + json.dumps({**head, "choices": [choice]}).encode() for choice in choices]
    return [event + b"\r\n\r\n" for event in (*events, b"data: [DONE]")]


def _whole() -> bytes:
    choice = {"index": 0, "message": {"role": "assistant", "content": "".join(PIECES)}, "finish_reason": "length"}
    body = json.dumps({"choices": [choice], "usage": {"prompt_tokens": 3, "completion_tokens": 5}}).encode()
    return b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n%s" % (len(body), body)


class Pool:
    """Two such servers behind a router."""

    def __init__(self, house: House, engines: dict[ReplicaId, PlainEngine]) -> None:
        self.house = house
        self.engines = engines

    @property
    def asked(self) -> int:
        return sum(len(engine.bodies) for engine in self.engines.values())


@pytest.fixture
async def pools(upstream: UpstreamClient) -> AsyncIterator["PoolMaker"]:
    async with AsyncExitStack() as stack:
        yield PoolMaker(stack, upstream)


class PoolMaker:
    def __init__(self, stack: AsyncExitStack, upstream: UpstreamClient) -> None:
        self._stack = stack
        self._upstream = upstream

    async def make(self, *, continue_replies: bool | None = None) -> Pool:
        settings = RouterSettings(engine=EngineKind.OPENAI, continue_replies=continue_replies)
        engines = {ReplicaId(name): PlainEngine() for name in ("a", "b")}
        replicas = []
        for name, engine in engines.items():
            server = await self._stack.enter_async_context(a_server_that(engine.answer))
            replicas.append(Replica(name, server.url, Health.READY, models=frozenset({MODEL})))
        asking = VllmEngine(client=self._upstream, settings=settings)
        return Pool(House(engine=asking, replicas=replicas, settings=settings), engines)


def request(request_id: str = "session-1-1") -> ChatRequest:
    return ChatRequest(MODEL, (Message("user", "hello"),), 16, 0.0, "tenant-1", request_id)


async def test_a_turn_is_whole_without_its_usage_which_is_unknown(pools: PoolMaker) -> None:
    pool = await pools.make()
    _, _, items = await pool.house.turn(request=request())
    assert items == [*map(TextPiece, PIECES), Finished(FinishReason.STOP, None)]
    assert pool.asked == 1


async def test_the_callers_stream_ends_with_done(pools: PoolMaker) -> None:
    pool = await pools.make()
    data = await pool.house.read(chat_call(request()))
    assert data == b"".join(_events()).replace(b"\r\n", b"\n")


async def test_a_name_that_is_a_uuid_is_told_and_no_other(pools: PoolMaker) -> None:
    pool, name = await pools.make(), str(uuid4())
    home, _, _ = await pool.house.turn(request=request(name))
    await pool.house.turn(request=request("session-1-1"))
    first, second = pool.engines[home].heads
    assert f"\r\nx-request-id: {name}\r\n".encode() in first
    assert b"x-request-id" not in second


async def test_a_reply_that_has_begun_ends_with_an_error_where_nobody_can_tell_how_it_would_go_on(
    pools: PoolMaker,
) -> None:
    pool = await pools.make()
    home, _, _ = await pool.house.turn(request=request())
    pool.engines[home].dies_after = 3
    async with pool.house.router.turn(KEY, request()) as routed:
        assert [await anext(routed), await anext(routed)] == [TextPiece(piece) for piece in PIECES[:2]]
        with pytest.raises(EngineBroke):
            await anext(routed)
    assert pool.asked == 2
    assert pool.house.is_idle()


async def test_before_the_first_word_it_is_asked_for_anew(pools: PoolMaker) -> None:
    pool = await pools.make()
    home, _, _ = await pool.house.turn(request=request())
    pool.engines[home].dies_after = 1
    other, _, items = await pool.house.turn(request=request())
    assert other != home
    assert items[:-1] == [*map(TextPiece, PIECES)]
    bodies = [body for engine in pool.engines.values() for body in engine.bodies]
    assert len(bodies) == 3
    assert all(body == bodies[0] for body in bodies), "the same was asked each time, with no field of vLLM's for tokens"
    assert "return_token_ids" not in bodies[0]


async def test_an_operator_may_know_that_it_can_continue(pools: PoolMaker) -> None:
    pool = await pools.make(continue_replies=True)
    home, _, _ = await pool.house.turn(request=request())
    pool.engines[home].dies_after = 3
    other, _, _ = await pool.house.turn(request=request())
    (last,) = (engine.bodies[-1] for name, engine in pool.engines.items() if name == other)
    assert last["continue_final_message"] is True
    assert "return_token_ids" not in last


async def test_its_canary_passes(http: httpx.AsyncClient) -> None:
    engine = PlainEngine()
    probe = VllmProbe(client=http, expectations=(), settings=RouterSettings(engine=EngineKind.OPENAI))
    async with a_server_that(engine.answer) as server:
        seen = await probe.try_out(ReplicaSpec(ReplicaId("a"), server.url), [MODEL])
    assert isinstance(seen, Sighting)
    assert seen.observation is Observation.CANARY_PASSED
    assert b"x-request-id" not in engine.heads[0]
