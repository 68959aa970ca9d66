"""What a fleet's upkeep makes of real servers, how quickly, and what a broken one looks like from outside."""

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager

import httpx
import pytest

from router.adapters.static_fleet import StaticFleet
from router.adapters.vllm_probe import VllmProbe
from router.domain.engine_metrics import EngineMetrics
from router.domain.exchange import Message
from router.domain.fitness import NO_PROMPT_DETAILS, Expectation, TokenSample
from router.domain.fleet import Health, Replica, ReplicaId, ReplicaSpec
from router.fleet_state import FleetState
from router.fleet_upkeep import FleetUpkeep
from router.replica_watch import Ties
from router.settings import RouterSettings
from tests.support.engine_process import EngineProcess, free_port, scripted_engine
from tests.support.eventually import eventually
from tests.support.simulator_process import SimulatorProcess, chat, simulator

A, B = ReplicaId("a"), ReplicaId("b")
SAMPLE = TokenSample((Message("system", "Be brief."), Message("user", "你好")), 12)
WANTED = Expectation(model="smollm2", window_tokens=4096, samples=(SAMPLE,))
CANARY_INTERVAL_S, CANARY_TIMEOUT_S, PROBE_TIMEOUT_S = 0.3, 0.8, 0.8
BUSY_MACHINE_S = 3.0
"""What a bound leaves to a machine that has other things to do."""


class Watched:
    """A fleet and its upkeep."""

    def __init__(self, http: httpx.AsyncClient, *urls: str, expectations: Sequence[Expectation] = (WANTED,)) -> None:
        self.state = FleetState()
        self.metrics: dict[ReplicaId, EngineMetrics] = {}
        settings = RouterSettings(
            probe_interval_s=0.05,
            probe_timeout_s=PROBE_TIMEOUT_S,
            canary_interval_s=CANARY_INTERVAL_S,
            canary_timeout_s=CANARY_TIMEOUT_S,
        )
        self.upkeep = FleetUpkeep(
            source=StaticFleet(
                replicas=[ReplicaSpec(name, url) for name, url in zip([A, B][: len(urls)], urls, strict=True)]
            ),
            state=self.state,
            probe=VllmProbe(client=http, expectations=expectations, settings=settings),
            settings=settings,
            ties=Ties(saw_metrics=self.metrics.__setitem__),
        )

    def replica(self, name: ReplicaId = A) -> Replica:
        found = self.state.current().get(name)
        assert found is not None
        return found

    def health(self, name: ReplicaId = A) -> Health:
        found = self.state.current().get(name)
        return Health.UNKNOWN if found is None else found.health

    async def until(self, health: Health, name: ReplicaId = A, *, within_s: float = 8.0) -> float:
        """How long it took."""
        began = time.monotonic()
        await eventually(lambda: self.health(name) is health, within_s=within_s)
        return time.monotonic() - began

    @asynccontextmanager
    async def running(self) -> AsyncIterator["Watched"]:
        async with asyncio.TaskGroup() as group:
            task = group.create_task(self.upkeep.run())
            yield self
            task.cancel()


@pytest.fixture(scope="module")
def lasting_replica() -> Iterator[SimulatorProcess]:
    with simulator(dev_mode=True) as replica:
        yield replica


@pytest.fixture
def replica(lasting_replica: SimulatorProcess) -> Iterator[SimulatorProcess]:
    """A simulated vLLM in development mode, awake and without faults afterwards."""
    yield lasting_replica
    lasting_replica.client.post("/resume")
    lasting_replica.client.post("/wake_up")
    lasting_replica.clear_faults()
    lasting_replica.reset()


async def test_after_the_first_round_a_fit_replica_is_ready(engine: EngineProcess, http: httpx.AsyncClient) -> None:
    watched = Watched(http, engine.url)
    await watched.upkeep.first_round()
    assert (watched.health(), watched.replica().reason) == (Health.READY, "")
    assert watched.replica().models == {"smollm2"}
    assert watched.state.canary_ms[A] > 0


async def test_nobody_there_is_down_with_a_reason(http: httpx.AsyncClient) -> None:
    watched = Watched(http, f"http://127.0.0.1:{free_port()}")
    await watched.upkeep.first_round()
    assert watched.health() is Health.DOWN
    assert watched.replica().reason.startswith("cannot be reached (ConnectError")


@pytest.mark.parametrize(
    ("expectation", "reason"),
    [
        (Expectation("qwen", 4096, ()), "serves smollm2 instead of qwen"),
        (Expectation("smollm2", 8192, ()), "has a window of 4096 tokens; 8192 are needed"),
        (
            Expectation("smollm2", 4096, (SAMPLE, TokenSample(SAMPLE.messages, 13))),
            "counts 12 tokens in a sample that has 13",
        ),
    ],
)
async def test_an_unfit_replica_is_refused_in_plain_words(
    engine: EngineProcess, http: httpx.AsyncClient, expectation: Expectation, reason: str
) -> None:
    watched = Watched(http, engine.url, expectations=(expectation,))
    await watched.upkeep.first_round()
    assert watched.health() is Health.REFUSED
    assert watched.replica().reason.startswith(reason)


async def test_an_engine_that_says_it_is_ill_is_down(engine: EngineProcess, http: httpx.AsyncClient) -> None:
    engine.script(health_status=503)
    watched = Watched(http, engine.url)
    await watched.upkeep.first_round()
    assert (watched.health(), watched.replica().reason) == (Health.DOWN, "answers HTTP 503 to /health")


