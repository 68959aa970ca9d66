"""The router in front of simulated replicas: it cannot tell the difference, and no fault of one costs a character."""

from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass

import pytest

from router.adapters.upstream.client import UpstreamClient
from router.adapters.vllm_http import VllmEngine
from router.domain.asks import Asks
from router.domain.exchange import ChatRequest, Finished, FinishReason, Message, TextPiece
from router.domain.fleet import AffinityKey, Health, Replica, ReplicaId
from router.domain.pin import PinDecision
from router.errors import EngineRejected
from router.settings import RouterSettings
from tests.support.router_house import House
from tests.support.simulator_process import SimulatorProcess, simulator
from tests.support.told_usage import told_usage

KEY = AffinityKey("session-1")
ONE, TWO = ReplicaId("one"), ReplicaId("two")
SYSTEM = Message("system", "You are a customer of a small shop. " * 30)
ASKED = Message("user", "Where is my order?")
# Letters of one to four bytes, a character joined of several, runs of blanks, and one long word.
SCRIPTED = "Grüß Gott!  Das kostet 30 €,\n\n  naïvely 👩‍👩‍👧 said — 订单在哪里? Extraordinarilylong.   End 🙂🙂."
ENDINGS = ("cut", "error", "no_finish", "abort", "stall")


@dataclass
class Heard:
    pin: PinDecision
    text: str
    end: Finished
    replica: ReplicaId
    continued: int


@pytest.fixture(scope="module")
def lasting() -> Iterator[Sequence[SimulatorProcess]]:
    arguments = ("--speed-up", "50", "--enable-prompt-tokens-details")
    with simulator(*arguments) as one, simulator(*arguments) as two:
        yield one, two


@pytest.fixture
def replicas(lasting: Sequence[SimulatorProcess]) -> Sequence[SimulatorProcess]:
    for each in lasting:
        each.reset()
    return lasting


@pytest.fixture
async def upstream() -> AsyncIterator[UpstreamClient]:
    async with UpstreamClient() as client:
        yield client


def house_over(upstream: UpstreamClient, *simulators: SimulatorProcess, **settings: object) -> House:
    fields = {"answer_timeout_s": 1, "first_byte_timeout_s": 1, "chunk_timeout_s": 0.3, **settings}
    chosen = RouterSettings.model_validate(fields)
    known = [
        Replica(name, each.url, Health.READY, models=frozenset({"smollm2"}))
        for name, each in zip((ONE, TWO), simulators, strict=False)
    ]
    return House(replicas=known, engine=VllmEngine(client=upstream, settings=chosen), settings=chosen)


async def turn(
    house: House, *messages: Message, key: AffinityKey = KEY, max_tokens: int = 200, asks: Asks | None = None
) -> Heard:
    request = ChatRequest("smollm2", (SYSTEM, *messages), max_tokens, 0.0, "tenant", f"{key}-{len(messages)}", key)
    async with house.router.turn(key, request, asks=Asks(prefer=ONE) if asks is None else asks) as stream:
        items = [item async for item in stream]
    end = items[-1]
    assert isinstance(end, Finished)
    text = "".join(item.text for item in items if isinstance(item, TextPiece))
    return Heard(stream.pin, text, end, stream.replica, stream.continued)


async def test_a_session_is_kept_and_its_prefix_comes_out_of_the_cache(
    replicas: Sequence[SimulatorProcess], upstream: UpstreamClient
) -> None:
    house = house_over(upstream, *replicas)
    first = await turn(house, ASKED)
    second = await turn(house, ASKED, Message("assistant", first.text), Message("user", "And when does it come?"))
    assert (first.pin, second.pin, second.replica) == (PinDecision.NEW, PinDecision.KEPT, first.replica)
    assert first.end.reason in (FinishReason.STOP, FinishReason.LENGTH)
    assert told_usage(first.end).completion_tokens > 0
    assert told_usage(second.end).cached_tokens > 0.8 * told_usage(first.end).prompt_tokens
    assert (await turn(house, ASKED, key=AffinityKey("another"))).text == first.text
    assert [request["session"] for request in replicas[0].requests()] == [KEY, KEY, "another"]
    assert house.is_idle()


