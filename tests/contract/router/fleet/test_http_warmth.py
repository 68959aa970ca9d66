"""Warm-ups of simulated replicas in processes of their own, and of a server that answers rubbish."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack
from dataclasses import replace

import httpx
import pytest
from typing_extensions import override

from router.domain.fleet import ReplicaId, ReplicaSpec
from router.fleet.adapters.engine_chat import EngineChat
from router.fleet.adapters.http_warmth import HttpWarmth
from router.fleet.adapters.memory_canaries import MemoryCanaries
from router.fleet.adapters.warm_up import WarmthTimes
from router.fleet.domain.canary import Hearing
from router.fleet.domain.demand import PoolName
from router.fleet.domain.replica_record import Milestone
from router.fleet.domain.warmth import Prefix, Unfit, Warm, Warming, WarmLook
from router.fleet.errors import LedgerUnavailable
from tests.support.engine_process import free_port
from tests.support.eventually import comes_true, eventually
from tests.support.simulator_process import SimulatorProcess, simulator
from tests.support.stub_engine import StubEngine, stub_engine

TIMES = WarmthTimes(page_s=1.0, canary_s=5.0, prefix_s=2.0, again_s=0.02, alive_every_s=0.02, alive_s=0.5)
PATIENCE_S = 20.0
PREFIX = Prefix(
    "3f0c",
    [{"role": "system", "content": "You are a caller. " * 40}, {"role": "assistant", "content": "Hello?"}],
    cache_salt="tenant",
)


@pytest.fixture(scope="module")
def started() -> Iterator[SimulatorProcess]:
    with simulator("--enable-prompt-tokens-details", "--block-size", "16") as process:
        yield process


@pytest.fixture
def engine(started: SimulatorProcess) -> SimulatorProcess:
    started.reset()
    started.clear_faults()
    return started


@pytest.fixture
async def house() -> AsyncIterator[Callable[[], HttpWarmth]]:
    """What makes one; all of one test have heard the same canaries."""
    canaries = MemoryCanaries()
    async with AsyncExitStack() as held:
        client = await held.enter_async_context(httpx.AsyncClient(trust_env=False))
        yield lambda: HttpWarmth(chat=EngineChat(client=client), canaries=canaries, times=TIMES)


@pytest.fixture
async def warmth(house: Callable[[], HttpWarmth]) -> AsyncIterator[HttpWarmth]:
    async with house() as made:
        yield made


def spec(url: str, name: str = "A", model: str = "smollm2") -> ReplicaSpec:
    return ReplicaSpec(ReplicaId(name), url, frozenset({model}))


async def until(holds: Callable[[WarmLook], bool], warmth: HttpWarmth, replica: ReplicaSpec, *prefixes: Prefix) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not holds(look := await warmth.look(replica, prefixes)):
        assert time.monotonic() < deadline, look
        await asyncio.sleep(0.01)


async def end_of(warmth: HttpWarmth, replica: ReplicaSpec, *prefixes: Prefix) -> WarmLook:
    await until(lambda look: not isinstance(look, Warming), warmth, replica, *prefixes)
    return await warmth.look(replica, prefixes)


async def until_answers(warmth: HttpWarmth, replica: ReplicaSpec, *, is_so: bool) -> None:
    async def so() -> bool:
        return await warmth.still_answers(replica) is is_so

    await comes_true(so)


async def test_a_replica_is_warm_with_its_prefixes_computed(engine: SimulatorProcess, warmth: HttpWarmth) -> None:
    replica = spec(engine.url)
    assert await warmth.look(replica, [PREFIX]) == Warming()
    look = await end_of(warmth, replica, PREFIX)
    assert isinstance(look, Warm)
    report = look.report
    assert (len(report.canary), report.prefixes) == (64, 1)
    assert report.first_token_cold_ms > report.first_token_warm_ms > 0
    assert report.took_s > 0
    assert len(engine.requests()) == 3
    assert await warmth.look(replica, [PREFIX]) is look


async def test_a_turn_with_the_same_beginning_and_salt_finds_it_cached(
    engine: SimulatorProcess, warmth: HttpWarmth
) -> None:
    await end_of(warmth, spec(engine.url), PREFIX)
    body = {"model": "smollm2", "messages": [*PREFIX.messages, {"role": "user", "content": "Good day."}]}
    cached = [
        engine.client.post("/v1/chat/completions", json={**body, "max_tokens": 1, **salt}).json()["usage"]
        for salt in ({"cache_salt": "another tenant"}, {"cache_salt": "tenant"})
    ]
    assert [usage["prompt_tokens_details"]["cached_tokens"] > 100 for usage in cached] == [False, True]


async def test_without_a_class_ahead_the_canary_is_what_is_timed(engine: SimulatorProcess, warmth: HttpWarmth) -> None:
    look = await end_of(warmth, spec(engine.url))
    assert isinstance(look, Warm)
    assert look.report.prefixes == 0
    assert look.report.first_token_warm_ms > 0


async def test_a_replica_that_still_loads_is_waited_for(house: Callable[[], HttpWarmth]) -> None:
    process = SimulatorProcess("--load-s", "5", "--speed-up", "10")
    replica = spec(process.url)
    try:
        async with house() as warmth:
            await until(lambda look: look == Warming(None, "cannot be reached (ConnectError)"), warmth, replica)
            assert isinstance(await end_of(warmth, replica), Warm)
    finally:
        process.close()


async def test_another_model_is_unfit(engine: SimulatorProcess, warmth: HttpWarmth) -> None:
    look = await end_of(warmth, spec(engine.url, model="qwen"))
    assert look == Unfit("lists smollm2, not qwen")


async def test_one_that_answers_otherwise_than_its_pool_is_unfit_until_another_agrees_with_it(
    engine: SimulatorProcess, warmth: HttpWarmth
) -> None:
    assert isinstance(await end_of(warmth, spec(engine.url, "A")), Warm)
    assert isinstance(await end_of(warmth, spec(engine.url, "B")), Warm)
    engine.script("Something else.")
    assert await end_of(warmth, spec(engine.url, "C")) == Unfit("its canary answer is not the pool's")
    assert isinstance(await end_of(warmth, spec(engine.url, "D")), Warm)
    engine.script("Something else again.")
    assert isinstance(await end_of(warmth, spec(engine.url, "E")), Unfit)


@pytest.mark.parametrize(
    ("fault", "detail"),
    [
        ({"kind": "refuse", "status": 500}, "answers HTTP 500"),
        ({"kind": "refuse", "status": 503}, "answers HTTP 503"),
        ({"kind": "cut", "after_chunks": 2}, "cannot be reached"),
        ({"kind": "error", "after_chunks": 2}, "answers a chat with an error"),
        ({"kind": "no_finish", "after_chunks": 2}, "ends its answer in the middle"),
        ({"kind": "abort", "after_chunks": 2}, "ends its answer in the middle"),
        ({"kind": "broken_utf8", "after_chunks": 2}, "answers a chat with what is no JSON"),
        ({"kind": "unhealthy", "status": 503}, "answers HTTP 503 to /health"),
        ({"kind": "partition"}, "has not answered"),
    ],
    ids=lambda value: value["kind"] if isinstance(value, dict) else "",
)
async def test_what_breaks_for_a_while_is_tried_again(
    engine: SimulatorProcess, warmth: HttpWarmth, fault: dict[str, object], detail: str
) -> None:
    engine.fault(**fault)
    replica = spec(engine.url)
    await until(lambda look: isinstance(look, Warming) and detail in look.detail, warmth, replica)
    engine.clear_faults()
    assert isinstance(await end_of(warmth, replica), Warm)


async def test_an_answer_that_comes_in_crumbs_is_the_same_answer(engine: SimulatorProcess, warmth: HttpWarmth) -> None:
    whole = await end_of(warmth, spec(engine.url, "A"))
    engine.fault(kind="chopped", bytes_per_write=3)
    crumbs = await end_of(warmth, spec(engine.url, "B"))
    assert isinstance(whole, Warm)
    assert isinstance(crumbs, Warm)
    assert whole.report.canary == crumbs.report.canary


async def test_a_frozen_process_answers_no_more_and_then_again(engine: SimulatorProcess, warmth: HttpWarmth) -> None:
    replica = spec(engine.url)
    assert await warmth.still_answers(replica) is None
    await until_answers(warmth, replica, is_so=True)
    engine.freeze()
    try:
        await until_answers(warmth, replica, is_so=False)
    finally:
        engine.thaw()
    await until_answers(warmth, replica, is_so=True)


async def test_an_engine_that_stands_still_behind_a_healthy_page_is_noticed(
    engine: SimulatorProcess, warmth: HttpWarmth
) -> None:
    replica = spec(engine.url)
    await until_answers(warmth, replica, is_so=True)
    engine.fault(kind="freeze")
    await until_answers(warmth, replica, is_so=False)


async def test_what_is_forgotten_is_asked_no_more(engine: SimulatorProcess, warmth: HttpWarmth) -> None:
    replica = spec(engine.url)
    await until_answers(warmth, replica, is_so=True)
    await warmth.forget(replica.id)
    await warmth.forget(replica.id)
    asked = len(engine.requests())
    await asyncio.sleep(3 * TIMES.alive_every_s)
    assert len(engine.requests()) <= asked + 1
    assert await warmth.still_answers(replica) is None


async def test_what_nobody_asks_about_any_more_is_asked_no_more_either(engine: SimulatorProcess) -> None:
    gone, serving = spec(f"http://127.0.0.1:{free_port()}", "gone"), spec(engine.url, "serving")
    async with (
        httpx.AsyncClient(trust_env=False) as client,
        HttpWarmth(
            chat=EngineChat(client=client), canaries=MemoryCanaries(), times=replace(TIMES, forgotten_s=0.2)
        ) as warmth,
    ):
        await warmth.look(gone, [])
        await warmth.still_answers(serving)
        await eventually(lambda: not warmth._jobs and not warmth._watches)
        await until_answers(warmth, serving, is_so=True)


async def test_a_canary_is_never_answered_out_of_the_cache(engine: SimulatorProcess, warmth: HttpWarmth) -> None:
    for name in ("A", "B"):
        await end_of(warmth, spec(engine.url, name))
    asked = [each["cached_tokens"] for each in engine.requests()]
    assert (asked[0], asked[2]) == (0, 0)
    assert asked[1] == asked[3]


async def test_a_replica_that_came_back_elsewhere_is_warmed_anew(engine: SimulatorProcess, warmth: HttpWarmth) -> None:
    gone = spec(f"http://127.0.0.1:{free_port()}")
    await until(lambda look: isinstance(look, Warming) and bool(look.detail), warmth, gone)
    assert isinstance(await end_of(warmth, spec(engine.url)), Warm)


def streamed(*events: object) -> bytes:
    return b"".join(b"data: %s\n\n" % json.dumps(event).encode() for event in events) + b"data: [DONE]\n\n"


SAID = streamed(
    {"choices": [{"delta": {"role": "assistant", "content": ""}}]},
    {"choices": [{"delta": {"content": "Hi"}, "finish_reason": "length"}]},
    {"choices": [], "usage": {"prompt_tokens": 5}},
)


@pytest.fixture
async def stub() -> AsyncIterator[StubEngine]:
    async with stub_engine() as made:
        made.answers["/v1/chat/completions"] = (200, SAID)
        yield made


@pytest.mark.parametrize(
    ("path", "answer", "detail"),
    [
        ("/v1/models", b"<html>Welcome</html>", "answers /v1/models with what is no JSON"),
        ("/v1/models", {"data": [{"id": 7}, "m"]}, "lists no model"),
        ("/v1/models", ["m"], "lists no model"),
        ("/v1/models", b"[" * 100_000, "answers /v1/models with what is no JSON"),
        ("/v1/chat/completions", b"<html>Welcome</html>", "ends its answer in the middle"),
        ("/v1/chat/completions", streamed("Hi", {"choices": "Hi"}), "answers a chat with an error"),
        ("/v1/chat/completions", streamed({"choices": [{"delta": 3, "finish_reason": 4}]}), "ends its answer"),
        ("/v1/chat/completions", b" " * (5 << 20), "answers without end"),
    ],
)
async def test_rubbish_keeps_a_replica_where_it_is(
    stub: StubEngine, warmth: HttpWarmth, path: str, answer: object, detail: str
) -> None:
    sound = stub.answers[path]
    stub.answers[path] = (200, answer)
    replica = spec(stub.url, model="m")
    await until(lambda look: isinstance(look, Warming) and detail in look.detail, warmth, replica)
    assert (await warmth.look(replica, [])).reached is Milestone.HEALTHY  # type: ignore[union-attr]
    stub.answers[path] = sound
    assert isinstance(await end_of(warmth, replica), Warm)


async def test_a_model_that_takes_no_chats_is_unfit(stub: StubEngine, warmth: HttpWarmth) -> None:
    stub.answers["/v1/chat/completions"] = (400, {"error": {"message": "no chat template"}})
    look = await end_of(warmth, spec(stub.url, model="m"))
    assert look == Unfit("refuses its canary with HTTP 400: no chat template")


async def test_an_engine_that_tells_no_version_and_keeps_no_cache_is_warm_all_the_same(
    stub: StubEngine, warmth: HttpWarmth
) -> None:
    del stub.answers["/version"]
    look = await end_of(warmth, spec(stub.url, model="m"), PREFIX)
    assert isinstance(look, Warm)
    assert look.report.prefixes == 1


async def test_a_prefix_is_asked_for_as_its_turns_are(stub: StubEngine, warmth: HttpWarmth) -> None:
    asked = replace(PREFIX, template_arguments={"enable_thinking": "no"})
    await end_of(warmth, spec(stub.url, model="m"), asked)
    bodies = [json.loads(each.body) for each in stub.asked if each.path == "/v1/chat/completions"]
    assert len(bodies) == 3
    for body in bodies[1:]:
        assert body["messages"] == list(PREFIX.messages)
        assert (body["cache_salt"], body["chat_template_kwargs"]) == ("tenant", {"enable_thinking": "no"})
        assert (body["model"], body["max_tokens"]) == ("m", 1)


async def test_a_prefix_that_fails_again_and_again_holds_nothing_up(
    engine: SimulatorProcess, warmth: HttpWarmth
) -> None:
    engine.fault(kind="refuse", status=500, last=PREFIX.messages[-1]["content"])
    other = Prefix("77aa", [{"role": "system", "content": "You are a clerk. " * 40}])
    look = await end_of(warmth, spec(engine.url), PREFIX, other)
    assert isinstance(look, Warm)
    assert look.report.prefixes == 1


async def test_a_prefix_that_is_refused_is_gone_without(engine: SimulatorProcess, warmth: HttpWarmth) -> None:
    long = Prefix("long", [{"role": "system", "content": "a caller " * 20_000}])
    look = await end_of(warmth, spec(engine.url), long, PREFIX)
    assert isinstance(look, Warm)
    assert look.report.prefixes == 1


async def test_one_that_is_full_of_others_turns_generates(stub: StubEngine, warmth: HttpWarmth) -> None:
    replica = spec(stub.url, model="m")
    stub.answers["/v1/chat/completions"] = (503, {"error": {"message": "full"}})
    stub.answers["/metrics"] = (200, b"")
    read = asyncio.get_running_loop().time()
    assert await warmth.still_answers(replica) is None
    await eventually(lambda: len(stub.asked) >= 4)
    assert await warmth.still_answers(replica) is None, "nothing can be told"
    while await warmth.still_answers(replica) is not True:
        seen = sum(path == "/metrics" for path in stub.paths)
        stub.answers["/metrics"] = (200, b"vllm:generation_tokens_total %d.0\n" % (100 + seen))
        assert asyncio.get_running_loop().time() < read + 5
        await asyncio.sleep(0.001)


class _Away(MemoryCanaries):
    """A store that is away for the first three times."""

    calls = 0

    @override
    async def hear(self, pool: PoolName, fingerprint: str, answer: str, replica: ReplicaId) -> Hearing:
        self.calls += 1
        if self.calls < 4:
            raise LedgerUnavailable("the database cannot be asked")
        return await super().hear(pool, fingerprint, answer, replica)


async def test_without_the_ledger_a_canary_is_judged_later(stub: StubEngine) -> None:
    canaries = _Away()
    async with (
        httpx.AsyncClient(trust_env=False) as client,
        HttpWarmth(chat=EngineChat(client=client, api_key="k"), canaries=canaries, times=TIMES) as warmth,
    ):
        assert isinstance(await end_of(warmth, spec(stub.url, model="m")), Warm)
    assert canaries.calls == 4
    assert {each.headers["authorization"] for each in stub.asked} == {"Bearer k"}


async def test_leaving_ends_what_goes_on(stub: StubEngine, house: Callable[[], HttpWarmth]) -> None:
    stub.silent.add("/v1/chat/completions")
    async with house() as warmth:
        for name in ("A", "B"):
            await warmth.look(spec(stub.url, name, "m"), [])
            await warmth.still_answers(spec(stub.url, name, "m"))
        await eventually(lambda: stub.paths.count("/v1/chat/completions") == 4)
