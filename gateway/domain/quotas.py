"""How fast an account may go: the generic cell rate algorithm (ITU-T I.371) in whole microseconds.

A quota is a bucket of a certain depth that drains by itself. Its state is one number, the moment at which it will be
empty; what is ahead of now is its backlog. A claim fits when its cost and the backlog together do not exceed the
depth. The same lines stand in adapters/lua/, where numbers are doubles: whole ones below 2**53 are as exact there.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from gateway.domain.limits import AccountLimits, Claim, DrillLimits, Spent, Standing

MINUTE_US = 60_000_000
HORIZON_US = 2 * MINUTE_US
"""No bucket is ever further behind than this: a minute of its own, and a minute of debt from settlements. A moment that
lies further ahead was written by another clock, and counts for nothing."""


@dataclass(frozen=True, slots=True)
class Quota:
    """One limit on one claim, which takes `units` of it; `depth_us` is how long a full bucket takes to drain."""

    name: str
    limit: int
    depth_us: int
    units: int

    @property
    def cost_us(self) -> int:
        """A claim larger than the whole bucket takes the whole bucket: it must wait for it, and not for ever."""
        return self.cost_of(min(self.units, self.limit))

    def cost_of(self, units: int) -> int:
        return -(-units * self.depth_us // self.limit)


def quotas_of(claim: Claim) -> tuple[Quota, ...]:
    """The quotas that this claim is counted against; each limit that is set makes one."""
    limits, quotas = claim.limits, []
    if limits.requests_per_minute is not None:
        interval_us = -(-MINUTE_US // limits.requests_per_minute)
        burst = limits.request_burst or limits.requests_per_minute
        most = min(burst, limits.requests_per_minute, HORIZON_US // interval_us)
        quotas.append(Quota("requests", most, most * interval_us, 1))
    if limits.input_tokens_per_minute is not None:
        quotas.append(Quota("input_tokens", limits.input_tokens_per_minute, MINUTE_US, claim.input_tokens))
    if limits.output_tokens_per_minute is not None:
        quotas.append(Quota("output_tokens", limits.output_tokens_per_minute, MINUTE_US, claim.output_tokens))
    return tuple(quotas)


def spent_costs(quotas: Sequence[Quota], spent: Spent | None) -> tuple[int, ...]:
    """What the claim cost in the end; nothing, when it is given back."""
    if spent is None:
        return (0,) * len(quotas)
    units = {"requests": 1, "input_tokens": spent.input_tokens, "output_tokens": spent.output_tokens}
    return tuple(min(quota.cost_of(units[quota.name]), HORIZON_US) for quota in quotas)


def backlog_us(empty_at: int, now: int) -> int:
    ahead = empty_at - now
    return ahead if 0 < ahead <= HORIZON_US else 0


def wait_us(backlog: int, cost: int, depth: int) -> int:
    """How long until the claim fits. What costs nothing is never in anybody's way."""
    return max(0, backlog + cost - depth) if cost else 0


@dataclass(frozen=True, slots=True)
class Reserved:
    """What a claim has taken of one bucket, and until when this is in the bucket: then it has drained."""

    cost_us: int
    until: int


def settled(empty_at: int, reserved: Reserved, cost: int, now: int) -> int:
    """The bucket's new moment, once a claim is known to have cost so much; 0: it never was.

    What has drained of a reservation cannot be given back a second time. What was used beyond it is added, and delays
    those who come next.
    """
    backlog, more = backlog_us(empty_at, now), cost - reserved.cost_us
    if more >= 0:
        return now + min(backlog + more, HORIZON_US)
    return now + max(backlog - min(-more, max(reserved.until - now, 0)), 0)


def standing(quota: Quota, backlog: int) -> Standing:
    """What is left can be taken at once."""
    room = max(quota.depth_us - backlog, 0)
    return Standing(
        name=quota.name,
        limit=quota.limit,
        remaining=room * quota.limit // quota.depth_us,
        reset_s=backlog / 1_000_000,
        window_s=quota.depth_us / 1_000_000,
    )


def share_of_account(limits: AccountLimits, share: Fraction) -> AccountLimits:
    """What one of several processes lets an account have by itself; at least one of everything that is limited."""
    return AccountLimits(
        requests_per_minute=_part(limits.requests_per_minute, share),
        request_burst=_part(limits.request_burst, share),
        input_tokens_per_minute=_part(limits.input_tokens_per_minute, share),
        output_tokens_per_minute=_part(limits.output_tokens_per_minute, share),
        turns_in_flight=_part(limits.turns_in_flight, share),
    )


def share_of_drill(limits: DrillLimits, share: Fraction) -> DrillLimits:
    return replace(limits, turns_in_flight=_part(limits.turns_in_flight, share))


def _part(limit: int | None, share: Fraction) -> int | None:
    return None if limit is None else min(limit, max(1, int(limit * share)))
