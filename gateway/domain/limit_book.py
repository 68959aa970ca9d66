"""All limits together: what is taken at once or not at all, and given back exactly once.

This is the definition. The scripts in adapters/lua/ are its twins line by line, and a test drives both with the same
sequences. Moments are whole microseconds of one clock.
"""

from dataclasses import dataclass, field
from enum import StrEnum
from uuid import UUID

from gateway.domain import leases
from gateway.domain.leases import Leases
from gateway.domain.limits import Claim, DrillLimits, SeatClaim, Spent
from gateway.domain.quotas import (
    Quota,
    Reserved,
    backlog_us,
    quotas_of,
    settled,
    spent_costs,
    wait_us,
)


class Limit(StrEnum):
    """What a claim can be refused by."""

    SESSION = "session"
    REQUESTS = "requests"
    INPUT_TOKENS = "input_tokens"
    OUTPUT_TOKENS = "output_tokens"
    TURNS_IN_FLIGHT = "turns_in_flight"
    WATERMARK = "watermark"
    TENANT = "tenant"
    SEATS = "seats"
    OVER = "over"
    """The claim has been given back before it came; whoever asked has gone."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """`backlogs` are those of the claim's quotas, in their order, as they stand afterwards."""

    refused_by: Limit | None = None
    wait_us: int = 0
    backlogs: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Taken:
    """What a claim holds, to be settled once."""

    reserved: tuple[Reserved, ...] = ()
    new_seat: bool = False
    new_in_tenant: bool = False


