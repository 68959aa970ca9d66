"""Which adapter stands behind which port; everything that lives longer than a request is made and closed here."""

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Coroutine
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime

import httpx
import sqlalchemy
from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncEngine
from typing_extensions import override

from gateway.adapters.cached_keys import CachedKeys
from gateway.adapters.postgres_accounts import PostgresAccounts
from gateway.errors import FleetUnfit
from gateway.metrics import Metrics
from gateway.ports import Accounts, Keys
from gateway.readiness import Probe, ReadinessCheck
from gateway.router_tutor import RouterTutor
from gateway.running_turns import RunningTurns
from gateway.services import Services
from gateway.settings import Settings
from gateway.token_samples import token_samples
from gateway.use_cases import UseCases, use_cases
from router.adapters.redis_pins import RedisPins
from router.adapters.replica_transport import ReplicaTransport
from router.adapters.static_fleet import StaticFleet
from router.adapters.vllm_http import VllmEngine
from router.adapters.vllm_probe import VllmProbe
from router.domain.fitness import Expectation
from router.domain.fleet import Replica, ReplicaId
from router.service import Router
from sessions.adapters.forgiving_turn_lock import ForgivingTurnLock
from sessions.adapters.postgres.engine import postgres_engine
from sessions.adapters.postgres.records import PostgresRecords
from sessions.adapters.redis_turn_lock import RedisTurnLock
from sessions.adapters.tokenizer import ModelTokenizer
from sessions.ports import Clock, TokenCounter, TurnLock
from sessions.prompt_writer import PromptWriter
from sessions.use_cases.create_scenario import CreateScenario
from sessions.use_cases.read_scenario import ListScenarios

_REDIS_CONNECT_TIMEOUT_S = 1.0


class SystemClock(Clock):
    @override
    def now(self) -> datetime:
        return datetime.now(UTC)

    @override
    def ticks(self) -> float:
        return time.monotonic()


@dataclass(frozen=True, slots=True)
class Administration:
    """What operators need to hand out keys."""

    accounts: Accounts
    keys: Keys
    clock: Clock


@asynccontextmanager
async def administration(database_url: str) -> AsyncIterator[Administration]:
    async with _database(database_url) as engine:
        accounts = PostgresAccounts(engine=engine)
        yield Administration(accounts=accounts, keys=accounts, clock=SystemClock())


@dataclass(frozen=True, slots=True)
class Authoring:
    """What writes accounts, keys and scenarios without serving anything."""

    accounts: Accounts
    keys: Keys
    clock: Clock
    create_scenario: CreateScenario
    list_scenarios: ListScenarios


@asynccontextmanager
async def authoring(settings: Settings) -> AsyncIterator[Authoring]:
    """Raises `TokenizerUnusable`."""
    clock, writer = SystemClock(), _writer(settings, ModelTokenizer(folder=settings.model.folder))
    async with _database(str(settings.database_url)) as engine:
        accounts, records = PostgresAccounts(engine=engine), PostgresRecords(engine=engine)
        yield Authoring(
            accounts=accounts,
            keys=accounts,
            clock=clock,
            create_scenario=CreateScenario(records=records, writer=writer, clock=clock),
            list_scenarios=ListScenarios(records=records),
        )


@asynccontextmanager
async def services(settings: Settings, *, stopping: asyncio.Event) -> AsyncIterator[Services]:
    """Everything a serving process holds; once `stopping` is set it takes no new turns.

    Raises `TokenizerUnusable` or `FleetUnfit` when the model and its replicas cannot be used together.
    """
    clock, metrics = SystemClock(), Metrics()
    counter = ModelTokenizer(folder=settings.model.folder)
    async with AsyncExitStack() as stack:
        engine = await stack.enter_async_context(_database(str(settings.database_url)))
        redis = await stack.enter_async_context(_redis(str(settings.redis_url)))
        fleet = StaticFleet(replicas=[Replica(ReplicaId(each.id), str(each.url)) for each in settings.replicas])
        router = await stack.enter_async_context(_router(settings, redis, fleet, counter))
        lock = ForgivingTurnLock(RedisTurnLock(client=redis, lease_s=settings.sessions.lease_s))
        use = _use_cases(settings, engine, lock, router, counter)
        turns = RunningTurns(
            take_turn=use.take_turn,
            read_session=use.read_session,
            read_turn=use.read_turn,
            grace_s=settings.shutdown_grace_s,
            on_end=metrics.saw_turn,
        )
        await stack.enter_async_context(turns)
        await stack.enter_async_context(_background(_stop_when(stopping, turns)))
        metrics.watch(lambda: _gauges(router, turns, lock))
        yield Services(
            use=use,
            turns=turns,
            keys=CachedKeys(keys=PostgresAccounts(engine=engine), ttl_s=settings.key_cache_s, clock=clock.ticks),
            settings=settings,
            clock=clock.now,
            readiness=ReadinessCheck(
                postgres=_postgres_probe(engine), redis=_redis_probe(redis), fleet=router.fleet, stopping=stopping
            ),
            metrics=metrics,
        )


