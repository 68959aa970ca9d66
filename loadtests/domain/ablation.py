"""The same class with one thing taken away that makes it hold, to see that it is that which makes it hold."""

from dataclasses import replace
from enum import StrEnum

from loadtests.domain.drill import Affinity, Drill, Wire


class Without(StrEnum):
    PRE_SCALING = "pre-scaling"
    """No replica is started before the bell."""
    AFFINITY = "affinity"
    """The client asks a replica at random each turn."""
    COMPACTION = "compaction"
    """The client keeps the whole history and sends it along; nobody folds it."""


_LATEST = 20
"""Messages that fit into any window of this product, so that nothing but affinity is missing."""


def ablated(drill: Drill, without: Without) -> Drill:
    """The drill to be played. What is missing before the bell is a matter of the stack, and no other drill."""
    match without:
        case Without.AFFINITY:
            history = _LATEST if drill.history is None else drill.history
            return replace(drill, wire=Wire.CHAT, affinity=Affinity.NONE, history=history)
        case Without.COMPACTION:
            return replace(drill, wire=Wire.CHAT, affinity=Affinity.SERVER, history=None)
        case _:
            return drill
