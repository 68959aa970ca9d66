"""What is to break during a drill, and when: read from words such as `kill@60:replica-1`."""

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from typing_extensions import override

_LASTS_S = 10.0
_WRITTEN = re.compile(r"(?P<kind>[a-z-]+)@(?P<at>[^:+]+)(\+(?P<lasts>[^:]+))?(:(?P<target>.+))?")


class FaultKind(StrEnum):
    KILL = "kill"
    """A replica's process is gone at once; whoever looks after it starts it again."""
    FREEZE = "freeze"
    """A replica's process stands still, and goes on later."""
    SIGTERM = "sigterm"
    """A replica is told to end, as by its supervisor, without having been drained."""
    PARTITION = "partition"
    """A simulated replica takes connections and bytes, and nothing comes back."""
    SLOW = "slow"
    """Every step of a simulated replica takes four times as long."""
    DRAIN = "drain"
    """An operator has a replica emptied; its sessions move. It is taken back when the time is over."""
    REDIS_RESTART = "redis-restart"
    REDIS_FLUSH = "redis-flush"
    """Redis forgets everything."""
    POSTGRES_RESTART = "postgres-restart"
    GATEWAY_KILL = "gateway-kill"
    LATE_BOOKING = "late-booking"
    """A class of so many enters the calendar only now, so that its replicas are started only now."""


OF_A_REPLICA = frozenset(
    {FaultKind.KILL, FaultKind.FREEZE, FaultKind.SIGTERM, FaultKind.PARTITION, FaultKind.SLOW, FaultKind.DRAIN}
)
LASTING = frozenset({FaultKind.FREEZE, FaultKind.PARTITION, FaultKind.SLOW, FaultKind.DRAIN})
BY_SIMULATOR = frozenset({FaultKind.PARTITION, FaultKind.SLOW})
_PROCESSES = {
    FaultKind.REDIS_RESTART: "redis",
    FaultKind.REDIS_FLUSH: "redis",
    FaultKind.POSTGRES_RESTART: "postgres",
    FaultKind.GATEWAY_KILL: "gateway",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """`at_s` and `lasts_s` in drill seconds, the first since the bell. `target` is a replica's id, or a process.

    Of a late booking it is the number of trainees.
    """

    kind: FaultKind
    at_s: float
    target: str
    lasts_s: float = 0.0

    @override
    def __str__(self) -> str:
        lasts = f"+{self.lasts_s:g}" if self.lasts_s else ""
        target = "" if self.kind in _PROCESSES else f":{self.target}"
        return f"{self.kind}@{self.at_s:g}{lasts}{target}"


class UnknownFault(ValueError):
    """Words that name no fault; says why."""


def fault_of(words: str) -> Fault:
    """`KIND@SECONDS[+LASTING][:REPLICA]`; raises `UnknownFault`."""
    found = _WRITTEN.fullmatch(words)
    if found is None:
        raise UnknownFault(f"{words}: a fault is written KIND@SECONDS[+LASTING][:REPLICA], as kill@60:replica-1")
    kind = _kind(words, found["kind"])
    lasts = found["lasts"]
    if lasts is not None and kind not in LASTING:
        raise UnknownFault(f"{words}: {kind} happens at once, so nothing can be said of how long it lasts")
    return Fault(
        kind=kind,
        at_s=_seconds(words, found["at"]),
        lasts_s=(_LASTS_S if lasts is None else _seconds(words, lasts)) if kind in LASTING else 0.0,
        target=_target(words, kind, found["target"]),
    )


def faults_of(words: Iterable[str]) -> tuple[Fault, ...]:
    """In the order of time."""
    return tuple(sorted(map(fault_of, words), key=lambda fault: fault.at_s))


def _kind(words: str, name: str) -> FaultKind:
    try:
        return FaultKind(name)
    except ValueError:
        raise UnknownFault(f"{words}: unknown kind {name}; there are {', '.join(FaultKind)}") from None


def _seconds(words: str, written: str) -> float:
    try:
        seconds = float(written)
    except ValueError:
        seconds = math.nan
    if not (math.isfinite(seconds) and seconds >= 0):
        raise UnknownFault(f"{words}: {written} is no number of seconds")
    return seconds


def _target(words: str, kind: FaultKind, named: str | None) -> str:
    if kind in OF_A_REPLICA:
        return named or "replica-1"
    if kind is FaultKind.LATE_BOOKING:
        if not (named and named.isascii() and named.isdigit() and int(named)):
            raise UnknownFault(f"{words}: say for how many trainees, as late-booking@0:30")
        return named
    if named is not None:
        raise UnknownFault(f"{words}: {kind} concerns no replica, so none may be named")
    return _PROCESSES[kind]
