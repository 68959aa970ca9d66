"""Everything a serving process holds."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial

from gateway.job_cases import JobCases
from gateway.knowledge_cases import KnowledgeCases
from gateway.metrics import Figures, Metrics, no_figures
from gateway.model_tiers import ModelTiers
from gateway.openai_chats import ChatWays, OpenAiChats
from gateway.readiness import ReadinessCheck, postgres_check, redis_check, replica_check, with_checks
from gateway.running_turns import EndedTurn, RunningTurns
from gateway.services import Check, Services
from gateway.settings import Settings
from gateway.shared_turns import SharedTurns
from gateway.think_time import ThinkTime
from gateway.token_drift import TokenDrift
from gateway.turn_admission import TurnAdmission
from gateway.use_cases import Outside, UseCases, use_cases
from gateway.wiring.access import Entrance, entrance
from gateway.wiring.background import background
from gateway.wiring.clock import SystemClock
from gateway.wiring.documents import knowledge
from gateway.wiring.drills import many_drills
from gateway.wiring.fleet_plans import fleet_plans
from gateway.wiring.jobs import Answering, JobWork, job_work
from gateway.wiring.journal import shared_turns
from gateway.wiring.knowledge import KnowledgeFinding, knowledge_finding
from gateway.wiring.limits import Limiting, guesses, limiting, session_admission, turn_admission
from gateway.wiring.models import (
    counted_by,
    model_counters,
    model_tiers,
    prompt_writers,
    router_tutor,
    tell_counters,
)
from gateway.wiring.moderation import Moderating, moderating
from gateway.wiring.openai import chat_moderation, openai_chats
from gateway.wiring.postgres import Postgres, watched_database
from gateway.wiring.records import KeptRecords, kept_records
from gateway.wiring.redis import SharedRedis, shared_redis
from gateway.wiring.reviews import turn_reviews
from gateway.wiring.tracing import tracing
from gateway.wiring.turn_routing import TurnRouting, turn_routing
from router.ports import Tracing
from sessions.adapters.forgiving_turn_lock import ForgivingTurnLock
from sessions.adapters.postgres.knowledge_catalogue import PostgresCatalogue
from sessions.adapters.redis_turn_lock import RedisTurnLock
from sessions.adapters.redis_working_sets import RedisWorkingSets
from sessions.use_cases.note_book import CompactionOutcome


@dataclass(frozen=True, slots=True)
class _Own:
    """What lives in this process alone."""

    use: UseCases
    turns: RunningTurns
    tiers: ModelTiers
    metrics: Metrics
    drift: TokenDrift
    jobs: JobCases
    knowledge: KnowledgeCases
    limiting: Limiting
    chats: OpenAiChats
    door: Entrance
    moderated: Moderating


@dataclass(frozen=True, slots=True)
class _Stores:
    """What may be away."""

    postgres: Postgres
    redis: SharedRedis
    sets: RedisWorkingSets
    kept: KeptRecords

    def postgres_check(self) -> Check:
        return postgres_check(
            missing=self.postgres.missing, is_away=self.postgres.reach.is_away, has_spool=self.kept.has_room
        )

    def redis_check(self) -> Check:
        return redis_check(is_away=self.redis.reach.is_away)

    def gauges(self) -> Mapping[str, float]:
        return {**self.postgres.gauges(), **self.redis.gauges(), **self.kept.gauges()}

    def counters(self) -> Mapping[str, float]:
        return {**self.postgres.counters(), **self.redis.counters(), **self.kept.counters()}


@dataclass(frozen=True, slots=True)
class _Figures:
    """What is counted of sessions beside their turns."""

    lock: ForgivingTurnLock
    sets: RedisWorkingSets
    think: ThinkTime
    finding: KnowledgeFinding
    jobs: JobWork
    limiting: Limiting
    moderated: Moderating
    door: Entrance
    stores: _Stores

    def gauges(self) -> Mapping[str, float]:
        return {
            "compactions_running": self.think.count,
            **self.finding.gauges(),
            **self.jobs.gauges(),
            **self.door.gauges(),
            **self.limiting.gauges(),
            **self.moderated.gauges(),
            **self.stores.gauges(),
        }

    def counters(self) -> Mapping[str, float]:
        return {
            "turn_lock_failures": self.lock.failures,
            "working_set_hits": self.sets.hits,
            "working_set_misses": self.sets.misses,
            "working_set_failures": self.sets.failures,
            "compactions_skipped": self.think.skipped,
            **self.finding.counters(),
            **self.jobs.counters(),
            **self.limiting.counters(),
            **self.moderated.counters(),
            **self.door.counters(),
            **self.stores.counters(),
        }


@asynccontextmanager
async def services(
    settings: Settings, *, stopping: asyncio.Event, leaving: asyncio.Event | None = None
) -> AsyncIterator[Services]:
    """Once `stopping` is set it takes no new turns; from `leaving` on it says that it is not ready.

    Raises `TokenizerUnusable` or `FleetUnfit` when the model and its replicas cannot be used together.
    """
    tell_counters(counters := model_counters(settings))
    metrics, drift = Metrics(), TokenDrift(counted_by=counted_by(counters))
    async with AsyncExitStack() as stack:
        stores = await stack.enter_async_context(_stores(settings))
        engine, redis, kept = stores.postgres.engine, stores.redis, stores.kept
        moderated = await stack.enter_async_context(moderating(settings, engine, saw=metrics.saw_moderated))
        spans = await stack.enter_async_context(tracing(settings.otlp_endpoint, "gateway", settings.instance))
        routed = await stack.enter_async_context(turn_routing(settings, redis=redis, counters=counters, tracing=spans))
        lock = ForgivingTurnLock(RedisTurnLock(client=redis.client, lease_s=settings.sessions.lease_s))
        tiers = model_tiers(settings, engine, fleet=routed.router.fleet)
        finding = await stack.enter_async_context(knowledge_finding(settings, engine, counters))
        tutor = router_tutor(settings, counters, routed.router)
        jobs = await stack.enter_async_context(
            job_work(settings, engine, counters, Answering(tutor, tiers, finding, moderated.desk))
        )
        door = await stack.enter_async_context(entrance(settings, engine, redis.client, SystemClock()))
        limited = await stack.enter_async_context(limiting(settings, engine, redis.client, refused=metrics.saw_refusal))
        use = use_cases(
            Outside(
                records=kept.records,
                spool=kept.spool,
                lock=lock,
                tutor=tutor,
                clock=SystemClock(),
                working_sets=stores.sets,
                tiers=tiers,
                writers=prompt_writers(settings, counters),
                catalogue=PostgresCatalogue(engine=engine),
                drills=limited.drills,
                seats=limited.seats,
                moderation=moderated.desk,
                knowledge=finding.search,
                note_timeout_s=settings.sessions.note_timeout_s,
                compacted=metrics.saw_compaction,
            )
        )
        think = await stack.enter_async_context(_think_time(settings, use, metrics))
        shared = await stack.enter_async_context(shared_turns(settings.journal, redis.client, use.read_turn))
        taking = use, turn_admission(use, limited, guesses(settings)), shared
        turns = await stack.enter_async_context(_running_turns(settings, taking, (metrics, drift, think), spans))
        ending = _stop_when(stopping, turns.stop, jobs.workers.stop, routed.stop)
        await stack.enter_async_context(background(turns.heed_readers(grace_s=settings.journal.unread_grace_s), ending))
        figures = _Figures(lock, stores.sets, think, finding, jobs, limited, moderated, door, stores)
        _watch((metrics, drift), turns, figures, routed, no_figures if spans is None else spans.counts.figures)
        ways = ChatWays(tiers, routed.carrier, limited.gate, limited.limits, chat_moderation(moderated.desk))
        chats = openai_chats(settings, counters, ways, stopping, spans)
        documents = knowledge(settings, engine, counters[settings.model.name], moderated.desk)
        own = _Own(use, turns, tiers, metrics, drift, jobs.cases, documents, limited, chats, door, moderated)
        yield _services(settings, own, stores, routed, leaving or stopping)


def _replicas_check(settings: Settings, routed: TurnRouting) -> Check:
    by_calendar = any(pool.host is not None for pool in settings.fleet.pools)
    return replica_check(routed.router.fleet(), by_calendar=by_calendar)


def _services(
    settings: Settings,
    own: _Own,
    stores: _Stores,
    routed: TurnRouting,
    leaving: asyncio.Event,
) -> Services:
    return Services(
        use=own.use,
        turns=own.turns,
        access=own.door.access,
        settings=settings,
        clock=SystemClock().now,
        readiness=with_checks(
            ReadinessCheck(
                postgres=stores.postgres_check,
                redis=stores.redis_check,
                replicas=partial(_replicas_check, settings, routed),
                models=own.tiers.pools,
                tokens=own.drift.agreement,
                stopping=leaving,
            ),
            own.door.checks,
            own.moderated.guard.checks,
        ),
        metrics=own.metrics,
        fleet=routed.desk,
        tiers=own.tiers,
        jobs=own.jobs,
        knowledge=own.knowledge,
        gate=own.limiting.gate,
        limits=own.limiting.limits,
        start_session=session_admission(own.use, own.limiting, own.moderated.keeper.expect),
        chats=own.chats,
        moderation=own.moderated.cases(stores.kept.records),
        reviews=turn_reviews(stores.postgres.engine, own.moderated.stores.lists),
        plans=fleet_plans(settings, stores.postgres.engine),
        drills=many_drills(settings, stores.postgres.engine, stores.kept.records),
    )


@asynccontextmanager
async def _stores(settings: Settings) -> AsyncIterator[_Stores]:
    async with (
        watched_database(str(settings.database_url), patience_s=settings.records.patience_s) as postgres,
        shared_redis(str(settings.redis_url), settings.redis) as redis,
    ):
        sets = RedisWorkingSets(
            client=redis.client,
            ttl_s=settings.sessions.working_set_ttl_s,
            timeout_s=settings.sessions.working_set_timeout_s,
        )
        async with kept_records(settings, postgres, redis.client, sets) as kept:
            yield _Stores(postgres, redis, sets, kept)


def _think_time(settings: Settings, use: UseCases, metrics: Metrics) -> ThinkTime:
    return ThinkTime(
        think=use.compact_session,
        at_once=settings.sessions.compactions_at_once,
        failed=lambda: metrics.saw_compaction(CompactionOutcome.FAILED),
    )


def _running_turns(
    settings: Settings,
    taking: tuple[UseCases, TurnAdmission, SharedTurns],
    watching: tuple[Metrics, TokenDrift, ThinkTime],
    spans: Tracing | None,
) -> RunningTurns:
    (use, admission, shared), (metrics, drift, think) = taking, watching

    def ended(end: EndedTurn) -> None:
        metrics.saw_turn(end.turn)
        drift.compare(end.turn, end.counted_tokens)
        if end.needs_thought:
            think.begin(end.viewer, end.turn.session)

    return RunningTurns(
        take_turn=admission,
        read_turn=use.read_turn,
        shared=shared,
        grace_s=settings.shutdown_grace_s,
        on_end=ended,
        tracing=spans,
    )


def _watch(
    watching: tuple[Metrics, TokenDrift],
    turns: RunningTurns,
    between: _Figures,
    routed: TurnRouting,
    spans: Figures,
) -> None:
    metrics, drift = watching
    metrics.watch(
        gauges=lambda: {**turns.gauges(), **between.gauges(), **drift.gauges(), **routed.gauges()},
        counters=lambda: {
            **turns.counters(),
            **between.counters(),
            **drift.counters(),
            **routed.counters(),
            **spans(),
        },
    )
    if routed.counting is not None:
        metrics.watch_router(routed.counting)


async def _stop_when(stopping: asyncio.Event, *stops: Callable[[], None]) -> None:
    await stopping.wait()
    for stop in stops:
        stop()
