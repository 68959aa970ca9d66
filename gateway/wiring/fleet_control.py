"""What a process holds that looks after the fleet."""

import asyncio
import os
import re
import secrets
import socket
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace

import httpx
import structlog
from sqlalchemy import make_url
from sqlalchemy.ext.asyncio import AsyncEngine
from structlog.typing import FilteringBoundLogger

from gateway.drill_calendar import DrillCalendar
from gateway.fleet_prefixes import ScenarioPrefixes
from gateway.settings import Settings
from gateway.wiring.background import background
from gateway.wiring.fleet_hosts import hosted_pools
from gateway.wiring.models import Counters, model_counters, prompt_writers
from gateway.wiring.postgres import fleet_database, watched_database
from gateway.wiring.redis import SharedRedis, shared_redis
from gateway.wiring.routing import probing_client
from router.adapters.redis_board import RedisBoard
from router.adapters.redis_pins import RedisPins
from router.domain.fleet import ReplicaId
from router.fleet.adapters.board_routers import SETTLED_AFTER_S, BoardRouters
from router.fleet.adapters.dry_run import DryRunLedger, DryRunRouters, DryRunWarmth, Said
from router.fleet.adapters.engine_chat import EngineChat
from router.fleet.adapters.fleet_database import FleetDatabase
from router.fleet.adapters.http_warmth import HttpWarmth
from router.fleet.adapters.postgres_canaries import PostgresCanaries
from router.fleet.adapters.postgres_leadership import PostgresLeadership
from router.fleet.adapters.postgres_ledger import PostgresLedger
from router.fleet.adapters.quiet_alarm import QuietAlarm
from router.fleet.adapters.webhook_alarm import WebhookAlarm
from router.fleet.controller import Controller
from router.fleet.domain.demand import PoolName
from router.fleet.keeping import Around, PoolReport
from router.fleet.ports import Alarm, Prefixes, Warmth
from sessions.adapters.postgres.class_calendar import PostgresClassCalendar
from sessions.adapters.postgres.records import PostgresRecords
from sessions.errors import TokenizerUnusable

_NOT_IN_A_NAME = re.compile(r"[^a-z0-9]+")
_LONGEST_NAME = 40

_log: FilteringBoundLogger = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class FleetControl:
    """Pools that are only said to be looked after have a controller of their own."""

    controllers: tuple[Controller, ...]

    async def take_round(self, now: float) -> tuple[PoolReport, ...]:
        return tuple([report for each in self.controllers for report in await each.take_round(now)])

    async def run(self, *, interval_s: float) -> None:
        """Never returns."""
        async with asyncio.TaskGroup() as group:
            for each in self.controllers:
                group.create_task(each.run(interval_s=interval_s))


@asynccontextmanager
async def fleet_control(
    settings: Settings, told: Callable[[PoolReport], None], *, settled_after_s: float = SETTLED_AFTER_S
) -> AsyncIterator[FleetControl]:
    """While it is entered it tries to lead; rounds are the caller's. Raises `FleetUnfit` for a host of no address."""
    said = Said()
    async with AsyncExitStack() as stack:
        pools = await stack.enter_async_context(hosted_pools(settings.fleet.pools, said))
        around = await stack.enter_async_context(_around(settings, settled_after_s))
        dry = {pool.model for pool in settings.fleet.pools if pool.dry_run}
        parts = (
            ([pool for pool in pools if pool.name not in dry], around, told),
            # What would be done is said by who pretends to do it.
            ([pool for pool in pools if pool.name in dry], _dry(around, said), _without_deeds(told)),
        )
        yield FleetControl(
            tuple(
                Controller(
                    pools=those,
                    around=these,
                    clock=time.time,
                    new_id=new_id,
                    dead_after_s=settings.fleet.dead_after_s,
                    told=hears,
                )
                for those, these, hears in parts
                if those
            )
        )


