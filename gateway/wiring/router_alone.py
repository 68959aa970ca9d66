"""A process that is nothing but a router: the application that `drillyard router` serves."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING

from gateway.router_metrics import router_metrics_text
from gateway.router_settings import RouterProcessSettings, shown
from gateway.wiring.background import background
from gateway.wiring.fleet_sources import fleet_source
from gateway.wiring.redis import SharedRedis, shared_redis
from gateway.wiring.routing import Plan, Routing, routing
from gateway.wiring.tracing import tracing
from router.domain.board import RouterId
from router.http.access import Access
from router.http.app import RouterApp
from router.http.generating import Generating
from router.http.model_routes import ModelRoutes
from router.http.process_routes import Process, ProcessRoutes
from router.http.replica_routes import ReplicaRoutes
from router.http.session_routes import SessionRoutes

if TYPE_CHECKING:
    from gateway.adapters.otel_tracing import SpanCounts


@asynccontextmanager
async def router_alone(settings: RouterProcessSettings, *, stopping: asyncio.Event) -> AsyncIterator[RouterApp]:
    """Once `stopping` is set it says that it is not ready, and serves on.

    Raises `FleetSourceUnavailable` where there is no way to ask for the replicas at all.
    """
    async with AsyncExitStack() as stack:
        source = await stack.enter_async_context(fleet_source(settings))
        redis = await stack.enter_async_context(_redis(settings))
        spans = await stack.enter_async_context(tracing(settings.otlp_endpoint, "router", settings.instance))
        plan = Plan(
            settings=settings.router,
            source=source,
            name=RouterId(settings.instance),
            redis=redis,
            engine_key=settings.engine_key.get_secret_value(),
            has_pin_cache=settings.pin_cache,
            tracing=spans,
        )
        running = await stack.enter_async_context(routing(plan))
        await stack.enter_async_context(background(_rest_when(stopping, running)))
        yield _app(settings, running, stopping, None if spans is None else spans.counts)


def _app(
    settings: RouterProcessSettings, running: Routing, stopping: asyncio.Event, spans: "SpanCounts | None"
) -> RouterApp:
    router, limit = running.router, settings.body_limit_bytes
    process = Process(
        version=_version(),
        instance=settings.instance,
        unready=lambda: _unready(running, stopping),
        metrics=lambda: router_metrics_text(
            router,
            gauges=running.gauges(),
            counters={**running.counters(), **({} if spans is None else spans.figures())},
        ),
        config=lambda: shown(settings),
    )
    return RouterApp(
        generating=Generating(router=router, body_limit=limit),
        routes=(
            *ModelRoutes(fleet=router.fleet, since=int(time.time())).routes(),
            *SessionRoutes(router).routes(),
            *ReplicaRoutes(running.orders).routes(),
            *ProcessRoutes(process).routes(),
        ),
        access=Access.of(
            clients=[key.get_secret_value() for key in settings.api_keys],
            operators=[key.get_secret_value() for key in settings.operator_keys],
        ),
        body_limit=limit,
    )


def _unready(running: Routing, stopping: asyncio.Event) -> str | None:
    if stopping.is_set():
        return "this process is shutting down"
    fleet = running.router.fleet()
    if fleet.ready:
        return None
    return "; ".join(f"{each.id} is {each.health}: {each.reason}" for each in fleet.replicas) or "there is no replica"


async def _rest_when(stopping: asyncio.Event, running: Routing) -> None:
    await stopping.wait()
    running.stop()


@asynccontextmanager
async def _redis(settings: RouterProcessSettings) -> AsyncIterator[SharedRedis | None]:
    if settings.redis_url is None:
        yield None
        return
    async with shared_redis(str(settings.redis_url)) as redis:
        yield redis


def _version() -> str:
    try:
        return version("drillyard")
    except PackageNotFoundError:
        return "0"
