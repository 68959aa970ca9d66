"""Everything a serving process holds."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from redis.asyncio import Redis
from sqlalchemy.ext.asyncio import AsyncEngine

from gateway.adapters.cached_keys import CachedKeys
from gateway.adapters.postgres_accounts import PostgresAccounts
from gateway.metrics import Figures, Metrics, no_figures
from gateway.ports import TurnRouter
from gateway.readiness import ReadinessCheck
from gateway.router_tutor import RouterTutor
from gateway.running_turns import RunningTurns
from gateway.services import Services
from gateway.settings import Settings
from gateway.use_cases import UseCases, use_cases
from gateway.wiring.authoring import prompt_writer
from gateway.wiring.background import background
from gateway.wiring.clock import SystemClock
from gateway.wiring.postgres import database, postgres_probe
from gateway.wiring.redis import redis_probe, shared_redis
from gateway.wiring.tracing import tracing
from gateway.wiring.turn_routing import TurnRouting, turn_routing
from router.ports import Tracing
from sessions.adapters.forgiving_turn_lock import ForgivingTurnLock
from sessions.adapters.postgres.records import PostgresRecords
from sessions.adapters.redis_turn_lock import RedisTurnLock
from sessions.adapters.tokenizer import ModelTokenizer
from sessions.ports import TokenCounter, TurnLock


@asynccontextmanager
async def services(settings: Settings, *, stopping: asyncio.Event) -> AsyncIterator[Services]:
    """Once `stopping` is set it takes no new turns.

    Raises `TokenizerUnusable` or `FleetUnfit` when the model and its replicas cannot be used together.
    """
    metrics = Metrics()
    counter = ModelTokenizer(folder=settings.model.folder)
    async with AsyncExitStack() as stack:
        engine = await stack.enter_async_context(database(str(settings.database_url)))
        redis = await stack.enter_async_context(shared_redis(str(settings.redis_url)))
        spans = await stack.enter_async_context(tracing(settings.otlp_endpoint, "gateway", settings.instance))
        routed = await stack.enter_async_context(turn_routing(settings, redis=redis, counter=counter, tracing=spans))
        lock = ForgivingTurnLock(RedisTurnLock(client=redis.client, lease_s=settings.sessions.lease_s))
        use = _use_cases(settings, engine, lock, routed.router, counter)
        turns = await stack.enter_async_context(_running_turns(settings, use, metrics, spans))
        await stack.enter_async_context(background(_stop_when(stopping, turns, routed)))
        _watch(metrics, turns, lock, routed, no_figures if spans is None else spans.counts.figures)
        yield _services(settings, (use, turns, metrics), (engine, redis.client), routed, stopping)


def _services(
    settings: Settings,
    own: tuple[UseCases, RunningTurns, Metrics],
    stores: tuple[AsyncEngine, Redis],
    routed: TurnRouting,
    stopping: asyncio.Event,
) -> Services:
    clock, (use, turns, metrics), (engine, redis) = SystemClock(), own, stores
    return Services(
        use=use,
        turns=turns,
        keys=CachedKeys(keys=PostgresAccounts(engine=engine), ttl_s=settings.key_cache_s, clock=clock.ticks),
        settings=settings,
        clock=clock.now,
        readiness=ReadinessCheck(
            postgres=postgres_probe(engine), redis=redis_probe(redis), fleet=routed.router.fleet, stopping=stopping
        ),
        metrics=metrics,
        fleet=routed.desk,
    )


def _use_cases(
    settings: Settings, engine: AsyncEngine, lock: TurnLock, router: TurnRouter, counter: TokenCounter
) -> UseCases:
    return use_cases(
        records=PostgresRecords(engine=engine),
        lock=lock,
        tutor=RouterTutor(
            router=router,
            model=settings.model.name,
            temperature=settings.model.temperature,
            retry_after_s=settings.router.retry_after_s,
        ),
        writer=prompt_writer(settings, counter),
        clock=SystemClock(),
    )


def _running_turns(settings: Settings, use: UseCases, metrics: Metrics, spans: Tracing | None) -> RunningTurns:
    return RunningTurns(
        take_turn=use.take_turn,
        read_session=use.read_session,
        read_turn=use.read_turn,
        grace_s=settings.shutdown_grace_s,
        on_end=metrics.saw_turn,
        tracing=spans,
    )


def _watch(metrics: Metrics, turns: RunningTurns, lock: ForgivingTurnLock, routed: TurnRouting, spans: Figures) -> None:
    metrics.watch(
        gauges=lambda: {"turns_running": turns.count, **routed.gauges()},
        counters=lambda: {"turn_lock_failures": lock.failures, **routed.counters(), **spans()},
    )
    if routed.counting is not None:
        metrics.watch_router(routed.counting)


async def _stop_when(stopping: asyncio.Event, turns: RunningTurns, routed: TurnRouting) -> None:
    await stopping.wait()
    turns.stop()
    routed.stop()
