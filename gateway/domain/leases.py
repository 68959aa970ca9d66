"""Places that are held for a while: a set of holders, each with the moment until which its place is its own.

A holder that lives renews its place; one that died loses it by itself. A place that is lost is never revived, since it
may be somebody else's by now.
"""

from collections.abc import Mapping

Leases = dict[str, int]

_LEAST_RETRY_US = 1_000_000
_MOST_RETRY_US = 2_000_000


def lives(until: int | None, now: int, lease_us: int) -> bool:
    """A lease that ends later than any could by this clock was written by another one. It does not count until its
    holder has renewed it, so that a clock that jumps back locks nobody out."""
    return until is not None and now < until <= now + 2 * lease_us


def held(leases: Mapping[str, int], now: int, lease_us: int) -> int:
    return sum(lives(until, now, lease_us) for until in leases.values())


def next_end(leases: Mapping[str, int], now: int, lease_us: int) -> int:
    """How long until the first place is free at the latest; 0: there is none to wait for."""
    return min((until - now for until in leases.values() if lives(until, now, lease_us)), default=0)


def take(leases: Leases, holder: str, now: int, lease_us: int) -> None:
    """Put the holder in, or renew it; those whose time is over go."""
    for name in [name for name, until in leases.items() if until <= now]:
        del leases[name]
    leases[holder] = now + lease_us


def renew(leases: Leases, holder: str, now: int, lease_us: int) -> bool:
    """Whether it still was the holder's."""
    if leases.get(holder, 0) <= now:
        return False
    leases[holder] = now + lease_us
    return True


def retry_after_us(left: int) -> int:
    """When to ask again. What is left bounds the wait for a dead holder; a living one gives back as soon as it can."""
    return min(max(left, _LEAST_RETRY_US), _MOST_RETRY_US)
