"""What the controller is given, and what it tells of its rounds."""

from dataclasses import dataclass

from router.domain.fleet import ReplicaId
from router.fleet.domain.demand import PoolName
from router.fleet.domain.past_starts import PastStart
from router.fleet.domain.pool_book import Round
from router.fleet.domain.pool_rules import PoolRules
from router.fleet.domain.scaling import Alert
from router.fleet.ports import Alarm, Calendar, Leadership, Ledger, Prefixes, ReplicaHost, Routers, Warmth


@dataclass(frozen=True, slots=True)
class Pool:
    """One that is looked after, and where its replicas run."""

    name: PoolName
    rules: PoolRules
    host: ReplicaHost


@dataclass(frozen=True, slots=True, kw_only=True)
class Around:
    """What the controller of all pools asks and tells."""

    leadership: Leadership
    ledger: Ledger
    calendar: Calendar
    routers: Routers
    warmth: Warmth
    prefixes: Prefixes
    alarm: Alarm


@dataclass(frozen=True, slots=True)
class Deed:
    """Something that was done, or tried, in a round."""

    what: str
    """A move of `scaling`, or "join", "order again" and the like."""
    replica: ReplicaId
    reason: str
    trouble: str = ""
    """Why it could not be done; it is tried again. Empty: it was done."""


@dataclass(frozen=True, slots=True)
class PoolReport:
    """One pool's round."""

    pool: PoolName
    leads: bool
    deeds: tuple[Deed, ...] = ()
    starts: tuple[PastStart, ...] = ()
    """Those that came to their end in this round."""
    round: Round | None = None
    """None: it was not come so far."""
    alert: Alert | None = None
    troubles: tuple[str, ...] = ()
    """What could not be read or done."""