def _use_cases(
    settings: Settings, engine: AsyncEngine, lock: TurnLock, router: Router, counter: TokenCounter
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
        writer=_writer(settings, counter),
        clock=SystemClock(),
    )


def _writer(settings: Settings, counter: TokenCounter) -> PromptWriter:
    shares = settings.sessions.shares(settings.model.window_tokens)
    return PromptWriter(model=settings.model.name, counter=counter, shares=shares)


@asynccontextmanager
async def _router(settings: Settings, redis: Redis, fleet: StaticFleet, counter: TokenCounter) -> AsyncIterator[Router]:
    expectation = Expectation(settings.model.name, settings.model.window_tokens, token_samples(counter))
    async with httpx.AsyncClient(transport=ReplicaTransport(), trust_env=False) as client:
        probe = VllmProbe(
            client=client,
            fleet=fleet.current,
            report=fleet.observe,
            expectation=expectation,
            settings=settings.router,
        )
        await probe.first_round()
        if (seen := fleet.current()).is_unfit:
            raise FleetUnfit("; ".join(f"{replica.id} {replica.reason}" for replica in seen.replicas))
        async with _background(probe.run()):
            yield Router(
                pins=RedisPins(client=redis, ttl_s=settings.router.pin_ttl_s),
                fleet=fleet,
                engine=VllmEngine(client=client, settings=settings.router),
                settings=settings.router,
            )


@asynccontextmanager
async def _database(url: str) -> AsyncIterator[AsyncEngine]:
    engine = postgres_engine(url)
    try:
        yield engine
    finally:
        await engine.dispose()


@asynccontextmanager
async def _redis(url: str) -> AsyncIterator[Redis]:
    client: Redis = Redis.from_url(
        url,
        # Whoever asks bounds its own wait. The client's time-out would be asyncio.wait_for, which on Python 3.11 can
        # swallow a cancellation.
        socket_timeout=None,
        socket_connect_timeout=_REDIS_CONNECT_TIMEOUT_S,
        retry=Retry(NoBackoff(), 1),  # the connection to a restarted server is dead, a new one is not
    )
    try:
        yield client
    finally:
        await client.aclose()


@asynccontextmanager
async def _background(work: Coroutine[object, object, None]) -> AsyncIterator[None]:
    """Let it run beside the block and stop it when the block ends."""
    async with asyncio.TaskGroup() as group:
        task = group.create_task(work)
        try:
            yield
        finally:
            task.cancel()


async def _stop_when(stopping: asyncio.Event, turns: RunningTurns) -> None:
    await stopping.wait()
    turns.stop()


def _postgres_probe(engine: AsyncEngine) -> Probe:
    async def ask() -> str | None:
        try:
            async with engine.connect() as connection:
                await connection.execute(sqlalchemy.text("SELECT 1"))
        except (SQLAlchemyError, OSError) as error:
            return f"cannot be asked ({type(error).__name__})"
        return None

    return ask


def _redis_probe(client: Redis) -> Probe:
    async def ask() -> str | None:
        try:
            await client.ping()
        except (RedisError, OSError) as error:
            return f"cannot be asked ({type(error).__name__}); turns go on without pins and leases"
        return None

    return ask


def _gauges(router: Router, turns: RunningTurns, lock: ForgivingTurnLock) -> dict[tuple[str, str], float]:
    numbers = router.numbers()
    gauges: dict[tuple[str, str], float] = {
        ("turns_running", ""): turns.count,
        ("router_retries", ""): numbers.retries,
        ("pin_store_failures", ""): numbers.pin_failures,
        ("pin_store_lost", ""): float(numbers.pins_lost),
        ("turn_lock_failures", ""): lock.failures,
    }
    failures: Counter[ReplicaId] = Counter()
    for (replica, _), count in numbers.failures.items():
        failures[replica] += count
    gauges |= {("replica_failures", replica): count for replica, count in failures.items()}
    gauges |= {("replica_in_flight", replica): count for replica, count in numbers.in_flight.items()}
    gauges |= {("replica_ready", each.id): float(each.is_ready) for each in router.fleet().replicas}
    return gauges