async def test_a_slow_replica_does_not_delay_the_others(engine: EngineProcess, http: httpx.AsyncClient) -> None:
    with scripted_engine() as slow:
        slow.script(health_delay_s=60.0)
        async with Watched(http, slow.url, engine.url).running() as watched:
            await watched.until(Health.READY, B)
            await watched.until(Health.DOWN, A)


async def test_a_replica_that_died_and_came_back_as_another_is_refused(http: httpx.AsyncClient) -> None:
    with scripted_engine() as mortal:
        async with Watched(http, mortal.url).running() as watched:
            await watched.until(Health.READY)
            mortal.kill()
            await watched.until(Health.DOWN)
            other = EngineProcess(port=mortal.port, arguments=("--model", "qwen"))
            try:
                await asyncio.to_thread(other.start)
                await watched.until(Health.REFUSED)
                other.kill()
                await watched.until(Health.DOWN)
            finally:
                other.close()


async def test_a_frozen_replica_is_down_and_ready_again_when_it_thaws(http: httpx.AsyncClient) -> None:
    with scripted_engine() as frozen:
        async with Watched(http, frozen.url).running() as watched:
            await watched.until(Health.READY)
            frozen.freeze()
            # Two probe time-outs, the second without a pause between.
            assert await watched.until(Health.DOWN) < 0.05 + 2 * PROBE_TIMEOUT_S + BUSY_MACHINE_S
            frozen.thaw()
            await watched.until(Health.READY)


async def test_a_simulated_vllm_tells_its_capacity_its_load_and_what_it_lacks(http: httpx.AsyncClient) -> None:
    with simulator("--no-enable-prompt-tokens-details") as terse:
        watched = Watched(http, terse.url, expectations=())
        await watched.upkeep.first_round()
        seen = watched.replica()
        assert (seen.health, seen.warnings) == (Health.READY, (NO_PROMPT_DETAILS,))
        assert seen.kv_capacity_tokens
        assert (watched.metrics[A].running, watched.metrics[A].waiting) == (0, 0)


@pytest.mark.parametrize(
    ("off", "on"),
    [("/pause?mode=abort", "/resume"), ("/pause?mode=keep", "/resume"), ("/sleep?level=1", "/wake_up")],
)
async def test_an_engine_that_stands_still_behind_a_healthy_server_is_found_by_its_canary(
    replica: SimulatorProcess, http: httpx.AsyncClient, off: str, on: str
) -> None:
    async with Watched(http, replica.url, expectations=()).running() as watched:
        await watched.until(Health.READY)
        await asyncio.to_thread(replica.client.post, off)
        assert (await http.get(f"{replica.url}/health")).is_success
        took_s = await watched.until(Health.DOWN)
        assert took_s < CANARY_INTERVAL_S + 2 * CANARY_TIMEOUT_S + BUSY_MACHINE_S
        assert watched.replica().reason == f"no token for its canary within {CANARY_TIMEOUT_S} s"
        await asyncio.to_thread(replica.client.post, on)
        await watched.until(Health.READY)


async def test_a_replica_that_is_asleep_when_it_joins_does_not_become_ready(
    replica: SimulatorProcess, http: httpx.AsyncClient
) -> None:
    await asyncio.to_thread(replica.client.post, "/sleep?level=1")
    watched = Watched(http, replica.url, expectations=())
    await watched.upkeep.first_round()
    assert watched.health() is Health.DOWN


async def test_an_engine_whose_queue_is_long_is_not_taken_for_a_frozen_one(http: httpx.AsyncClient) -> None:
    """Its canary waits behind other people's work for longer than it may, over and over."""
    with simulator("--max-num-seqs", "1", "--speed-up", "1") as busy:
        crowd = [threading.Thread(target=_long_turn, args=(busy, number)) for number in range(3)]
        async with Watched(http, busy.url, expectations=()).running() as watched:
            await watched.until(Health.READY)
            for each in crowd:
                each.start()
            await eventually(lambda: (watched.metrics[A].waiting or 0) >= 1)
            lost = False
            while any(each.is_alive() for each in crowd):
                lost = lost or watched.health() is not Health.READY
                await asyncio.sleep(0.02)
        assert not lost


async def test_a_replica_that_drains_itself_behind_a_healthy_port_takes_nobody_new(http: httpx.AsyncClient) -> None:
    """With a shutdown time-out vLLM refuses new requests, answers 200 to /health, and finishes what runs."""
    with simulator("--shutdown-timeout", "30", "--speed-up", "1") as ending:
        async with Watched(http, ending.url, expectations=()).running() as watched:
            await watched.until(Health.READY)
            last = threading.Thread(target=_long_turn, args=(ending, 0))
            last.start()
            await eventually(lambda: (watched.metrics[A].running or 0) >= 1)
            ending.terminate()
            await watched.until(Health.DOWN)
            assert "HTTP 500" in watched.replica().reason
            await asyncio.to_thread(last.join)


def _long_turn(replica: SimulatorProcess, number: int) -> None:
    with httpx.Client(base_url=replica.url, timeout=60.0, trust_env=False) as client:
        body = chat(f"Number {number}", max_tokens=50, min_tokens=50, ignore_eos=True)
        client.post("/v1/chat/completions", json=body)
