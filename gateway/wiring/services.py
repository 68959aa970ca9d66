"""Everything a serving process holds."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from redis.asyncio import Redis
from sqlalchemy.ext.asyncio import AsyncEngine

from gateway.adapters.cached_keys import CachedKeys
from gateway.adapters.postgres_accounts import PostgresAccounts
from gateway.metrics import Figures, Metrics, no_figures
from gateway.model_tiers import ModelTiers
from gateway.ports import TurnRouter
from gateway.readiness import ReadinessCheck
from gateway.router_tutor import RouterTutor
from gateway.running_turns import RunningTurns
from gateway.services import Services
from gateway.settings import Settings
from gateway.token_drift import TokenDrift
from gateway.use_cases import UseCases, use_cases
from gateway.wiring.background import background
from gateway.wiring.clock import SystemClock
from gateway.wiring.models import Counters, counted_by, model_counters, model_tiers, prompt_writers, served_models
from gateway.wiring.postgres import database, postgres_probe
from gateway.wiring.redis import redis_probe, shared_redis
from gateway.wiring.tracing import tracing
from gateway.wiring.turn_routing import TurnRouting, turn_routing
from router.ports import Tracing
from sessions.adapters.forgiving_turn_lock import ForgivingTurnLock
from sessions.adapters.postgres.records import PostgresRecords
from sessions.adapters.redis_turn_lock import RedisTurnLock
from sessions.domain.turn import Turn
from sessions.ports import TurnLock


@dataclass(frozen=True, slots=True)
class _Own:
    """What lives in this process alone."""

    use: UseCases
    turns: RunningTurns
    tiers: ModelTiers
    metrics: Metrics
    drift: TokenDrift


@asynccontextmanager
async def services(settings: Settings, *, stopping: asyncio.Event) -> AsyncIterator[Services]:
    """Once `stopping` is set it takes no new turns.

    Raises `TokenizerUnusable` or `FleetUnfit` when the model and its replicas cannot be used together.
    """
    metrics, counters = Metrics(), model_counters(settings)
    drift = TokenDrift(counted_by=counted_by(counters))
    async with AsyncExitStack() as stack:
        engine = await stack.enter_async_context(database(str(settings.database_url)))
        redis = await stack.enter_async_context(shared_redis(str(settings.redis_url)))
        spans = await stack.enter_async_context(tracing(settings.otlp_endpoint, "gateway", settings.instance))
        routed = await stack.enter_async_context(turn_routing(settings, redis=redis, counters=counters, tracing=spans))
        lock = ForgivingTurnLock(RedisTurnLock(client=redis.client, lease_s=settings.sessions.lease_s))
        tiers = model_tiers(settings, engine, fleet=routed.router.fleet)
        use = _use_cases(settings, engine, lock, (counters, tiers), routed.router)
        turns = await stack.enter_async_context(_running_turns(settings, use, (metrics, drift), spans))
        await stack.enter_async_context(background(_stop_when(stopping, turns, routed)))
        _watch((metrics, drift), turns, lock, routed, no_figures if spans is None else spans.counts.figures)
        own = _Own(use, turns, tiers, metrics, drift)
        yield _services(settings, own, (engine, redis.client), routed, stopping)


def _services(
    settings: Settings,
    own: _Own,
    stores: tuple[AsyncEngine, Redis],
    routed: TurnRouting,
    stopping: asyncio.Event,
) -> Services:
    clock, (engine, redis) = SystemClock(), stores
    return Services(
        use=own.use,
        turns=own.turns,
        keys=CachedKeys(keys=PostgresAccounts(engine=engine), ttl_s=settings.key_cache_s, clock=clock.ticks),
        settings=settings,
        clock=clock.now,
        readiness=ReadinessCheck(
            postgres=postgres_probe(engine),
            redis=redis_probe(redis),
            fleet=routed.router.fleet,
            models=own.tiers.pools,
            tokens=own.drift.agreement,
            stopping=stopping,
        ),
        metrics=own.metrics,
        fleet=routed.desk,
        tiers=own.tiers,
    )


def _use_cases(
    settings: Settings, engine: AsyncEngine, lock: TurnLock, models: tuple[Counters, ModelTiers], router: TurnRouter
) -> UseCases:
    counters, tiers = models
    return use_cases(
        records=PostgresRecords(engine=engine),
        lock=lock,
        tutor=RouterTutor(
            router=router,
            models=served_models(settings, counters),
            retry_after_s=settings.router.retry_after_s,
        ),
        writers=prompt_writers(settings, counters),
        tiers=tiers,
        clock=SystemClock(),
    )


def _running_turns(
    settings: Settings, use: UseCases, watching: tuple[Metrics, TokenDrift], spans: Tracing | None
) -> RunningTurns:
    metrics, drift = watching

    def ended(turn: Turn, counted: int) -> None:
        metrics.saw_turn(turn)
        drift.compare(turn, counted)

    return RunningTurns(
        take_turn=use.take_turn,
        read_session=use.read_session,
        read_turn=use.read_turn,
        grace_s=settings.shutdown_grace_s,
        on_end=ended,
        tracing=spans,
    )


def _watch(
    watching: tuple[Metrics, TokenDrift],
    turns: RunningTurns,
    lock: ForgivingTurnLock,
    routed: TurnRouting,
    spans: Figures,
) -> None:
    metrics, drift = watching
    metrics.watch(
        gauges=lambda: {"turns_running": turns.count, **drift.gauges(), **routed.gauges()},
        counters=lambda: {
            "turn_lock_failures": lock.failures,
            **drift.counters(),
            **routed.counters(),
            **spans(),
        },
    )
    if routed.counting is not None:
        metrics.watch_router(routed.counting)


async def _stop_when(stopping: asyncio.Event, turns: RunningTurns, routed: TurnRouting) -> None:
    await stopping.wait()
    turns.stop()
    routed.stop()
