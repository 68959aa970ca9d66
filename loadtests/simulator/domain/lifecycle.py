"""The life of a replica, from a closed port to the end of its process."""

from collections.abc import Mapping
from enum import StrEnum


class Phase(StrEnum):
    """`DRAINING` and `ASLEEP` look healthy from outside, as they do on vLLM."""

    IMPORTING = "importing"
    LOADING_WEIGHTS = "loading_weights"
    PROFILING_MEMORY = "profiling_memory"
    WARMING_UP = "warming_up"
    READY = "ready"
    PAUSED = "paused"
    ASLEEP = "asleep"
    DRAINING = "draining"
    DEAD = "dead"

    @property
    def is_up(self) -> bool:
        """Past loading, and not over."""
        return self not in (*LOADING, Phase.DEAD)


class Event(StrEnum):
    NEXT = "next"
    PAUSE = "pause"
    RESUME = "resume"
    SLEEP = "sleep"
    WAKE = "wake"
    TERMINATE = "terminate"
    DIE = "die"


class IllegalTransition(Exception):
    """There is no such way from one phase to another."""

    def __init__(self, phase: Phase, event: Event) -> None:
        super().__init__(f"{event} while {phase}")
        self.phase = phase
        self.event = event


TRANSITIONS: Mapping[tuple[Phase, Event], Phase] = {
    (Phase.IMPORTING, Event.NEXT): Phase.LOADING_WEIGHTS,
    (Phase.LOADING_WEIGHTS, Event.NEXT): Phase.PROFILING_MEMORY,
    (Phase.PROFILING_MEMORY, Event.NEXT): Phase.WARMING_UP,
    (Phase.WARMING_UP, Event.NEXT): Phase.READY,
    (Phase.READY, Event.PAUSE): Phase.PAUSED,
    (Phase.READY, Event.RESUME): Phase.READY,
    (Phase.READY, Event.WAKE): Phase.READY,
    (Phase.PAUSED, Event.PAUSE): Phase.PAUSED,
    (Phase.PAUSED, Event.RESUME): Phase.READY,
    (Phase.PAUSED, Event.SLEEP): Phase.ASLEEP,
    (Phase.READY, Event.SLEEP): Phase.ASLEEP,
    (Phase.ASLEEP, Event.SLEEP): Phase.ASLEEP,
    (Phase.ASLEEP, Event.WAKE): Phase.READY,
    (Phase.ASLEEP, Event.RESUME): Phase.READY,
    (Phase.READY, Event.TERMINATE): Phase.DRAINING,
    (Phase.PAUSED, Event.TERMINATE): Phase.DRAINING,
    (Phase.ASLEEP, Event.TERMINATE): Phase.DRAINING,
    (Phase.READY, Event.DIE): Phase.DEAD,
    (Phase.PAUSED, Event.DIE): Phase.DEAD,
    (Phase.ASLEEP, Event.DIE): Phase.DEAD,
    (Phase.DRAINING, Event.DIE): Phase.DEAD,
}

# What share of the time to load each phase takes: on vLLM for CPU most of it is Python importing itself.
LOADING: Mapping[Phase, float] = {
    Phase.IMPORTING: 0.5,
    Phase.LOADING_WEIGHTS: 0.25,
    Phase.PROFILING_MEMORY: 0.15,
    Phase.WARMING_UP: 0.1,
}


def after(phase: Phase, event: Event) -> Phase:
    try:
        return TRANSITIONS[phase, event]
    except KeyError:
        raise IllegalTransition(phase, event) from None
