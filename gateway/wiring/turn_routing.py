"""The router as a gateway uses it: in its own process, or another process behind HTTP."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from gateway.errors import FleetUnfit
from gateway.fleet_desk import LocalFleetDesk
from gateway.ports import FleetDesk, TurnRouter
from gateway.router_metrics import CountingRouter
from gateway.settings import Settings
from gateway.token_samples import token_samples
from gateway.wiring.redis import SharedRedis
from gateway.wiring.routing import Plan, routing
from router.adapters.static_fleet import StaticFleet
from router.domain.board import RouterId
from router.domain.fitness import Expectation
from router.domain.fleet import ReplicaId, ReplicaSpec
from router.ports import Tracing
from sessions.ports import TokenCounter


@dataclass(frozen=True, slots=True)
class TurnRouting:
    """`counting` is None where another process carries the turns and tells its own numbers."""

    router: TurnRouter
    desk: FleetDesk
    counting: CountingRouter | None
    stop: Callable[[], None]


@asynccontextmanager
async def turn_routing(
    settings: Settings, *, redis: SharedRedis, counter: TokenCounter, tracing: Tracing | None
) -> AsyncIterator[TurnRouting]:
    async with _here(settings, redis, counter, tracing) as routed:
        yield routed


@asynccontextmanager
async def _here(
    settings: Settings, redis: SharedRedis, counter: TokenCounter, tracing: Tracing | None
) -> AsyncIterator[TurnRouting]:
    """Raises `FleetUnfit` when every replica answers and none is the one meant."""
    plan = Plan(
        settings=settings.router,
        source=StaticFleet(replicas=[ReplicaSpec(ReplicaId(each.id), str(each.url)) for each in settings.replicas]),
        name=RouterId(settings.instance),
        redis=redis,
        expectation=Expectation(settings.model.name, settings.model.window_tokens, token_samples(counter)),
        tracing=tracing,
    )
    async with routing(plan) as running:
        if (seen := running.router.fleet()).is_unfit:
            raise FleetUnfit("; ".join(f"{replica.id} {replica.reason}" for replica in seen.replicas))
        yield TurnRouting(
            running.router,
            LocalFleetDesk(orders=running.orders, decisions=running.router.decision),
            running.router,
            running.stop,
        )
