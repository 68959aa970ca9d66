"""What was seen of the servers while a drill ran, and what was done to them; joined with the rows by time."""

from dataclasses import dataclass
from enum import StrEnum


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplicaSample:
    """A look at one replica. Counters count since its start; None: it did not say."""

    at_s: float
    replica: str
    up: bool
    kv_usage: float | None = None
    """Share of its KV blocks that are held, 0 to 1."""
    running: int | None = None
    waiting: int | None = None
    preemptions: int | None = None
    prefix_queried: int | None = None
    prefix_hit: int | None = None
    prompt_tokens: int | None = None
    generation_tokens: int | None = None
    sessions: int | None = None
    """Sessions pinned to it, as the router counts them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessSample:
    """A look at a process of ours on this machine."""

    at_s: float
    name: str
    cpu_s: float
    memory_mb: float


class EventKind(StrEnum):
    BELL = "bell"
    STEP = "step"
    """A staircase goes up; `note` is the number of trainees."""
    FAULT = "fault"
    MENDED = "mended"
    """A fault is over: what was broken answers again."""
    DEED = "deed"
    """Something was done that breaks nothing; `note` says what."""
    END = "end"


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    at_s: float
    kind: EventKind
    target: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class LagSample:
    """How late this worker's own event loop was woken, in real seconds."""

    at_s: float
    worker: int
    lag_s: float
