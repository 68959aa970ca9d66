"""The router in front of the simulator: it cannot tell the difference, and each fault of a replica shows.

What passes here without faults fails with them, as long as the router does nothing about a reply that breaks in its
middle. When it does, these tests say so.
"""

from collections.abc import Iterator

import httpx
import pytest

from router.adapters.memory_pins import MemoryPins
from router.adapters.static_fleet import StaticFleet
from router.adapters.vllm_http import VllmEngine
from router.domain.exchange import ChatRequest, Finished, FinishReason, Message, TextPiece
from router.domain.fleet import AffinityKey, Health, Replica, ReplicaId
from router.domain.pin import PinDecision
from router.errors import EngineBroke, EngineBusy, EngineError, EngineTimedOut
from router.service import Router
from router.settings import RouterSettings
from tests.support.simulator_process import SimulatorProcess, simulator

KEY = AffinityKey("session-1")
SYSTEM = Message("system", "You are a customer of a small shop. " * 30)


@pytest.fixture(scope="module")
def lasting() -> Iterator[SimulatorProcess]:
    with simulator("--speed-up", "50", "--enable-prompt-tokens-details") as process:
        yield process


@pytest.fixture
def replica(lasting: SimulatorProcess) -> SimulatorProcess:
    lasting.reset()
    return lasting


def router_over(http: httpx.AsyncClient, *replicas: SimulatorProcess) -> Router:
    settings = RouterSettings(answer_timeout_s=1, first_byte_timeout_s=1, chunk_timeout_s=0.5, max_attempts=1)
    known = [Replica(ReplicaId(f"replica-{n}"), each.url, Health.READY) for n, each in enumerate(replicas, start=1)]
    return Router(
        pins=MemoryPins(ttl_s=60),
        fleet=StaticFleet(replicas=known),
        engine=VllmEngine(client=http, settings=settings),
        settings=settings,
    )


async def turn(router: Router, *messages: Message, key: AffinityKey = KEY) -> tuple[PinDecision, str, Finished]:
    request = ChatRequest("smollm2", (SYSTEM, *messages), 24, 0.0, "tenant", f"{key}-{len(messages)}", key)
    async with router.turn(key, request) as stream:
        items = [item async for item in stream]
    end = items[-1]
    assert isinstance(end, Finished)
    return stream.pin, "".join(item.text for item in items if isinstance(item, TextPiece)), end


async def test_a_session_is_kept_and_its_prefix_comes_out_of_the_cache(
    replica: SimulatorProcess, http: httpx.AsyncClient
) -> None:
    router = router_over(http, replica)
    asked = Message("user", "Where is my order?")
    first_pin, reply, first = await turn(router, asked)
    pin, _, second = await turn(router, asked, Message("assistant", reply), Message("user", "And when does it come?"))
    assert (first_pin, pin) == (PinDecision.NEW, PinDecision.KEPT)
    assert first.reason in (FinishReason.STOP, FinishReason.LENGTH)
    assert first.usage.completion_tokens > 0
    assert second.usage.cached_tokens > 0.8 * first.usage.prompt_tokens
    assert (await turn(router, asked, key=AffinityKey("another")))[1] == reply
    assert [request["session"] for request in replica.requests()] == [KEY, KEY, "another"]


@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        ({"kind": "refuse"}, EngineBusy),
        ({"kind": "cut", "after_chunks": 3}, EngineBroke),
        ({"kind": "error", "after_chunks": 3}, EngineBroke),
        ({"kind": "no_finish", "after_chunks": 3}, EngineBroke),
        ({"kind": "abort", "after_chunks": 3}, EngineBroke),
        ({"kind": "stall", "after_chunks": 3}, EngineTimedOut),
    ],
    ids=lambda value: value["kind"] if isinstance(value, dict) else "",
)
async def test_a_fault_that_is_switched_on_fails_the_turn(
    replica: SimulatorProcess, http: httpx.AsyncClient, fault: dict[str, object], expected: type[EngineError]
) -> None:
    router = router_over(http, replica)
    replica.fault(**fault)
    with pytest.raises(expected):
        await turn(router, Message("user", "Where is my order?"))
    assert router.numbers().in_flight == {}
    replica.clear_faults()
    _, reply, _ = await turn(router, Message("user", "Where is my order?"))
    assert reply


async def test_a_frozen_replica_is_silent_while_its_health_is_fine(
    replica: SimulatorProcess, http: httpx.AsyncClient
) -> None:
    router = router_over(http, replica)
    replica.fault(kind="freeze")
    assert (await http.get(f"{replica.url}/health")).status_code == 200
    with pytest.raises(EngineTimedOut):
        await turn(router, Message("user", "Where is my order?"))
    replica.clear_faults()
    assert (await turn(router, Message("user", "Where is my order?")))[1]
