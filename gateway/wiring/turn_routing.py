"""The router as a gateway uses it: in its own process, or another process behind HTTP."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from gateway.adapters.remote.remote_desk import RemoteFleetDesk
from gateway.adapters.remote.remote_router import RemoteRouter
from gateway.fleet_desk import LocalFleetDesk
from gateway.metrics import Figures, no_figures
from gateway.openai_ports import CallCarrier
from gateway.ports import FleetDesk, TurnRouter
from gateway.router_metrics import CountingRouter
from gateway.settings import ModelSettings, Settings
from gateway.token_samples import token_samples
from gateway.wiring.background import background
from gateway.wiring.models import Counters
from gateway.wiring.redis import SharedRedis
from gateway.wiring.routing import Plan, routing
from router.adapters.router_line import RouterLine
from router.adapters.static_fleet import StaticFleet
from router.adapters.upstream.client import UpstreamClient
from router.domain.board import RouterId
from router.domain.fitness import Expectation
from router.domain.fleet import ReplicaId, ReplicaSpec
from router.ports import Tracing
from router.settings import EngineKind
from sessions.adapters.tokenizer import ModelTokenizer


@dataclass(frozen=True, slots=True)
class TurnRouting:
    """Where another process carries the turns it tells its own numbers: then `counting` is None, with no figures."""

    router: TurnRouter
    carrier: CallCarrier
    desk: FleetDesk
    counting: CountingRouter | None = None
    gauges: Figures = no_figures
    counters: Figures = no_figures
    stop: Callable[[], None] = lambda: None


@asynccontextmanager
async def turn_routing(
    settings: Settings, *, redis: SharedRedis, counters: Counters, tracing: Tracing | None
) -> AsyncIterator[TurnRouting]:
    """Raises `FleetUnfit`."""
    here = settings.router_url is None
    way = _here(settings, redis, counters, tracing) if here else _elsewhere(settings, str(settings.router_url))
    async with way as routed:
        yield routed


@asynccontextmanager
async def _here(
    settings: Settings, redis: SharedRedis, counters: Counters, tracing: Tracing | None
) -> AsyncIterator[TurnRouting]:
    plan = Plan(
        settings=settings.router,
        source=StaticFleet(replicas=[ReplicaSpec(ReplicaId(each.id), str(each.url)) for each in settings.replicas]),
        name=RouterId(settings.instance),
        redis=redis,
        expectations=tuple(_expectation(model, counters[model.name]) for model in settings.all_models),
        tracing=tracing,
    )
    async with routing(plan) as running:
        yield TurnRouting(
            router=running.router,
            carrier=running.router,
            desk=LocalFleetDesk(orders=running.orders, decisions=running.router.decision),
            counting=running.router,
            gauges=running.gauges,
            counters=running.counters,
            stop=running.stop,
        )


def _expectation(model: ModelSettings, counter: ModelTokenizer) -> Expectation:
    arguments = tuple(counter.template_arguments.items())
    return Expectation(model.name, model.window_tokens, token_samples(counter), arguments)


@asynccontextmanager
async def _elsewhere(settings: Settings, url: str) -> AsyncIterator[TurnRouting]:
    """A router that cannot be asked yet is no reason not to start: readiness says so."""
    key = "" if settings.router_key is None else settings.router_key.get_secret_value()
    is_vllm = settings.router.engine is EngineKind.VLLM
    async with UpstreamClient() as client:
        line = RouterLine(client=client, url=url, key=key, settings=settings.router)
        remote = RemoteRouter(line=line, may_continue=settings.router.may_continue and is_vllm, must_tell_usage=is_vllm)
        await remote.look()
        async with background(remote.run()):
            yield TurnRouting(remote, remote, RemoteFleetDesk(line=line))
