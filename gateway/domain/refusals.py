"""What a verdict on a claim means to whoever asked."""

from collections.abc import Sequence

from gateway.domain.leases import retry_after_us
from gateway.domain.limit_book import Limit, Verdict
from gateway.domain.limits import Standing
from gateway.domain.quotas import Quota, standing
from gateway.errors import AccountLimitReached, DrillAtWatermark, DrillFull, LimitsUnavailable, TenantFull
from sessions.errors import SessionBusy

_SEAT_RETRY_S = 30.0
"""A seat is free again when a session ends, which takes minutes; somebody may leave early."""


def check(verdict: Verdict, quotas: Sequence[Quota]) -> tuple[Standing, ...]:
    """What is left of each quota; raises the refusal, if it is one."""
    standings = tuple(standing(quota, backlog) for quota, backlog in zip(quotas, verdict.backlogs, strict=True))
    if verdict.refused_by is not None:
        raise _refusal(verdict.refused_by, verdict.wait_us, standings)
    return standings


def _refusal(limit: Limit, wait_us: int, standings: tuple[Standing, ...]) -> Exception:
    soon_s = retry_after_us(wait_us) / 1_000_000
    match limit:
        case Limit.SESSION:
            return SessionBusy(retry_after_s=soon_s)
        case Limit.TURNS_IN_FLIGHT:
            return AccountLimitReached(limit.value, retry_after_s=soon_s, standing=standings)
        case Limit.WATERMARK:
            return DrillAtWatermark(retry_after_s=soon_s)
        case Limit.TENANT:
            return TenantFull(retry_after_s=_SEAT_RETRY_S)
        case Limit.SEATS:
            return DrillFull(retry_after_s=_SEAT_RETRY_S)
        case Limit.OVER:
            return LimitsUnavailable("the claim was given back before it came")
        case _:
            return AccountLimitReached(limit.value, retry_after_s=wait_us / 1_000_000, standing=standings)
