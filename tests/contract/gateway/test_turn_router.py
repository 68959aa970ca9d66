"""The router as the edge uses it, in this process and over HTTP: the same promises, kept by both."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from gateway.adapters.remote.remote_desk import RemoteFleetDesk
from gateway.adapters.remote.remote_router import RemoteRouter
from gateway.fleet_desk import LocalFleetDesk
from gateway.openai_ports import CallCarrier
from gateway.ports import FleetDesk, TurnRouter
from gateway.wiring.routing import Plan, routing
from router.adapters.router_line import RouterLine
from router.adapters.static_fleet import StaticFleet
from router.adapters.upstream.client import UpstreamClient
from router.domain.asks import Asks
from router.domain.board import RouterId
from router.domain.chat_call import chat_call
from router.domain.engine_stream import EngineStream
from router.domain.exchange import Call, ChatRequest, Finished, Message, StreamItem, TextPiece
from router.domain.fleet import AffinityKey, ReplicaId, ReplicaSpec
from router.domain.pin import PinDecision
from router.errors import EngineBroke, EngineRejected, ModelUnknown, ReplicaUnknown, RouterError
from router.settings import RouterSettings
from tests.support.router_elsewhere import OPERATOR_KEY, router_elsewhere
from tests.support.simulator_process import SimulatorProcess, simulator
from tests.support.told_usage import told_usage

KEY = AffinityKey("0b8f2a54-0f1c-4d5e-9a43-8f6d6f8f3a01")
SETTINGS = {
    "answer_timeout_s": 2,
    "first_byte_timeout_s": 5,
    "chunk_timeout_s": 2,
    "canary_interval_s": 0,
    "board_interval_s": 0.1,
    "probe_interval_s": 0.2,
}
SYSTEM = Message("system", "You are a customer of a small shop. " * 20)
REPLY = "The parcel has been lying at the depot since Tuesday, and nobody has told me anything about it at all."
REQUEST = ChatRequest("smollm2", (SYSTEM, Message("user", "Where is it?")), 64, 0.0, "salt", f"{KEY}-1", str(KEY))
A, B = ReplicaId("a"), ReplicaId("b")

Replicas = dict[ReplicaId, SimulatorProcess]


@dataclass
class Routed:
    router: TurnRouter
    carrier: CallCarrier
    desk: FleetDesk
    replicas: Replicas

    async def turn(
        self, request: ChatRequest = REQUEST, *, key: AffinityKey = KEY, asks: Asks | None = None
    ) -> tuple[ReplicaId, PinDecision, int, list[StreamItem]]:
        async with self.router.turn(key, request, asks=asks or Asks()) as reply:
            items = [item async for item in reply]
            return reply.replica, reply.pin, reply.continued, items

    async def carried(self, call: Call, *, key: AffinityKey | None = KEY, asks: Asks | None = None) -> bytes:
        """All bytes of an answer."""
        reply = await self.carrier.carry(call, session=key, asks=asks or Asks())
        parts = []
        try:
            while data := await reply.read():
                parts.append(data)
        finally:
            reply.close()
            reply.close()
        return b"".join(parts)


@pytest.fixture(scope="module")
def simulators() -> Iterator[Replicas]:
    arguments = ("--speed-up", "20", "--enable-prompt-tokens-details")
    with simulator(*arguments) as one, simulator(*arguments) as two:
        yield {A: one, B: two}


@pytest.fixture
def replicas(simulators: Replicas) -> Replicas:
    for each in simulators.values():
        each.reset()
        each.script(REPLY)
    return simulators


@asynccontextmanager
async def here(replicas: Replicas, _: Path) -> AsyncIterator[Routed]:
    specs = [ReplicaSpec(name, each.url) for name, each in replicas.items()]
    settings = RouterSettings.model_validate(SETTINGS)
    plan = Plan(settings=settings, source=StaticFleet(replicas=specs), name=RouterId("one"))
    async with routing(plan) as running:
        desk = LocalFleetDesk(orders=running.orders, decisions=running.router.decision)
        yield Routed(running.router, running.router, desk, replicas)


@asynccontextmanager
async def over_http(replicas: Replicas, folder: Path) -> AsyncIterator[Routed]:
    async with AsyncExitStack() as stack:
        urls = {str(name): each.url for name, each in replicas.items()}
        process = await asyncio.to_thread(stack.enter_context, router_elsewhere(urls, SETTINGS, folder))
        client = await stack.enter_async_context(UpstreamClient())
        settings = RouterSettings.model_validate(SETTINGS)
        line = RouterLine(client=client, url=process.url, key=OPERATOR_KEY, settings=settings)
        router = RemoteRouter(line=line, may_continue=True)
        await router.look()
        yield Routed(router, router, RemoteFleetDesk(line=line), replicas)


@pytest.fixture(params=[here, over_http], ids=["here", "over_http"])
async def routed(request: pytest.FixtureRequest, replicas: Replicas, tmp_path: Path) -> AsyncIterator[Routed]:
    async with request.param(replicas, tmp_path) as running:
        yield running


def text(items: list[StreamItem]) -> str:
    return "".join(item.text for item in items if isinstance(item, TextPiece))


def other(replica: ReplicaId) -> ReplicaId:
    return B if replica == A else A


async def acknowledged(desk: FleetDesk) -> bool:
    state = await desk.replica(A)
    return state.is_draining and state.drain is not None and not state.drain.missing and state.drain.seconds_left > 30


async def until_idle(replica: SimulatorProcess) -> None:
    async with asyncio.timeout(5):
        while await asyncio.to_thread(replica.metric, "vllm:num_requests_running"):  # noqa: ASYNC110  no event tells
            await asyncio.sleep(0.02)


async def test_a_turn_comes_in_pieces_and_ends_with_its_usage(routed: Routed) -> None:
    replica, pin, continued, items = await routed.turn()
    assert (text(items), pin, continued) == (REPLY, PinDecision.NEW, 0)
    assert len(items) > 3
    end = items[-1]
    assert isinstance(end, Finished)
    assert end.reason == "stop"
    assert told_usage(end).prompt_tokens > 100
    assert told_usage(end).completion_tokens > 10
    seen = routed.replicas[replica].requests()
    assert [each["session"] for each in seen if each["session"] == KEY] == [KEY]


async def test_a_session_keeps_its_replica_and_its_cache(routed: Routed) -> None:
    first, *_ = await routed.turn()
    longer = replace(REQUEST, messages=(*REQUEST.messages, Message("assistant", REPLY), Message("user", "And now?")))
    second, pin, _, items = await routed.turn(longer)
    assert (second, pin) == (first, PinDecision.KEPT)
    assert told_usage(items[-1]).cached_tokens > 100


async def test_a_session_without_a_pin_returns_to_where_it_was(routed: Routed) -> None:
    for replica in (A, B):
        found, pin, *_ = await routed.turn(key=AffinityKey(f"session-at-{replica}"), asks=Asks(prefer=replica))
        assert (found, pin) == (replica, PinDecision.NEW)


async def test_a_session_that_has_ended_is_new_again(routed: Routed) -> None:
    await routed.turn()
    await routed.router.end(KEY)
    await routed.router.end(KEY)
    assert (await routed.turn())[1] is PinDecision.NEW


@pytest.mark.parametrize(
    "fault",
    [
        {"kind": "cut", "after_chunks": 4, "times": 1},
        {"kind": "stall", "after_chunks": 4, "times": 1},
        {"kind": "error", "after_chunks": 4, "times": 1},
    ],
    ids=lambda fault: str(fault["kind"]),
)
async def test_a_reply_whose_replica_is_lost_goes_on_at_another(routed: Routed, fault: dict[str, object]) -> None:
    whole = told_usage((await routed.turn(key=AffinityKey("undisturbed")))[3][-1])
    routed.replicas[A].fault(**fault)
    replica, _, continued, items = await routed.turn(asks=Asks(prefer=A))
    assert (replica, continued, text(items)) == (B, 1, REPLY)
    usage = told_usage(items[-1])
    assert usage.completion_tokens == whole.completion_tokens
    assert usage.prompt_tokens == whole.prompt_tokens
    asked = routed.replicas[B].requests()[-1]
    assert asked["path"] == "/v1/completions" or "continue_final_message" in asked["body"]


async def test_a_replica_that_fails_before_the_first_token_is_not_noticed(routed: Routed) -> None:
    routed.replicas[A].fault(kind="refuse", times=1)
    replica, _, continued, items = await routed.turn(asks=Asks(prefer=A))
    assert (replica, continued, text(items)) == (B, 0, REPLY)


async def test_a_caller_who_wants_no_continuation_gets_an_honest_end(routed: Routed) -> None:
    routed.replicas[A].fault(kind="cut", after_chunks=4, times=1)
    with pytest.raises(EngineBroke):
        await routed.turn(asks=Asks(prefer=A, may_continue=False))


async def test_a_request_that_the_engine_finds_wrong_is_not_tried_elsewhere(routed: Routed) -> None:
    with pytest.raises(EngineRejected) as caught:
        await routed.turn(replace(REQUEST, max_tokens=1_000_000))
    assert caught.value.status == 400


async def test_a_model_that_nobody_serves_is_unknown(routed: Routed) -> None:
    with pytest.raises(ModelUnknown):
        await routed.turn(replace(REQUEST, model="nobody"))


async def test_whoever_leaves_stops_the_engine(routed: Routed) -> None:
    for each in routed.replicas.values():
        each.script("word " * 2000)
    async with routed.router.turn(KEY, replace(REQUEST, max_tokens=2000), asks=Asks()) as reply:
        await anext(aiter(reply))
        replica = reply.replica
    await until_idle(routed.replicas[replica])


async def test_a_turn_that_is_cancelled_while_it_opens_leaves_nothing(routed: Routed) -> None:
    for each in routed.replicas.values():
        each.fault(kind="stall", after_chunks=0)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.5):
            await routed.turn()
    for each in routed.replicas.values():
        each.clear_faults()
        await until_idle(each)


async def test_many_turns_at_once_do_not_mix(routed: Routed) -> None:
    found = await asyncio.gather(*(routed.turn(key=AffinityKey(f"session-{n}")) for n in range(40)))
    assert {text(items) for *_, items in found} == {REPLY}
    assert {replica for replica, *_ in found} == {A, B}


async def test_a_turn_can_be_explained(routed: Routed) -> None:
    replica, *_ = await routed.turn()
    decision = await routed.desk.decision(REQUEST.request_id)
    assert decision is not None
    assert (decision.pin, decision.attempts[-1].replica) == (PinDecision.NEW, replica)
    assert decision.attempts[-1].outcome == "completed"
    assert await routed.desk.decision("nobody-1") is None


async def test_a_drain_is_ordered_seen_and_undone(routed: Routed) -> None:
    await routed.turn(asks=Asks(prefer=A))
    await routed.desk.drain(A, within_s=60)
    async with asyncio.timeout(10):
        while not await acknowledged(routed.desk):  # noqa: ASYNC110  no event tells
            await asyncio.sleep(0.05)
    replica, *_ = await routed.turn(key=AffinityKey("new"), asks=Asks(prefer=A))
    assert replica == B
    await routed.desk.undo_drain(A)
    assert (await routed.desk.replica(A)).drain is None
    with pytest.raises(ReplicaUnknown):
        await routed.desk.drain(ReplicaId("nobody"), within_s=None)


async def test_the_fleet_is_known_to_the_edge(routed: Routed) -> None:
    fleet = routed.router.fleet()
    assert {replica.id: replica.is_ready for replica in fleet.replicas} == {A: True, B: True}
    states = await routed.desk.replicas()
    assert [(state.id, state.health, state.models) for state in states] == [
        (A, "ready", ("smollm2",)),
        (B, "ready", ("smollm2",)),
    ]


async def test_a_prewarm_reaches_the_pinned_replica_and_is_no_turn(routed: Routed) -> None:
    replica, *_ = await routed.turn()
    before = len(routed.replicas[replica].requests())
    longer = replace(REQUEST, messages=(*REQUEST.messages, Message("assistant", REPLY), Message("user", "And now?")))
    await routed.router.prewarm(KEY, longer)
    async with asyncio.timeout(10):
        while len(routed.replicas[replica].requests()) == before:  # noqa: ASYNC110  no event tells
            await asyncio.sleep(0.02)
    assert '"max_tokens":1,' in routed.replicas[replica].requests()[-1]["body"]


async def test_what_goes_wrong_is_always_the_router_s_error(routed: Routed) -> None:
    for each in routed.replicas.values():
        each.fault(kind="refuse")
    with pytest.raises(RouterError):
        await routed.turn()


def whole() -> Call:
    call = chat_call(REQUEST)
    body = {name: value for name, value in json.loads(call.body).items() if not name.startswith("stream")}
    return replace(call, body=json.dumps(body).encode(), is_streamed=False)


def said(events: bytes) -> str:
    return text(EngineStream(replica=A).feed(events))


async def test_a_call_comes_back_as_its_events_or_whole_with_a_session_or_without(routed: Routed) -> None:
    events = await routed.carried(chat_call(REQUEST))
    assert said(events) == REPLY
    assert events.endswith(b"data: [DONE]\n\n")
    told = json.loads(await routed.carried(whole()))
    assert told["choices"][0]["message"]["content"] == REPLY
    assert told["usage"]["prompt_tokens"] > 100
    for call in (chat_call(REQUEST), whole()):
        reply = await routed.carrier.carry(call, session=None, asks=Asks())
        assert (reply.pin, reply.replica in {A, B}) == (PinDecision.NONE, True)
        reply.close()
        wrong = replace(call, body=call.body.replace(b'"max_tokens":64', b'"max_tokens":-1').replace(b": 64", b": -1"))
        with pytest.raises(EngineRejected) as caught:
            await routed.carried(wrong)
        assert json.loads(caught.value.body)["error"]["message"]


async def test_a_call_whose_replica_is_lost_goes_on_at_another(routed: Routed) -> None:
    routed.replicas[A].fault(kind="cut", after_chunks=4, times=1)
    assert said(await routed.carried(chat_call(REQUEST), asks=Asks(prefer=A))) == REPLY
    routed.replicas[A].fault(kind="refuse", times=1)
    again = await routed.carried(whole(), key=AffinityKey("another"), asks=Asks(prefer=A))
    assert json.loads(again)["choices"][0]["message"]["content"] == REPLY


async def test_whoever_leaves_a_call_stops_the_engine(routed: Routed) -> None:
    for each in routed.replicas.values():
        each.script("word " * 2000)
    endless = chat_call(replace(REQUEST, max_tokens=2000))
    reply = await routed.carrier.carry(endless, session=KEY, asks=Asks())
    await reply.read()
    reply.close()
    await until_idle(routed.replicas[reply.replica])
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.3):
            await routed.carried(replace(whole(), body=whole().body.replace(b": 64", b": 2000")))
    for each in routed.replicas.values():
        await until_idle(each)
