"""Limits within one process, on nothing but memory."""

import time
from collections.abc import Callable

from gateway.adapters.memory_limit_rows import MemoryLimitRows
from gateway.adapters.memory_limits import MemoryGate
from gateway.counted_gate import CountedGate
from gateway.current_limits import CurrentLimits
from gateway.drill_seats import DrillSeats
from gateway.limit_settings import LimitSettings
from gateway.wiring.limits import Limiting
from sessions.adapters.memory_drills import MemoryDrills


def limited_here(settings: LimitSettings, *, rows: MemoryLimitRows, refused: Callable[[str], None]) -> Limiting:
    gate = CountedGate(MemoryGate(clock=time.monotonic), refused=refused)
    limits = CurrentLimits(settings=settings, store=rows, clock=time.monotonic)
    seats = DrillSeats(gate=gate, limits=limits)
    return Limiting(gate, limits, MemoryDrills(), seats, gate.gauges, gate.counters)
