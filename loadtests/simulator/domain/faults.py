"""Which faults are on, whom they hit, how often, and from when to when; all times are simulated seconds."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum


class FaultKind(StrEnum):
    """What can break. The first group hits one request each, the second the whole replica."""

    REFUSE = "refuse"
    """Answer with an error status, before anything is sent."""
    STALL = "stall"
    """Fall silent after some chunks, with the connection open."""
    CUT = "cut"
    """Close the connection after some chunks, without an end."""
    ERROR = "error"
    """An error object, then [DONE], on the 200 that has begun."""
    NO_FINISH = "no_finish"
    """[DONE] without a finish reason."""
    ABORT = "abort"
    """Finish reason `abort`, then [DONE]."""
    BROKEN_UTF8 = "broken_utf8"
    """Bytes that are no UTF-8, in place of the text of one chunk."""
    WRONG_USAGE = "wrong_usage"
    """Usage that does not add up."""
    CHOPPED = "chopped"
    """The stream arrives in writes of a few bytes, cut inside events and characters."""

    FREEZE = "freeze"
    """The engine stands still; /health goes on saying 200."""
    SLOW = "slow"
    """Every step takes `factor` times as long."""
    REFUSE_CONNECTIONS = "refuse_connections"
    """The port is closed; open connections live on."""
    FLAP = "flap"
    """The port closes and opens again, `period_s` each."""
    PARTITION = "partition"
    """Connections are taken and bytes swallowed, nothing comes back; the engine goes on."""
    UNHEALTHY = "unhealthy"
    """/health and /ping answer with an error status."""
    ENGINE_DEATH = "engine_death"
    """The engine process dies: every stream gets the error object, then the server ends."""
    KILL = "kill"
    """The whole process is gone at once."""
    TERMINATE = "terminate"
    """SIGTERM, as a supervisor sends it."""


ONCE = frozenset({FaultKind.ENGINE_DEATH, FaultKind.KILL, FaultKind.TERMINATE})
OF_REPLICA = ONCE | {
    FaultKind.FREEZE,
    FaultKind.SLOW,
    FaultKind.REFUSE_CONNECTIONS,
    FaultKind.FLAP,
    FaultKind.PARTITION,
    FaultKind.UNHEALTHY,
}


@dataclass(frozen=True, slots=True)
class Asked:
    """What a request is known by: ids of its own and of its session, and its last message."""

    request: str
    session: str
    salt: str
    last: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """`from_s` counts from when the replica is ready; `for_s` None means until it is cleared."""

    kind: FaultKind
    id: str = ""
    session: str = ""
    """Only requests whose session id or cache salt is this."""
    last: str = ""
    """Only requests whose last message holds this."""
    after_chunks: int = 0
    """The stream breaks after so many chunks of text."""
    after_requests: int = 0
    """So many requests are spared first."""
    times: int | None = None
    """How many requests are hit; None: all."""
    from_s: float = 0.0
    for_s: float | None = None
    status: int = 503
    factor: float = 1.0
    period_s: float = 1.0
    bytes_per_write: int = 1

    def is_on(self, now_s: float) -> bool:
        return self.from_s <= now_s and (self.for_s is None or now_s < self.from_s + self.for_s)

    def fits(self, asked: Asked) -> bool:
        return self.session in ("", asked.session, asked.salt) and self.last in asked.last

    def closes_port(self, now_s: float) -> bool:
        if not self.is_on(now_s):
            return False
        if self.kind is FaultKind.FLAP:
            return int((now_s - self.from_s) / self.period_s) % 2 == 0
        return self.kind is FaultKind.REFUSE_CONNECTIONS


@dataclass(frozen=True, slots=True)
class Condition:
    """What all faults together do to the replica at one moment."""

    frozen: bool = False
    slowness: float = 1.0
    port_closed: bool = False
    partitioned: bool = False
    health_status: int = 200


class Faults:
    """The faults that are known; those of requests are used up, those of the replica come and go with time."""

    def __init__(self, faults: Iterable[Fault] = ()) -> None:
        self._faults: dict[str, Fault] = {}
        self._numbered = 0
        for fault in faults:
            self.add(fault)

    @property
    def all(self) -> tuple[Fault, ...]:
        return tuple(self._faults.values())

    def add(self, fault: Fault) -> Fault:
        """Known under its own id, or under a new one; one with the same id is replaced."""
        self._numbered += 1
        named = replace(fault, id=fault.id or f"fault-{self._numbered}")
        self._faults[named.id] = named
        return named

    def clear(self, fault_id: str | None = None) -> None:
        """Forget one, or all."""
        if fault_id is None:
            self._faults.clear()
        else:
            self._faults.pop(fault_id, None)

    def for_request(self, asked: Asked, *, now_s: float) -> tuple[Fault, ...]:
        """The faults that hit this request, counted against how many they may hit."""
        hits = []
        for fault in self.all:
            if fault.kind in OF_REPLICA or not fault.is_on(now_s) or not fault.fits(asked):
                continue
            if fault.after_requests > 0:
                self._faults[fault.id] = replace(fault, after_requests=fault.after_requests - 1)
            elif fault.times != 0:
                times = None if fault.times is None else fault.times - 1
                self._faults[fault.id] = replace(fault, times=times)
                hits.append(fault)
        return tuple(hits)

    def take_due(self, *, now_s: float) -> tuple[Fault, ...]:
        """The faults of the kind that happens once and whose time has come; they are forgotten by this."""
        due = tuple(fault for fault in self.all if fault.kind in ONCE and fault.from_s <= now_s)
        for fault in due:
            self.clear(fault.id)
        return due

    def condition(self, *, now_s: float) -> Condition:
        on = [fault for fault in self.all if fault.is_on(now_s)]
        kinds = {fault.kind for fault in on}
        slowness = 1.0
        for fault in on:
            if fault.kind is FaultKind.SLOW:
                slowness *= fault.factor
        return Condition(
            frozen=FaultKind.FREEZE in kinds,
            slowness=slowness,
            port_closed=any(fault.closes_port(now_s) for fault in on),
            partitioned=FaultKind.PARTITION in kinds,
            health_status=next((fault.status for fault in on if fault.kind is FaultKind.UNHEALTHY), 200),
        )

    def next_change_s(self, *, now_s: float) -> float | None:
        """When the condition may change next by itself."""
        moments = [moment for fault in self.all for moment in _moments(fault, now_s) if moment > now_s]
        return min(moments, default=None)


def _moments(fault: Fault, now_s: float) -> list[float]:
    if fault.kind not in OF_REPLICA:
        return []
    moments = [fault.from_s]
    if fault.for_s is not None:
        moments.append(fault.from_s + fault.for_s)
    if fault.kind is FaultKind.FLAP and fault.is_on(now_s):
        moments.append(fault.from_s + (int((now_s - fault.from_s) / fault.period_s) + 1) * fault.period_s)
    return moments
