"""What a seat is asked for with."""

from dataclasses import replace

from gateway.adapters.memory_limit_rows import MemoryLimitRows
from gateway.current_limits import CurrentLimits
from gateway.domain.limits import DrillLimits, SeatClaim, TenantLimits
from gateway.drill_seats import DrillSeats, drill_limits
from gateway.limit_settings import LimitSettings
from tests.support.drill_world import drill
from tests.support.recorded_gate import RecordedGate
from tests.support.records_world import session
from tests.support.session_fakes import FakeClock


async def test_a_seat_is_of_the_drill_and_of_the_tenant_and_is_given_back() -> None:
    gate = RecordedGate()
    settings = LimitSettings(tenant_sessions=7)
    limits = CurrentLimits(settings=settings, store=MemoryLimitRows(), clock=FakeClock().ticks)
    seats = DrillSeats(gate=gate, limits=limits)
    inside, alone = replace(session(), drill=drill().id), session("alone")
    await seats.take(inside, drill())
    await seats.take(alone, None)
    assert gate.seats == [
        SeatClaim(inside.tenant, inside.id, TenantLimits(7), drill().id, DrillLimits(25, 5, 20)),
        SeatClaim(alone.tenant, alone.id, TenantLimits(7)),
    ]
    await seats.give_back(inside)
    assert gate.unseated == [(inside.tenant, drill().id, inside.id)]


def test_a_drill_without_limits_has_none() -> None:
    assert drill_limits(None) == DrillLimits()
    assert drill_limits(drill(seats=None, walk_ins=0, turns_in_flight=None)) == DrillLimits()
