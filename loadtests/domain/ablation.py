"""The same class with one thing taken away that makes it hold, to see that it is that which makes it hold."""

from dataclasses import replace
from enum import StrEnum

from loadtests.domain.drill import Affinity, Drill, Wire


class Without(StrEnum):
    PRE_SCALING = "pre-scaling"
    """The class enters the calendar at its bell, and no replica is started before."""
    AFFINITY = "affinity"
    """The client asks a replica at random each turn."""
    COMPACTION = "compaction"
    """The client keeps the whole history and sends it along; nobody folds it."""


_LATEST = 20
"""Messages that fit into any window of this product, so that nothing but affinity is missing."""


def ablated(drill: Drill, without: Without) -> Drill:
    """The drill to be played; without pre-scaling on a stack whose replicas come by the calendar."""
    match without:
        case Without.AFFINITY:
            history = _LATEST if drill.history is None else drill.history
            return replace(drill, wire=Wire.CHAT, affinity=Affinity.NONE, history=history)
        case Without.COMPACTION:
            return replace(drill, wire=Wire.CHAT, affinity=Affinity.SERVER, history=None)
        case _:
            return replace(drill, faults=(*drill.faults, f"late-booking@0:{drill.trainees}"))
