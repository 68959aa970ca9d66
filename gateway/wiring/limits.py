"""Whoever counts, what operators have set, and the starts of turns and sessions behind it."""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass

from redis.asyncio import Redis
from sqlalchemy.ext.asyncio import AsyncEngine

from gateway.adapters.limit_scripts import LimitScripts
from gateway.adapters.memory_limits import MemoryGate
from gateway.adapters.postgres_limits import PostgresLimits
from gateway.adapters.redis_limits import RedisGate
from gateway.counted_gate import CountedGate
from gateway.current_limits import CurrentLimits
from gateway.drill_seats import DrillSeats
from gateway.forgiving_gate import ForgivingGate
from gateway.metrics import Figures
from gateway.session_admission import SessionAdmission
from gateway.settings import Settings
from gateway.turn_admission import TurnAdmission
from gateway.turn_claims import Guesses, TurnClaims
from gateway.use_cases import UseCases
from gateway.wiring.clock import SystemClock
from sessions.adapters.postgres.drills import PostgresDrills
from sessions.domain.scenario import ScenarioId
from sessions.domain.viewer import TenantId
from sessions.drill_ports import Drills, Seats


@dataclass(frozen=True, slots=True)
class Limiting:
    gate: CountedGate
    limits: CurrentLimits
    drills: Drills
    seats: Seats
    gauges: Figures
    counters: Figures


@asynccontextmanager
async def limiting(
    settings: Settings, engine: AsyncEngine, redis: Redis, *, refused: Callable[[str], None]
) -> AsyncIterator[Limiting]:
    """`refused` hears the limit of each refusal."""
    own, clock = settings.limits, SystemClock()
    scripts = LimitScripts(client=redis, lease_s=settings.sessions.lease_s, seat_s=own.seat_s, timeout_s=own.timeout_s)
    async with RedisGate(scripts) as shared:
        forgiving = ForgivingGate(
            shared,
            local=MemoryGate(clock=clock.ticks, seat_s=own.seat_s),
            clock=clock.ticks,
            share=own.local_share,
            grace_s=own.seats_grace_s,
        )
        gate = CountedGate(forgiving, refused=refused)
        limits = CurrentLimits(settings=own, store=PostgresLimits(engine=engine), clock=clock.ticks)

        def gauges() -> Mapping[str, float]:
            return {**shared.gauges(), **forgiving.gauges(), **gate.gauges()}

        def counters() -> Mapping[str, float]:
            return {**shared.counters(), **forgiving.counters(), **gate.counters()}

        drills, seats = PostgresDrills(engine=engine), DrillSeats(gate=gate, limits=limits)
        yield Limiting(gate, limits, drills, seats, gauges, counters)


def turn_admission(use: UseCases, limiting: Limiting, guesses: Guesses) -> TurnAdmission:
    claims = TurnClaims(
        read_session=use.read_session,
        drills=limiting.drills,
        limits=limiting.limits,
        guesses=guesses,
        clock=SystemClock().ticks,
    )
    return TurnAdmission(take_turn=use.take_turn, gate=limiting.gate, claims=claims)


def guesses(settings: Settings) -> Guesses:
    return Guesses(settings.limits.prompt_tokens, settings.sessions.reply_tokens, settings.limits.cache_s)


def session_admission(
    use: UseCases, limiting: Limiting, expect: Callable[[TenantId, ScenarioId], None]
) -> SessionAdmission:
    return SessionAdmission(start=use.start_session, gate=limiting.gate, limits=limiting.limits, expect=expect)