@pytest.mark.parametrize("token_ids", [True, False], ids=["by token ids", "by text"])
@pytest.mark.parametrize("kind", ENDINGS)
@pytest.mark.parametrize("script", [None, SCRIPTED], ids=["made up", "scripted"])
async def test_a_reply_that_breaks_at_any_token_is_heard_as_if_nothing_had_happened(
    replicas: Sequence[SimulatorProcess], upstream: UpstreamClient, kind: str, token_ids: bool, script: str | None
) -> None:
    house = house_over(upstream, *replicas, token_ids=token_ids, breaker_failures=100)
    for each in replicas if script is not None else ():
        each.script(script)
    undisturbed = await turn(house, ASKED, asks=Asks(prefer=TWO))
    tokens = told_usage(undisturbed.end).completion_tokens
    # How a stream breaks makes no difference to where it may; so one way is tried at every token, the others at some.
    step = tokens // 3 if kind == "stall" else 1 if kind == "cut" else 5
    for place in range(0, tokens - 1, step):
        key = AffinityKey(f"{kind}-{place}")
        replicas[0].fault(kind=kind, after_chunks=place, session=key, times=1)
        heard = await turn(house, ASKED, key=key)
        assert heard.text == undisturbed.text, f"after {place} of {tokens} tokens"
        assert (heard.end.reason, heard.replica, heard.pin) == (undisturbed.end.reason, TWO, PinDecision.MOVED)
        assert heard.continued == int(place > 0)
        if token_ids:
            assert told_usage(heard.end).completion_tokens == tokens
            assert told_usage(heard.end).prompt_tokens == told_usage(undisturbed.end).prompt_tokens
    assert house.is_idle()


@pytest.mark.parametrize("token_ids", [True, False], ids=["by token ids", "by text"])
async def test_a_limited_reply_is_as_long_as_it_would_have_been(
    replicas: Sequence[SimulatorProcess], upstream: UpstreamClient, token_ids: bool
) -> None:
    house = house_over(upstream, *replicas, token_ids=token_ids, breaker_failures=100)
    for each in replicas:
        each.script("one two three four five six seven eight nine ten")
    undisturbed = await turn(house, ASKED, max_tokens=6, asks=Asks(prefer=TWO))
    assert undisturbed.end.reason is FinishReason.LENGTH
    for place in range(6):
        key = AffinityKey(f"short-{place}")
        replicas[0].fault(kind="cut", after_chunks=place, session=key, times=1)
        heard = await turn(house, ASKED, key=key, max_tokens=6)
        assert (heard.text, heard.end.reason) == (undisturbed.text, FinishReason.LENGTH)


async def test_a_replica_that_refuses_costs_nothing(
    replicas: Sequence[SimulatorProcess], upstream: UpstreamClient
) -> None:
    house = house_over(upstream, *replicas)
    undisturbed = await turn(house, ASKED, asks=Asks(prefer=TWO), key=AffinityKey("undisturbed"))
    for status in (503, 500, 429):
        replicas[0].fault(kind="refuse", status=status, times=1)
        heard = await turn(house, ASKED, key=AffinityKey(f"refused-{status}"))
        assert (heard.text, heard.replica, heard.continued) == (undisturbed.text, TWO, 0)


async def test_a_reply_chopped_into_single_bytes_is_the_same(
    replicas: Sequence[SimulatorProcess], upstream: UpstreamClient
) -> None:
    house = house_over(upstream, *replicas)
    for each in replicas:
        each.script(SCRIPTED)
    replicas[0].fault(kind="chopped")
    replicas[0].fault(kind="cut", after_chunks=9, times=1)
    heard = await turn(house, ASKED)
    assert (heard.text, heard.continued) == (SCRIPTED, 1)


async def test_fifty_wrong_requests_harm_nobody(replicas: Sequence[SimulatorProcess], upstream: UpstreamClient) -> None:
    house = house_over(upstream, *replicas)
    for number in range(50):
        with pytest.raises(EngineRejected) as caught:
            await turn(house, ASKED, key=AffinityKey(f"wrong-{number}"), max_tokens=10_000_000)
        assert (caught.value.status, b"max_tokens" in caught.value.body) == (400, True)
    assert house.router.numbers().breakers_open == frozenset()
    assert (await turn(house, ASKED)).text
    assert house.is_idle()
