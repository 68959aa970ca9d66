"""One turn is one trace, from the caller through gateway and router down to the engine, in one process and in two."""

import asyncio
import signal
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from gateway.adapters.otel_tracing import otel_tracing
from gateway.adapters.remote.remote_router import RemoteRouter
from gateway.ports import TurnRouter
from gateway.router_tutor import RouterTutor, ServedModel
from gateway.running_turns import RunningTurns
from gateway.use_cases import UseCases, use_cases
from gateway.wiring.routing import Plan, routing
from router.adapters.router_line import RouterLine
from router.adapters.static_fleet import StaticFleet
from router.adapters.upstream.client import UpstreamClient
from router.domain.board import RouterId
from router.domain.fleet import ReplicaId, ReplicaSpec
from router.ports import Tracing
from router.settings import RouterSettings
from tests.support.open_admission import unlimited
from tests.support.otlp_collector import Collector, collector
from tests.support.router_elsewhere import OPERATOR_KEY, router_elsewhere
from tests.support.shared_turns import Neighbourhood
from tests.support.simulator_process import SimulatorProcess, simulator
from tests.support.stage import Stage, staged

CALLER = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
TRACE, CALLER_SPAN = CALLER.split("-")[1:3]
MODEL = "smollm2"
SETTINGS = {"canary_interval_s": 0, "chunk_timeout_s": 2}

Way = Callable[[list[SimulatorProcess], Collector, Tracing, Path], AbstractAsyncContextManager[TurnRouter]]


@pytest.fixture(scope="module")
def simulators() -> Iterator[list[SimulatorProcess]]:
    with simulator() as one, simulator() as two:
        yield [one, two]


@asynccontextmanager
async def here(replicas: list[SimulatorProcess], _: Collector, tracing: Tracing, __: Path) -> AsyncIterator[TurnRouter]:
    specs = [ReplicaSpec(ReplicaId(f"replica-{n}"), each.url) for n, each in enumerate(replicas)]
    settings = RouterSettings.model_validate(SETTINGS)
    plan = Plan(settings=settings, source=StaticFleet(replicas=specs), name=RouterId("one"), tracing=tracing)
    async with routing(plan) as running:
        yield running.router


@asynccontextmanager
async def over_http(
    replicas: list[SimulatorProcess], taken: Collector, _: Tracing, folder: Path
) -> AsyncIterator[TurnRouter]:
    urls = {f"replica-{n}": each.url for n, each in enumerate(replicas)}
    environment = {"OTEL_EXPORTER_OTLP_ENDPOINT": taken.url}
    with router_elsewhere(urls, SETTINGS, folder, environment=environment) as process:
        async with UpstreamClient() as client:
            settings = RouterSettings.model_validate(SETTINGS)
            line = RouterLine(client=client, url=process.url, key=OPERATOR_KEY, settings=settings)
            yield RemoteRouter(line=line, may_continue=True)
        process.send(signal.SIGTERM)  # then what it still has to say is said
        await asyncio.to_thread(process.wait)


def played_by(stage: Stage, router: TurnRouter) -> UseCases:
    tutor = RouterTutor(router=router, models=[ServedModel(MODEL, 0.0)], retry_after_s=1)
    return use_cases(replace(stage.outside, tutor=tutor))


async def play(stage: Stage, use: UseCases, tracing: Tracing) -> None:
    async with RunningTurns(
        take_turn=unlimited(use.take_turn),
        read_turn=use.read_turn,
        shared=Neighbourhood().shared("here", use.read_turn),
        grace_s=5,
        on_end=lambda _: None,
        tracing=tracing,
    ) as turns:
        reader = await turns.take(replace(stage.order(), trace_parent=CALLER))
        assert [event async for event in reader.events()]


@pytest.mark.parametrize("way", [here, over_http], ids=["here", "over_http"])
async def test_a_turn_whose_replica_is_lost_is_one_trace(
    simulators: list[SimulatorProcess], tmp_path: Path, way: Way
) -> None:
    for each in simulators:
        each.reset()
        each.fault(kind="cut", after_chunks=3, times=1)
    stage = await staged(MODEL)
    with collector() as taken:
        async with (
            otel_tracing(endpoint=taken.url, service="drillyard-gateway", instance="one") as tracing,
            way(simulators, taken, tracing, tmp_path) as router,
        ):
            await play(stage, played_by(stage, router), tracing)
        spans = list(taken.spans)
    assert {span.trace for span in spans} == {TRACE}
    (turn,) = [span for span in spans if span.name == "gateway.turn"]
    (carry,) = [span for span in spans if span.name == "router.carry"]
    attempts = [span for span in spans if span.name == "router.attempt"]
    assert (turn.parent, carry.parent) == (CALLER_SPAN, turn.id)
    assert {span.parent for span in attempts} == {carry.id}
    assert len(attempts) > 1
    request_id = f"{stage.session.id}-1"
    assert turn.facts["request_id"] == request_id
    asked = [request for each in simulators for request in each.requests() if request["request_id"] == request_id]
    # Each attempt's own span is what its engine is told as the parent.
    told = {request["headers"]["traceparent"].split("-")[2] for request in asked}
    assert told == {span.id for span in attempts}
    assert {request["headers"]["traceparent"].split("-")[1] for request in asked} == {TRACE}
    said = "".join(turn.reply for turn in await stage.turns())
    assert said
    assert not any(said[:20] in str(span.facts) for span in spans)
