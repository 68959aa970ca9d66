"""Whoever counts, what operators have set, and the starts of turns and sessions behind it."""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass

from sqlalchemy.ext.asyncio import AsyncEngine

from gateway.adapters.memory_limits import MemoryGate
from gateway.adapters.postgres_limits import PostgresLimits
from gateway.counted_gate import CountedGate
from gateway.current_limits import CurrentLimits
from gateway.drill_seats import DrillSeats
from gateway.limit_settings import LimitSettings
from gateway.session_admission import SessionAdmission
from gateway.turn_admission import TurnAdmission
from gateway.turn_claims import Guesses, TurnClaims
from gateway.use_cases import UseCases
from gateway.wiring.clock import SystemClock
from sessions.adapters.postgres.drills import PostgresDrills
from sessions.drill_ports import Drills, Seats
from sessions.settings import SessionSettings


@dataclass(frozen=True, slots=True)
class Limiting:
    gate: CountedGate
    limits: CurrentLimits
    drills: Drills
    seats: Seats

    def gauges(self) -> Mapping[str, float]:
        return self.gate.gauges()

    def counters(self) -> Mapping[str, float]:
        return self.gate.counters()


@asynccontextmanager
async def limiting(
    settings: LimitSettings, engine: AsyncEngine, *, refused: Callable[[str], None]
) -> AsyncIterator[Limiting]:
    """`refused` hears the limit of each refusal."""
    clock = SystemClock()
    gate = CountedGate(MemoryGate(clock=clock.ticks, seat_s=settings.seat_s), refused=refused)
    limits = CurrentLimits(settings=settings, store=PostgresLimits(engine=engine), clock=clock.ticks)
    yield Limiting(gate, limits, PostgresDrills(engine=engine), DrillSeats(gate=gate, limits=limits))


def turn_admission(
    settings: LimitSettings, sessions: SessionSettings, use: UseCases, limiting: Limiting
) -> TurnAdmission:
    claims = TurnClaims(
        read_session=use.read_session,
        drills=limiting.drills,
        limits=limiting.limits,
        guesses=Guesses(settings.prompt_tokens, sessions.reply_tokens, settings.cache_s),
        clock=SystemClock().ticks,
    )
    return TurnAdmission(take_turn=use.take_turn, gate=limiting.gate, claims=claims)


def session_admission(use: UseCases, limiting: Limiting) -> SessionAdmission:
    return SessionAdmission(start=use.start_session, gate=limiting.gate, limits=limiting.limits)