@dataclass(slots=True)
class LimitBook:
    """The state of everything that is limited; names are those of accounts, drills, tenants and sessions."""

    lease_us: int
    seat_us: int
    rates: dict[str, dict[str, int]] = field(default_factory=dict)
    running: dict[str, Leases] = field(default_factory=dict)
    turns: dict[str, tuple[str, int]] = field(default_factory=dict)
    drills: dict[str, Leases] = field(default_factory=dict)
    seats: dict[str, Leases] = field(default_factory=dict)
    walk_ins: dict[str, Leases] = field(default_factory=dict)
    tenants: dict[str, Leases] = field(default_factory=dict)
    claims: dict[str, Taken | None] = field(default_factory=dict)
    """None: it is over."""

    def forget(self, holder: str) -> None:
        """Of a claim that is over, and can come no more."""
        del self.claims[holder]

    def forget_idle(self, now: int) -> None:
        """What has drained or ended by itself says no more than what is not there."""
        for account, rates in list(self.rates.items()):
            if not any(backlog_us(empty_at, now) for empty_at in rates.values()):
                del self.rates[account]
        for places in (self.running, self.drills, self.seats, self.walk_ins, self.tenants):
            for name, holders in list(places.items()):
                if all(until <= now for until in holders.values()):
                    del places[name]

    def admit(self, holder: str, claim: Claim, now: int) -> Verdict:
        quotas = quotas_of(claim)
        rates = self.rates.get(account_of(claim), {})
        backlogs = tuple(backlog_us(rates.get(quota.name, 0), now) for quota in quotas)
        if holder in self.claims:
            return Verdict(None if self.claims[holder] else Limit.OVER, 0, backlogs)
        refusal = (
            self._busy(claim, now)
            or _too_fast(quotas, backlogs)
            or self._too_many(claim, now)
            or self._above_watermark(claim, now)
        )
        if refusal is not None:
            return Verdict(*refusal, backlogs)
        return Verdict(backlogs=self._take(holder, claim, quotas, backlogs, now))

    def renew(self, holder: str, claim: Claim, now: int) -> bool:
        """Whether everything that the claim holds was still its own."""
        kept = leases.renew(self.running.get(account_of(claim), {}), holder, now, self.lease_us)
        if claim.drill is not None:
            kept &= leases.renew(self.drills.get(str(claim.drill), {}), holder, now, self.lease_us)
        if claim.session is not None:
            kept &= self._renew_turn(str(claim.session), holder, now)
        return kept

    def settle(self, holder: str, claim: Claim, spent: Spent | None, now: int) -> bool:
        """Give the places back, and of what was reserved all that was not spent; whether there was anything to give.

        None: the claim is given back as if it had never been. Should it come only now, it finds that it is over.
        """
        taken, self.claims[holder] = self.claims.get(holder), None
        if taken is None:
            return False
        self._leave(holder, claim)
        self._settle_rates(claim, taken, spent, now)
        if spent is None:
            self._unseat_again(claim, taken)
        return True

    def seat(self, claim: SeatClaim, now: int) -> Verdict:
        session, tenant = str(claim.session), self.tenants.get(str(claim.tenant), {})
        limit = claim.limits.sessions
        if limit is not None and not self._sits(tenant, session, now) and self._seated(tenant, now) >= limit:
            return Verdict(Limit.TENANT)
        if claim.drill is not None:
            place = self._place(claim.drill, session, claim.drill_limits, now)
            if place is None:
                return Verdict(Limit.SEATS)
            leases.take(place.setdefault(str(claim.drill), {}), session, now, self.seat_us)
        leases.take(self.tenants.setdefault(str(claim.tenant), {}), session, now, self.seat_us)
        return Verdict()

    def unseat(self, tenant: UUID, drill: UUID | None, session: UUID) -> None:
        self.tenants.get(str(tenant), {}).pop(str(session), None)
        for places in (self.seats, self.walk_ins):
            places.get(str(drill), {}).pop(str(session), None)

    def _busy(self, claim: Claim, now: int) -> tuple[Limit, int] | None:
        _, until = self.turns.get(str(claim.session), ("", 0))
        return (Limit.SESSION, until - now) if leases.lives(until, now, self.lease_us) else None

    def _too_many(self, claim: Claim, now: int) -> tuple[Limit, int] | None:
        running, most = self.running.get(account_of(claim), {}), claim.limits.turns_in_flight
        if most is None or leases.held(running, now, self.lease_us) < most:
            return None
        return Limit.TURNS_IN_FLIGHT, leases.next_end(running, now, self.lease_us)

    def _above_watermark(self, claim: Claim, now: int) -> tuple[Limit, int] | None:
        running, most = self.drills.get(str(claim.drill), {}), claim.drill_limits.turns_in_flight
        if claim.drill is None or most is None or leases.held(running, now, self.lease_us) < most:
            return None
        place = self._place(claim.drill, str(claim.session), claim.drill_limits, now) if claim.session else None
        return None if place is self.seats else (Limit.WATERMARK, leases.next_end(running, now, self.lease_us))

    def _place(self, drill: UUID, session: str, limits: DrillLimits, now: int) -> dict[str, Leases] | None:
        """Where the session sits or may sit down; one that has a place keeps it."""
        seats, walk_ins = self.seats.get(str(drill), {}), self.walk_ins.get(str(drill), {})
        if self._sits(seats, session, now):
            return self.seats
        if self._sits(walk_ins, session, now):
            return self.walk_ins
        if limits.seats is None or self._seated(seats, now) < limits.seats:
            return self.seats
        return self.walk_ins if self._seated(walk_ins, now) < limits.walk_ins else None

    def _sits(self, places: Leases, session: str, now: int) -> bool:
        return leases.lives(places.get(session), now, self.seat_us)

    def _seated(self, places: Leases, now: int) -> int:
        return leases.held(places, now, self.seat_us)

    def _take(
        self, holder: str, claim: Claim, quotas: tuple[Quota, ...], backlogs: tuple[int, ...], now: int
    ) -> tuple[int, ...]:
        after = tuple(backlog + quota.cost_us for backlog, quota in zip(backlogs, quotas, strict=True))
        for quota, backlog in zip(quotas, after, strict=True):
            self.rates.setdefault(account_of(claim), {})[quota.name] = now + backlog
        leases.take(self.running.setdefault(account_of(claim), {}), holder, now, self.lease_us)
        if claim.drill is not None:
            leases.take(self.drills.setdefault(str(claim.drill), {}), holder, now, self.lease_us)
        reserved = tuple(Reserved(quota.cost_us, now + backlog) for quota, backlog in zip(quotas, after, strict=True))
        new_seat, new_in_tenant = self._sit_down(holder, claim, now)
        self.claims[holder] = Taken(reserved, new_seat=new_seat, new_in_tenant=new_in_tenant)
        return after

    def _sit_down(self, holder: str, claim: Claim, now: int) -> tuple[bool, bool]:
        """A turn keeps its session's seat for another while, and takes it again should it have been lost."""
        if claim.session is None:
            return False, False
        session, new_seat = str(claim.session), False
        self.turns[session] = holder, now + self.lease_us
        tenant = self.tenants.setdefault(str(claim.tenant), {})
        new_in_tenant = not self._sits(tenant, session, now)
        leases.take(tenant, session, now, self.seat_us)
        place = self._place(claim.drill, session, claim.drill_limits, now) if claim.drill else None
        if place is not None:
            there = place.setdefault(str(claim.drill), {})
            new_seat = not self._sits(there, session, now)
            leases.take(there, session, now, self.seat_us)
        return new_seat, new_in_tenant

    def _renew_turn(self, session: str, holder: str, now: int) -> bool:
        owner, until = self.turns.get(session, ("", 0))
        if owner != holder or until <= now:
            return False
        self.turns[session] = holder, now + self.lease_us
        return True

    def _leave(self, holder: str, claim: Claim) -> None:
        self.running.get(account_of(claim), {}).pop(holder, None)
        self.drills.get(str(claim.drill), {}).pop(holder, None)
        if self.turns.get(str(claim.session), ("", 0))[0] == holder:
            del self.turns[str(claim.session)]

    def _settle_rates(self, claim: Claim, taken: Taken, spent: Spent | None, now: int) -> None:
        quotas = quotas_of(claim)
        for quota, reserved, cost in zip(quotas, taken.reserved, spent_costs(quotas, spent), strict=True):
            rates = self.rates.setdefault(account_of(claim), {})
            rates[quota.name] = settled(rates.get(quota.name, 0), reserved, cost, now)

    def _unseat_again(self, claim: Claim, taken: Taken) -> None:
        if taken.new_in_tenant:
            self.tenants.get(str(claim.tenant), {}).pop(str(claim.session), None)
        if taken.new_seat:
            for places in (self.seats, self.walk_ins):
                places.get(str(claim.drill), {}).pop(str(claim.session), None)


def account_of(claim: Claim) -> str:
    return f"{claim.tenant}:{claim.account}"


def _too_fast(quotas: tuple[Quota, ...], backlogs: tuple[int, ...]) -> tuple[Limit, int] | None:
    """The quota that is to be waited for longest; when it has room, so have the others."""
    waits = [
        (wait_us(backlog, quota.cost_us, quota.depth_us), Limit(quota.name))
        for quota, backlog in zip(quotas, backlogs, strict=True)
    ]
    wait, limit = max(waits, key=lambda pair: pair[0], default=(0, Limit.REQUESTS))
    return (limit, wait) if wait else None