@asynccontextmanager
async def _around(settings: Settings, settled_after_s: float) -> AsyncIterator[Around]:
    url = str(settings.database_url)
    async with AsyncExitStack() as stack:
        postgres = await stack.enter_async_context(watched_database(url, patience_s=settings.records.patience_s))
        redis = await stack.enter_async_context(shared_redis(str(settings.redis_url), settings.redis))
        leadership = PostgresLeadership(
            address=_libpq(url),
            name=f"{socket.gethostname()}/{os.getpid()}",
            idle_s=settings.fleet.leader_idle_s,
        )
        stack.push_async_callback(leadership.close)
        await stack.enter_async_context(background(leadership.run()))
        database = fleet_database(postgres.engine)
        classes = PostgresClassCalendar(engine=postgres.engine)
        yield Around(
            leadership=leadership,
            ledger=PostgresLedger(database=database, token=lambda: leadership.token),
            calendar=DrillCalendar(classes=classes, offer=settings.offer),
            routers=_routers(settings, redis, settled_after_s),
            warmth=await stack.enter_async_context(_warmth(database)),
            prefixes=_prefixes(settings, postgres.engine, classes),
            alarm=await stack.enter_async_context(_alarm(settings)),
        )


def _without_deeds(told: Callable[[PoolReport], None]) -> Callable[[PoolReport], None]:
    return lambda report: told(replace(report, deeds=(), starts=()))


def _dry(around: Around, said: Said) -> Around:
    return replace(
        around,
        ledger=DryRunLedger(ledger=around.ledger),
        routers=DryRunRouters(routers=around.routers, said=said),
        warmth=DryRunWarmth(),
    )


def new_id(pool: PoolName) -> ReplicaId:
    """One that never was: hosts, routers and logs know a replica by it long after it is gone."""
    name = _NOT_IN_A_NAME.sub("-", pool.lower()).strip("-")[:_LONGEST_NAME].strip("-")
    return ReplicaId(f"{name or 'replica'}-{secrets.token_hex(4)}")


@asynccontextmanager
async def _warmth(database: FleetDatabase) -> AsyncIterator[Warmth]:
    async with (
        probing_client() as client,
        HttpWarmth(chat=EngineChat(client=client), canaries=PostgresCanaries(database=database)) as warmth,
    ):
        yield warmth


def _libpq(url: str) -> str:
    return make_url(url).set(drivername="postgresql").render_as_string(hide_password=False)


def _routers(settings: Settings, redis: SharedRedis, settled_after_s: float) -> BoardRouters:
    return BoardRouters(
        board=RedisBoard(client=redis.client),
        pins=RedisPins(client=redis.client, ttl_s=settings.router.pin_ttl_s),
        session_idle_s=settings.fleet.session_idle_s,
        drain_within_s=settings.fleet.drain_within_s,
        settled_after_s=settled_after_s,
    )


def _prefixes(settings: Settings, engine: AsyncEngine, classes: PostgresClassCalendar) -> Prefixes:
    counters = _counters(settings)
    return ScenarioPrefixes(
        classes=classes,
        records=PostgresRecords(engine=engine),
        writers=prompt_writers(settings, counters) if counters else {},
        template_arguments={name: _arguments(counters, name) for name in counters},
    )


def _arguments(counters: Counters, name: str) -> Mapping[str, str]:
    return dict(counters[name].template_arguments)


def _counters(settings: Settings) -> Counters:
    """Empty where a tokenizer is not at hand: classes are better served cold than not at all."""
    try:
        return model_counters(settings)
    except TokenizerUnusable as error:
        _log.warning("prompts of coming classes are not computed beforehand", reason=str(error))
        return {}


@asynccontextmanager
async def _alarm(settings: Settings) -> AsyncIterator[Alarm]:
    if settings.fleet.alert_webhook is None:
        yield QuietAlarm()
        return
    async with httpx.AsyncClient(trust_env=False) as client:
        yield WebhookAlarm(client=client, url=settings.fleet.alert_webhook.get_secret_value())
