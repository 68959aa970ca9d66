"""The adapter against the simulator, which tells what the real engine would have noticed of each way to leave it."""

import asyncio
import json
import socket
import time
from collections.abc import Iterator

import pytest
from httpx import URL

from router.adapters.upstream.client import UpstreamClient
from router.adapters.vllm_http import VllmEngine
from router.domain.exchange import Call, CallPath
from router.domain.fleet import Replica, ReplicaId
from router.errors import EngineBroke, EngineBusy, EngineError, EngineTimedOut, EngineUnreachable
from router.settings import RouterSettings
from tests.support.loopback_server import until
from tests.support.simulator_process import SimulatorProcess, chat, simulator

RUNNING = "vllm:num_requests_running"


@pytest.fixture(scope="module")
def lasting() -> Iterator[SimulatorProcess]:
    with simulator() as process:
        yield process


@pytest.fixture
def simulated(lasting: SimulatorProcess) -> SimulatorProcess:
    lasting.reset()
    return lasting


@pytest.fixture
def engine(upstream: UpstreamClient) -> VllmEngine:
    hasty = RouterSettings(connect_timeout_s=0.3, answer_timeout_s=0.5, first_byte_timeout_s=1, chunk_timeout_s=0.5)
    return VllmEngine(client=upstream, settings=hasty)


def call(*, is_streamed: bool = True, max_tokens: int = 16) -> Call:
    body = chat("Say something long.", stream=is_streamed, max_tokens=max_tokens, ignore_eos=True)
    return Call(CallPath.CHAT, json.dumps(body).encode(), "smollm2", is_streamed, "r-1")


def replica(simulated: SimulatorProcess) -> Replica:
    return Replica(ReplicaId("replica-1"), simulated.url)


def is_open(url: str) -> bool:
    with socket.socket() as plain:
        return plain.connect_ex((URL(url).host, URL(url).port)) == 0


async def body_of(engine: VllmEngine, simulated: SimulatorProcess, asked: Call) -> bytes:
    answer = await engine.open(replica(simulated), asked)
    try:
        whole = b""
        while data := await answer.read():
            whole += data
        return whole
    finally:
        answer.close()


@pytest.mark.parametrize("is_streamed", [True, False])
async def test_the_adapter_adds_and_takes_nothing(
    engine: VllmEngine, simulated: SimulatorProcess, *, is_streamed: bool
) -> None:
    whole = await body_of(engine, simulated, call(is_streamed=is_streamed))
    if is_streamed:
        assert whole.startswith(b"data: {")
        assert whole.endswith(b"data: [DONE]\n\n")
    else:
        assert json.loads(whole)["usage"]["completion_tokens"] <= 16


async def test_what_tokens_say_is_told(engine: VllmEngine, simulated: SimulatorProcess) -> None:
    ids = simulated.client.post("/tokenize", json={"prompt": "🙂 好"}).json()["tokens"]
    assert await engine.text_of(replica(simulated), ids) == "🙂 好"
    assert (await engine.text_of(replica(simulated), ids[:1]) or "").endswith("\ufffd")


async def test_a_chopped_stream_comes_whole(engine: VllmEngine, simulated: SimulatorProcess) -> None:
    simulated.fault(kind="chopped")
    assert (await body_of(engine, simulated, call())).endswith(b"data: [DONE]\n\n")


@pytest.mark.parametrize("is_streamed", [True, False])
async def test_leaving_ends_the_engines_work(
    engine: VllmEngine, simulated: SimulatorProcess, *, is_streamed: bool
) -> None:
    asking = asyncio.ensure_future(body_of(engine, simulated, call(is_streamed=is_streamed, max_tokens=3000)))
    await until(lambda: simulated.metric(RUNNING) == 1, "nothing runs")
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    await until(lambda: simulated.metric(RUNNING) == 0, "the engine works for nobody", within_s=2)


async def test_three_hundred_aborted_streams_leave_the_engine_idle(
    simulated: SimulatorProcess, upstream: UpstreamClient
) -> None:
    patient = VllmEngine(client=upstream, settings=RouterSettings(answer_timeout_s=60, first_byte_timeout_s=60))

    async def leave(number: int) -> None:
        answer = await patient.open(replica(simulated), call(max_tokens=3000))
        if number % 2:
            await answer.read()
        answer.close()

    for _ in range(6):
        async with asyncio.TaskGroup() as tasks:
            for number in range(50):
                tasks.create_task(leave(number))
    assert upstream.connections == upstream.idle
    await until(lambda: simulated.metric(RUNNING) == 0, "the engine works for nobody", within_s=2)


@pytest.mark.parametrize(
    ("fault", "kinds"),
    [
        ({"kind": "refuse"}, EngineBusy),
        ({"kind": "refuse_connections"}, EngineUnreachable),
        ({"kind": "partition"}, (EngineTimedOut, EngineUnreachable)),
        ({"kind": "freeze"}, EngineTimedOut),
        ({"kind": "stall", "after_chunks": 0}, EngineTimedOut),
        ({"kind": "stall", "after_chunks": 3}, EngineTimedOut),
        ({"kind": "cut", "after_chunks": 3}, EngineBroke),
    ],
    ids=lambda value: str(value.get("kind")) if isinstance(value, dict) else "",
)
async def test_each_fault_is_told_in_time_and_by_its_name(
    engine: VllmEngine,
    simulated: SimulatorProcess,
    fault: dict[str, object],
    kinds: type[EngineError] | tuple[type[EngineError], ...],
) -> None:
    simulated.fault(**fault)
    if fault["kind"] == "refuse_connections":  # the port closes a moment after it was asked for
        await until(lambda: not is_open(simulated.url), "the port stays open")
    began = time.monotonic()
    with pytest.raises(EngineError) as caught:
        await body_of(engine, simulated, call())
    assert isinstance(caught.value, kinds)
    assert time.monotonic() - began < 3
    simulated.clear_faults()
