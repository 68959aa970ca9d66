"""A session's seat: one of its drill, and one of its tenant's open sessions."""

from typing_extensions import override

from gateway.domain.limits import DrillLimits, SeatClaim
from gateway.limit_ports import EffectiveLimits, Gate
from sessions.domain.drill import Drill
from sessions.domain.session import Session
from sessions.drill_ports import Seats


class DrillSeats(Seats):
    def __init__(self, *, gate: Gate, limits: EffectiveLimits) -> None:
        self._gate = gate
        self._limits = limits

    @override
    async def take(self, session: Session, drill: Drill | None) -> None:
        """Raises what `Gate.seat` raises."""
        of_tenant = await self._limits.of_tenant(session.tenant)
        claim = SeatClaim(session.tenant, session.id, of_tenant, session.drill, drill_limits(drill))
        await self._gate.seat(claim)

    @override
    async def give_back(self, session: Session) -> None:
        await self._gate.unseat(session.tenant, session.drill, session.id)


def drill_limits(drill: Drill | None) -> DrillLimits:
    if drill is None:
        return DrillLimits()
    plan = drill.plan
    return DrillLimits(plan.seats, plan.walk_ins, plan.turns_in_flight)
