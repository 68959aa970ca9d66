"""The same class with one thing taken away that makes it hold, to see that it is that which makes it hold."""

from collections.abc import Sequence
from dataclasses import replace
from enum import StrEnum

from loadtests.domain.drill import Affinity, Drill, Wire
from loadtests.domain.rows import Kind, Row


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


def not_needed(without: Without, drill: Drill, rows: Sequence[Row]) -> str | None:
    """Why this class says nothing of what was taken away: it would not have used it. None: it may have."""
    if without is not Without.COMPACTION or any(row.failure for row in rows):
        return None
    longest = max((row.prompt_tokens for row in rows if row.kind is Kind.TURN), default=0)
    return (
        f"no history outgrew the window: the longest prompt had {longest:,} of {drill.window_tokens:,} tokens; take "
        "more --turns, longer replies (--fleet sim:9::220) or a smaller --window"
    )
