"""What an account, a drill and a tenant may take at once and over time.

None means that there is no such limit. The arithmetic stands in `quotas.py`; this module names what it is about.
"""

from dataclasses import dataclass
from uuid import UUID


@dataclass(frozen=True, slots=True)
class AccountLimits:
    """Of one account, over all its sessions. A burst is how much of a minute's share may come at once."""

    requests_per_minute: int | None = None
    request_burst: int | None = None
    input_tokens_per_minute: int | None = None
    output_tokens_per_minute: int | None = None
    turns_in_flight: int | None = None


@dataclass(frozen=True, slots=True)
class DrillLimits:
    """Of one drill. Its seats hold until their sessions end; walk-ins come beyond the seats, and their turns are let in
    only below the watermark of turns in flight. The turns of seated sessions count there and are never refused.
    """

    seats: int | None = None
    walk_ins: int = 0
    turns_in_flight: int | None = None


@dataclass(frozen=True, slots=True)
class TenantLimits:
    sessions: int | None = None
    """Open sessions at once, in drills or on their own."""


@dataclass(frozen=True, slots=True)
class Claim:
    """One piece of work: a turn of a session, or a request of another kind."""

    tenant: UUID
    account: UUID
    limits: AccountLimits
    input_tokens: int = 0
    output_tokens: int = 0
    """Both as estimated; what was really used is settled afterwards."""
    session: UUID | None = None
    """The session whose turn lease is taken with the rest; None: the work is no session's turn."""
    drill: UUID | None = None
    drill_limits: DrillLimits = DrillLimits()


@dataclass(frozen=True, slots=True)
class SeatClaim:
    tenant: UUID
    session: UUID
    limits: TenantLimits
    drill: UUID | None = None
    drill_limits: DrillLimits = DrillLimits()


@dataclass(frozen=True, slots=True)
class Spent:
    input_tokens: int
    output_tokens: int


@dataclass(frozen=True, slots=True)
class Standing:
    """One quota as it stands: of `limit` per `window_s` seconds so much is left, and all of it again in `reset_s`."""

    name: str
    limit: int
    remaining: int
    reset_s: float
    window_s: float
